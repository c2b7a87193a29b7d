//! Moving functions from the annotations of their functionConfigs to the pipeline.

use krm_core::PackagePath;
use krm_sdk::{Error, Resource, ResourceList, Severity};
use krm_yaml::{EmptyParents, File, NodeRef, Path, Value};

use super::{Conventions, of_file};
use crate::generated::strings;
use crate::{lookup, results};

/// The annotations that make a resource a functionConfig.
const ANNOTATIONS: [&str; 2] = ["config.kubernetes.io/function", "config.k8s.io/function"];

/// Adds the functions of a package to its pipeline, and moves each functionConfig to a file of its own beside the Kptfile.
pub(super) fn move_functions(
    list: &mut ResourceList,
    kptfile: usize,
    members: &[usize],
    conventions: Conventions,
) -> Result<(), Error> {
    let mut functions = Vec::new();
    for at in members.iter().copied() {
        let Some(function) = ANNOTATIONS.iter().find_map(|it| list.items[at].annotation(it)) else {
            continue;
        };
        let Some(image) = image(&function) else {
            let message = "only functions with a container image are added to the pipeline";
            list.results.push(list.items[at].result(Severity::Warning, message).into());
            continue;
        };
        let message = format!(
            "Added {} to mutators list, please move it to validators section if it is a validator function",
            results::quoted(&image)
        );
        list.results.push(of_file(list.items[kptfile].path(), &message));
        let path = config_path(&list.items, kptfile, at, conventions)?;
        functions.push(strings([("image", image), ("configPath", path.name().to_owned())]));
        let config = &mut list.items[at];
        config.edit(|edit, root| {
            let metadata = lookup::child(root, "metadata");
            let annotations = metadata.and_then(|it| lookup::child(it, "annotations"));
            let annotations = annotations.and_then(NodeRef::as_mapping);
            let entries = ANNOTATIONS.iter().filter_map(|name| annotations?.entry(name));
            entries.into_iter().try_for_each(|it| edit.remove(it.key, EmptyParents::Remove))
        })?;
        if config.path() != Some(&path) {
            config.move_to(path);
        }
    }
    append(&mut list.items[kptfile], functions)
}

/// The image in the annotation.
fn image(annotation: &str) -> Option<String> {
    let file = File::parse(annotation.to_owned()).ok()?;
    let container = lookup::child(file.document(0)?.root()?, "container")?;
    lookup::text(container, "image").filter(|image| !image.is_empty()).map(|it| it.into_owned())
}

/// A path beside the Kptfile that no other resource has: the pipeline reads the whole file as the functionConfig.
fn config_path(
    items: &[Resource],
    kptfile: usize,
    config: usize,
    conventions: Conventions,
) -> Result<PackagePath, Error> {
    let directory = items[kptfile].path().map_or("", PackagePath::directory);
    let is_taken = |path: &PackagePath| {
        let mut others = items.iter().enumerate().filter(|(at, _)| *at != config);
        others.any(|(_, other)| other.path() == Some(path))
    };
    let own = items[config].path().filter(|own| !conventions.renames_files && !is_taken(own));
    let own = own.map(|path| path.name().to_owned());
    let name = items[config].name();
    let name = if name.is_empty() { "function" } else { &*name };
    let numbered = (1..).map(|number| match number {
        1 => format!("{name}.yaml"),
        number => format!("{name}-{number}.yaml"),
    });
    for file in own.into_iter().chain(numbered) {
        let path = PackagePath::new(&file).map_err(|error| Error::new(error.to_string()))?;
        let path = path.in_directory(directory);
        if !is_taken(&path) {
            return Ok(path);
        }
    }
    unreachable!("the numbers do not end before the resources")
}

fn append(kptfile: &mut Resource, functions: Vec<Value<'static>>) -> Result<(), Error> {
    if functions.is_empty() {
        return Ok(());
    }
    let path = Path::default().join("pipeline").join("mutators");
    let list = kptfile.root().document().find(&path);
    if list.is_none_or(|list| list.as_sequence().is_none()) {
        return kptfile.set_in(path.segments(), Value::Sequence(functions));
    }
    kptfile.edit(|edit, root| {
        let Some(list) = root.document().find(&path) else { return Ok(()) };
        functions.into_iter().try_for_each(|function| edit.append(list, function))
    })
}
