//! `krm yaml set`: the value at a path becomes another one, and nothing else changes.

use krm_core::Diagnostic;
use krm_yaml::{
    DocumentRef, Edit, EditError, EditErrorKind, Located, Path, Resolved, Segment, Value,
};

use super::edit::{self, Operation, Step};
use super::value::{Type, Wanted};
use crate::cli::{Documents, Global, Preview};
use crate::commands::plan;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm yaml set spec.replicas 5 deployment.yaml
  krm yaml set 'spec.template.spec.containers[name=web].image' nginx:1.27 *.yaml --diff
  krm yaml set metadata.labels.tier web deployment.yaml --create
  krm yaml set spec.ports '[{port: 80}]' service.yaml --type yaml
  krm yaml set spec.replicas 5 - < deployment.yaml
  krm yaml set -- args[0] --debug pod.yaml

After -- a value may begin with a dash; a negative number needs none.";

/// Set the value at a path, in place.
///
/// The last key of the path is added where it is missing, its parents only with --create. Of several documents, those
/// without the parent are left alone. The value keeps its type: where a text stands, VALUE is a text; otherwise VALUE is
/// what YAML 1.2 reads. Nothing is written unless every file can be edited.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where
    path: Path,

    /// The new value
    #[arg(allow_negative_numbers = true)]
    value: String,

    /// The files; - edits standard input to standard output
    #[arg(required = true)]
    files: Vec<String>,

    /// What the value is [default: what stands there, or as YAML reads it]
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    kind: Option<Type>,

    /// Make missing parents
    #[arg(long)]
    create: bool,

    /// Allow to change a value that aliases share
    #[arg(long)]
    shared: bool,

    #[command(flatten)]
    documents: Documents,

    #[command(flatten)]
    preview: Preview,
}

struct Set<'a> {
    args: &'a Args,
    wanted: Wanted<'a>,
}

impl Operation for Set<'_> {
    fn path(&self) -> &Path {
        &self.args.path
    }

    fn shared(&self) -> bool {
        self.args.shared
    }

    fn makes_documents(&self) -> bool {
        self.args.create || self.args.path.segments().len() == 1
    }

    fn on<'a>(
        &'a self,
        edit: &mut Edit<'a>,
        document: DocumentRef<'a>,
        alone: bool,
    ) -> Result<Step, EditError> {
        let path = &self.args.path;
        let there = match document.locate(path) {
            Some(Located::Missing { found, .. }) if !self.may_make(document, found, alone) => {
                return Ok(Step::Absent);
            }
            Some(Located::Node(node)) => Some(node),
            _ => None,
        };
        let value = self.wanted.instead_of(there);
        if let Some(Located::Missing { at, .. }) = document.locate(path) {
            fits_item(path, &value).map_err(|kind| EditError::at(at, kind))?;
        }
        edit.set_at(document, path, value)?;
        Ok(Step::Done)
    }
}

impl Set<'_> {
    /// Whether what is missing after `found` steps may be made. An empty document among others stays empty.
    fn may_make(&self, document: DocumentRef<'_>, found: usize, alone: bool) -> bool {
        let is_last = found + 1 == self.args.path.segments().len();
        let is_empty = document
            .root()
            .and_then(|root| root.as_scalar())
            .is_some_and(|it| it.resolve() == Resolved::Null);
        self.args.create || is_last && (alone || !is_empty)
    }
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let wanted = Wanted::new(&args.value, args.kind);
    let wanted =
        wanted.map_err(|diagnostic| Failure::Diagnostics(Exit::Usage, vec![diagnostic]))?;
    let lock = plan::lock(&args.files, &args.preview, console)?;
    let edited = edit::all(&args.files, &args.documents, &Set { args, wanted }, global)?;
    if edited.done == 0 {
        let nothing = edited.nothing.map(|(steps, nothing)| with_hint(nothing, steps, &args.path));
        return Err(Failure::Diagnostics(Exit::Input, nothing.into_iter().collect()));
    }
    if edited.absent > 0 {
        console.report(&left_alone(edited.absent, &args.path));
    }
    plan::apply_or_preview(edited.plan, &args.preview, &lock, console)
}

/// A new item that is looked for by a field must have fields.
fn fits_item(path: &Path, value: &Value<'_>) -> Result<(), EditErrorKind> {
    let is_mapping = match value {
        Value::Mapping(_) => true,
        Value::Node(node) => node.as_mapping().is_some(),
        _ => false,
    };
    match path.segments().last() {
        Some(Segment::Match { .. }) if !is_mapping => {
            Err(EditErrorKind::ElementNotMapping { path: path.to_string() })
        }
        _ => Ok(()),
    }
}

/// An item far behind the end of a list cannot be made; everything else can.
fn with_hint(nothing: Diagnostic, steps: usize, path: &Path) -> Diagnostic {
    match path.segments().get(steps) {
        Some(Segment::Index(_)) => nothing,
        _ => nothing.hint("--create makes what is missing"),
    }
}

fn left_alone(count: usize, path: &Path) -> Diagnostic {
    let documents = if count == 1 { "1 document has" } else { &format!("{count} documents have") };
    let parent =
        path.split_last().map(|(parent, _)| parent).filter(|parent| !parent.segments().is_empty());
    let missing = parent.map_or("content".to_owned(), |parent| format!("`{parent}`"));
    let left = if count == 1 { "was" } else { "were" };
    Diagnostic::untyped_warning(format!("{documents} no {missing} and {left} left alone"))
}
