//! `krm cfg tree`: resources by folder or by owner, with the fields that one asks for.

use clap::ValueEnum;
use krm_core::PackageResource;
use krm_core::print::Record;
use krm_core::print::tree::{self, TreeFields};
use krm_core::query::Selector;
use krm_yaml::Value;

use super::{Format, Local, finish};
use crate::cli::Global;
use crate::console::Console;
use crate::loader::{self, LoadedPackage, Origin};
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg tree shop
  krm cfg tree shop --image --replicas
  krm cfg tree shop --field metadata.labels.app
  kubectl get all -o yaml | krm cfg tree - --graph-structure=owners";

/// Show resources as a tree.
///
/// By folder, or by owner where a resource names one. Resources that are for tools only are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder or file; - for standard input
    #[arg(default_value = ".")]
    dir: String,

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    local: Local,

    /// What the tree is made of [default: owners where there are any, or else directory]
    #[arg(long, value_name = "STRUCTURE")]
    graph_structure: Option<Structure>,

    /// List the resources with their places in this format
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Format>,
}

/// Fields to show; containers are numbered by their place in the list.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Fields to show")]
struct Shown {
    /// Names of containers
    #[arg(long)]
    name: bool,

    /// Images of containers
    #[arg(long)]
    image: bool,

    /// Commands of containers
    #[arg(long)]
    command: bool,

    /// Arguments of containers
    #[arg(long)]
    args: bool,

    /// Ports of services and containers
    #[arg(long)]
    ports: bool,

    /// Environment of containers
    #[arg(long)]
    env: bool,

    /// Resources that containers ask for
    #[arg(long)]
    resources: bool,

    /// Numbers of replicas
    #[arg(long)]
    replicas: bool,

    /// All of these
    #[arg(long)]
    all: bool,

    /// Any other field; may be repeated
    #[arg(long, value_name = "PATH")]
    field: Vec<Selector>,
}

impl Shown {
    fn fields(&self) -> TreeFields {
        let container_fields = [
            ("name", self.name),
            ("image", self.image),
            ("command", self.command),
            ("args", self.args),
            ("ports", self.ports),
            ("env", self.env),
            ("resources", self.resources),
        ];
        let wanted = container_fields.into_iter().filter(|(_, is_wanted)| *is_wanted || self.all);
        TreeFields {
            replicas: self.replicas || self.all,
            ports: self.ports || self.all,
            container_fields: wanted.map(|(name, _)| name).collect(),
            paths: self.field.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Structure {
    /// Resources below what owns them
    Owners,
    /// Resources in their folders
    Directory,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let loaded = loader::load(&args.dir, global.jobs).map_err(Failure::input)?;
    let kept = loaded.package.resources().filter(|placed| args.local.keeps(placed.resource));
    let resources: Vec<PackageResource<'_>> = kept.collect();
    match args.output {
        Some(format) => {
            let records: Vec<Record<'_>> = resources.iter().map(|it| record(it, &loaded)).collect();
            console.print(&format.write(&records))?;
        }
        None => draw(args, &loaded, &resources, console)?,
    }
    console.flush()?;
    for path in &args.shown.field {
        let nodes = resources.iter().map(|placed| placed.resource.node);
        console.report_all(path.near_miss(nodes).as_slice());
    }
    finish(&loaded, Exit::Success, global, console)
}

fn draw(
    args: &Args,
    loaded: &LoadedPackage,
    resources: &[PackageResource<'_>],
    console: &mut Console,
) -> Result<(), Failure> {
    let fields = args.shown.fields();
    let by_owner = match args.graph_structure {
        Some(structure) => structure == Structure::Owners,
        None => tree::has_owners(resources),
    };
    if !by_owner {
        let tree = tree::by_directory(
            &loaded.package,
            resources,
            &loaded.title,
            loaded.origin == Origin::Stdin,
            &fields,
        );
        return console.print(&tree.render());
    }
    let owned = tree::by_owner(resources, &loaded.title, &fields);
    console.print(&owned.tree.render())?;
    console.flush()?;
    console.report_all(&owned.missing_owners);
    Ok(())
}

/// A resource with its place.
fn record<'a>(placed: &PackageResource<'a>, loaded: &LoadedPackage) -> Record<'a> {
    let (file, resource) = (placed.file, placed.resource);
    let package = loaded.package_name(loaded.package.root_of(&file.path));
    let mut record = vec![
        ("file", Value::string(&*file.display_path)),
        ("document", number(resource.document().index())),
        ("line", Value::int(resource.position().line.into())),
    ];
    record.extend(package.map(|package| ("package", Value::string(package))));
    record.extend([
        ("apiVersion", Value::string(resource.api_version())),
        ("kind", Value::string(resource.kind())),
        ("namespace", Value::string(resource.namespace())),
        ("name", Value::string(resource.name())),
    ]);
    record.extend(resource.item.map(|item| ("item", number(item))));
    if file.is_external_symlink {
        record.push(("outside", Value::from(true)));
    }
    record
}

fn number(count: usize) -> Value<'static> {
    Value::int(i64::try_from(count).unwrap_or(i64::MAX))
}
