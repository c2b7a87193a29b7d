//! `krm cfg tree`: prints resources as a tree, by directory or by owner.

use clap::ValueEnum;
use krm_core::PackageResource;
use krm_core::print::Record;
use krm_core::print::tree::{self, TreeFields};
use krm_core::query::Selector;
use krm_yaml::Value;

use super::{LocalConfig, PackageInput, report_load_errors};
use crate::cli::Global;
use crate::commands::list_output::ListFormat;
use crate::console::Console;
use crate::loader::{LoadedPackage, Origin};
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg tree shop
  krm cfg tree shop --image --replicas
  krm cfg tree shop --field metadata.labels.app
  kubectl get all -o yaml | krm cfg tree - --graph-structure=owners";

/// Print resources as a tree.
///
/// The tree follows directories, or owner references if there are any. Local configuration is left out (see --include-local).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: PackageInput,

    #[command(flatten)]
    fields: FieldOptions,

    #[command(flatten)]
    local: LocalConfig,

    /// Structure of the tree [default: owners if there are any, otherwise directory]
    #[arg(long, value_name = "STRUCTURE")]
    graph_structure: Option<Structure>,

    /// Print a list of resources with their locations instead, in this format
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<ListFormat>,
}

/// Fields to show below each resource.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Fields to show")]
struct FieldOptions {
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

    /// Environment variables of containers
    #[arg(long)]
    env: bool,

    /// Resource requests and limits of containers
    #[arg(long)]
    resources: bool,

    /// Number of replicas
    #[arg(long)]
    replicas: bool,

    /// All of these
    #[arg(long)]
    all: bool,

    /// Any other field; can be repeated
    #[arg(long, value_name = "PATH")]
    field: Vec<Selector>,
}

impl FieldOptions {
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
        let selected =
            container_fields.into_iter().filter(|(_, is_selected)| *is_selected || self.all);
        TreeFields {
            replicas: self.replicas || self.all,
            ports: self.ports || self.all,
            container_fields: selected.map(|(name, _)| name).collect(),
            paths: self.field.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Structure {
    /// Resources below their owners
    Owners,
    /// Resources below their directories
    Directory,
}

pub(crate) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    run_with(args, false, global, console)
}

/// Prints the tree, with local configuration if `include_local` is set: Kptfiles and functionConfigs are part of a package.
pub(crate) fn run_with(
    args: &Args,
    include_local: bool,
    global: &Global,
    console: &mut Console,
) -> CommandResult {
    let loaded = args.input.load(global)?;
    let is_kept = |placed: &PackageResource<'_>| {
        let is_local = include_local && placed.resource.is_local();
        is_local || args.local.includes(placed.resource)
    };
    let kept = loaded.package.resources().filter(is_kept);
    let resources: Vec<PackageResource<'_>> = kept.collect();
    match args.output {
        Some(format) => {
            let records: Vec<Record<'_>> = resources.iter().map(|it| record(it, &loaded)).collect();
            console.data(&format.write(&records)?)?;
        }
        None => draw(args, &loaded, &resources, console)?,
    }
    console.flush()?;
    for path in &args.fields.field {
        let nodes = resources.iter().map(|placed| placed.resource.node);
        console.report_all(path.suggestion(nodes).as_slice());
    }
    report_load_errors(&loaded, Exit::Success, global, console)
}

fn draw(
    args: &Args,
    loaded: &LoadedPackage,
    resources: &[PackageResource<'_>],
    console: &mut Console,
) -> Result<(), Failure> {
    let fields = args.fields.fields();
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
        return console.lines(&tree.render());
    }
    let owned = tree::by_owner(resources, &loaded.title, &fields);
    console.lines(&owned.tree.render())?;
    console.flush()?;
    console.report_all(&owned.missing_owners);
    Ok(())
}

/// A resource with its location.
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
