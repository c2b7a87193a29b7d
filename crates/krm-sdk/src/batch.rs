//! A function on several files: their resources in one list, and each back in the file that it belongs to.

use std::collections::BTreeMap;

use krm_core::{PackagePath, Severity};

use crate::stream::Stream;
use crate::{Error, Function, FunctionResult, Resource, ResourceList, outcome};

/// What came of it.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The files that changed with their new texts; none where a file goes away.
    pub(crate) files: Vec<(String, Option<String>)>,
    pub(crate) results: Vec<FunctionResult>,
    pub(crate) told: Vec<String>,
    pub(crate) failed: bool,
}

struct Part {
    path: PackagePath,
    stream: Stream,
    /// The first of its resources in the list of all.
    first: usize,
    count: usize,
}

/// Runs a function on files, each given by its path and its text. Of a function that fails nothing is taken.
pub(crate) fn process(
    function: &Function,
    config: Option<Resource>,
    files: Vec<(String, String)>,
) -> Result<Batch, Error> {
    let mut list = ResourceList { function_config: config, ..ResourceList::default() };
    let mut parts = Vec::with_capacity(files.len());
    for (name, text) in files {
        let path = PackagePath::new(&name).map_err(|error| Error::new(error.to_string()))?;
        let (stream, read) = Stream::read(text).map_err(|error| error.in_file(&name))?;
        let first = list.items.len();
        parts.push(Part { path: path.clone(), stream, first, count: read.items.len() });
        list.items.extend(read.items.into_iter().enumerate().map(|(at, resource)| {
            let mut item: krm_core::functions::resource_list::Item = resource.into();
            (item.path, item.index, item.origin) = (Some(path.clone()), Some(at), Some(first + at));
            item.into()
        }));
    }
    let failed = function.apply(&mut list).err();
    let mut results = std::mem::take(&mut list.results);
    results.extend(failed.iter().flat_map(|error| outcome::told(error, &list)));
    let files = if failed.is_some() { Vec::new() } else { written(&parts, &list)? };
    let told = list.log.into_iter().chain(results.iter().map(outcome::line)).collect();
    let failed = results.iter().any(|result| result.severity == Severity::Error);
    Ok(Batch { files, results, told, failed })
}

fn written(parts: &[Part], list: &ResourceList) -> Result<Vec<(String, Option<String>)>, Error> {
    let mut by_file: BTreeMap<PackagePath, Vec<Resource>> = BTreeMap::new();
    for resource in &list.items {
        let path = resource.path().cloned().unwrap_or_else(|| new_path(resource));
        by_file.entry(path).or_default().push(resource.clone());
    }
    let mut files = Vec::new();
    for part in parts {
        let items = by_file.remove(&part.path).unwrap_or_default();
        let is_empty = items.is_empty() && part.count > 0;
        let items = items.into_iter().map(|resource| part.own(resource)).collect();
        let text = part.stream.write(&ResourceList { items, ..ResourceList::default() })?;
        if is_empty && !has_content(&text) {
            files.push((part.path.as_str().to_owned(), None));
        } else if text != part.stream.text() {
            files.push((part.path.as_str().to_owned(), Some(text)));
        }
    }
    for (path, items) in by_file {
        let (stream, _) = Stream::read(String::new())?;
        let items = items.into_iter().map(|resource| placeless(resource, None)).collect();
        let text = stream.write(&ResourceList { items, ..ResourceList::default() })?;
        files.push((path.as_str().to_owned(), Some(text)));
    }
    Ok(files)
}

fn has_content(text: &str) -> bool {
    text.lines().any(|line| !line.trim().is_empty() && line.trim() != "---")
}

impl Part {
    /// A resource as the file's own stream knows it.
    fn own(&self, resource: Resource) -> Resource {
        let origin = resource.item().origin.and_then(|origin| origin.checked_sub(self.first));
        let origin = origin.filter(|origin| *origin < self.count);
        placeless(resource, origin)
    }
}

/// Files need no annotations to say where they are.
fn placeless(resource: Resource, origin: Option<usize>) -> Resource {
    let mut item: krm_core::functions::resource_list::Item = resource.into();
    (item.path, item.index, item.origin) = (None, None, origin);
    item.into()
}

fn new_path(resource: &Resource) -> PackagePath {
    let mut new = resource.clone();
    new.default_path();
    let fallback = || PackagePath::new("config/resource.yaml").expect("it is a path");
    new.path().cloned().unwrap_or_else(fallback)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(run: fn(&mut ResourceList) -> Result<(), Error>) -> Vec<(String, Option<String>)> {
        let texts = [
            (
                "a.yaml",
                "# a\napiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: B\nmetadata: {name: b}\n",
            ),
            (
                "b/c.yaml",
                "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind:  C\n  metadata: {name: c}\n",
            ),
        ];
        let texts = texts.map(|(path, text)| (path.to_owned(), text.to_owned())).to_vec();
        process(&Function::new("it", run), None, texts).unwrap().files
    }

    #[test]
    fn each_resource_goes_back_to_its_file() {
        let out = files(|list| {
            list.items[2].set("x", 1)?;
            list.items.push(Resource::parse("apiVersion: v1\nkind: New\nmetadata: {name: n}\n")?);
            Ok(())
        });
        let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind:  C\n  metadata: {name: c}\n  x: 1\n";
        let new = "apiVersion: v1\nkind: New\nmetadata: {name: n}\n";
        let expected = [("b/c.yaml", text), ("config/n_new.yaml", new)];
        let expected = expected.map(|(path, text)| (path.to_owned(), Some(text.to_owned())));
        assert_eq!(out, expected);
    }

    #[test]
    fn resources_move_and_files_go() {
        let out = files(|list| {
            list.items[0].move_to(PackagePath::new("new.yaml").expect("it is a path"));
            list.items.remove(1);
            Ok(())
        });
        let expected = [
            ("a.yaml", None),
            ("new.yaml", Some("# a\napiVersion: v1\nkind: A\nmetadata: {name: a}\n")),
        ];
        let expected = expected.map(|(path, text)| (path.to_owned(), text.map(str::to_owned)));
        assert_eq!(out, expected);
    }

    #[test]
    fn of_a_function_that_fails_nothing_is_taken() {
        let out = files(|list| {
            list.items.clear();
            Err(Error::new("no"))
        });
        assert_eq!(out, []);
    }
}
