//! `krm yaml set`: sets the value at a path.

use std::sync::OnceLock;

use krm_core::Diagnostic;
use krm_core::schema::{Schema, ValueKind};
use krm_yaml::{
    DocumentRef, Edit, EditError, EditErrorKind, Path, PathLookup, ScalarType, Segment, Value,
};

use super::path_edit::{self, DocumentEdit, MissingPath, PathEdit};
use super::typed_value::{TypedValue, ValueType};
use crate::cli::{Documents, Global, Preview};
use crate::commands::kinds::CommandKind;
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
  krm yaml set metadata.annotations.note --string '' deployment.yaml
  krm yaml set -- args[0] --debug pod.yaml

After -- a value may start with a dash; negative numbers do not need it.";

/// Set the value at a path, in place.
///
/// A missing last key is added; missing parents only with --create. Documents without the parent are skipped if there are several. A
/// string stays a string, and so does a field that the Kubernetes schema or convention declares as one, such as a label;
/// otherwise VALUE is read as YAML 1.2. Nothing is written unless all files can be edited.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Path of the value; . is the whole document
    #[arg(value_parser = path_edit::parse_path)]
    path: Path,

    /// New value; omit it with --string and --null
    #[arg(allow_negative_numbers = true)]
    value: String,

    /// Files to edit; - edits standard input to standard output
    #[arg(required_unless_present_any = ["string", "null"])]
    files: Vec<String>,

    /// Type of the value [default: string if the current value or the field is one, otherwise as YAML reads it]
    #[arg(short = 't', long = "type", value_name = "TYPE", conflicts_with_all = ["string", "null"])]
    kind: Option<ValueType>,

    /// Set this string, which may be empty, instead of VALUE
    #[arg(long, value_name = "STRING", allow_hyphen_values = true, conflicts_with = "null")]
    string: Option<String>,

    /// Set null instead of VALUE
    #[arg(long)]
    null: bool,

    /// Create missing parents
    #[arg(long)]
    create: bool,

    /// Allow changing a value that is shared through aliases
    #[arg(long)]
    shared: bool,

    #[command(flatten)]
    documents: Documents,

    #[command(flatten)]
    preview: Preview,
}

impl Args {
    /// The value and its type. An empty argument is most likely an unset variable of a shell, and would delete what is there.
    fn value(&self) -> Result<TypedValue<'_>, Diagnostic> {
        match &self.string {
            Some(text) => TypedValue::new(text, Some(ValueType::String)),
            None if self.null => TypedValue::new("", Some(ValueType::Null)),
            None if self.value.is_empty() && !self.allows_empty() => {
                Err(Diagnostic::error(CommandKind::EmptyValue))
            }
            None => TypedValue::new(&self.value, self.kind),
        }
    }

    fn allows_empty(&self) -> bool {
        matches!(self.kind, Some(ValueType::String | ValueType::Null))
    }

    /// The files to edit. With an option for the value, the first argument after the path is a file, too.
    fn files(&self) -> Vec<String> {
        let is_file = self.string.is_some() || self.null;
        is_file.then_some(&self.value).into_iter().chain(&self.files).cloned().collect()
    }
}

struct Set<'a> {
    args: &'a Args,
    value: TypedValue<'a>,
    /// Loaded when a value is not a string, as its field may be.
    schema: OnceLock<Schema>,
}

impl PathEdit for Set<'_> {
    fn path(&self) -> &Path {
        &self.args.path
    }

    fn shared(&self) -> bool {
        self.args.shared
    }

    fn creates_documents(&self) -> bool {
        self.args.create || self.args.path.segments().len() == 1
    }

    fn edit<'a>(
        &'a self,
        edit: &mut Edit<'a>,
        document: DocumentRef<'a>,
        is_only: bool,
    ) -> Result<DocumentEdit, EditError> {
        let path = &self.args.path;
        let current = match document.lookup(path) {
            Some(PathLookup::Missing { found, .. })
                if !self.may_create(document, found, is_only) =>
            {
                return Ok(DocumentEdit::PathMissing);
            }
            Some(PathLookup::Found(node)) => Some(node),
            _ => None,
        };
        let is_string = |path: &Path| self.is_string(document, path);
        let value = self.value.replacing(current, path, &is_string);
        if let Some(PathLookup::Missing { at, .. }) = document.lookup(path) {
            check_new_element(path, &value).map_err(|kind| EditError::at(at, kind))?;
        }
        edit.set_at(document, path, value)?;
        Ok(DocumentEdit::Applied)
    }
}

impl Set<'_> {
    /// Whether the field at a path is a string, whatever its value looks like.
    fn is_string(&self, document: DocumentRef<'_>, path: &Path) -> bool {
        let schema = self.schema.get_or_init(Schema::built_in);
        let of = document.root().and_then(|root| schema.type_at(root, path));
        of == Some(ValueKind::String)
    }

    /// Whether the path may be created after its first `found` segments. An empty document among others is left empty.
    fn may_create(&self, document: DocumentRef<'_>, found: usize, is_only: bool) -> bool {
        let is_last = found + 1 == self.args.path.segments().len();
        let is_empty = document
            .root()
            .and_then(|root| root.as_scalar())
            .is_some_and(|it| it.resolve() == ScalarType::Null);
        self.args.create || is_last && (is_only || !is_empty)
    }
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let set = Set { args, value: args.value().map_err(Failure::usage)?, schema: OnceLock::new() };
    let files = args.files();
    let lock = plan::lock(&files, &args.preview, console)?;
    let edited = path_edit::edit_files(&files, &args.documents, &set, &lock, global)?;
    if edited.applied == 0 {
        let error = edited.missing.map(|missing| with_hint(missing, &args.path));
        return Err(Failure::Diagnostics(Exit::Input, error.into_iter().collect()));
    }
    if edited.skipped > 0 {
        console.report(&documents_skipped(edited.skipped, &args.path));
    }
    plan::apply_or_preview(&edited.plan, &args.preview, &lock, console)
}

/// Checks that a new element for a segment such as `[name=web]` is a mapping, which can have that field.
fn check_new_element(path: &Path, value: &Value<'_>) -> Result<(), EditErrorKind> {
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

/// Adds that `--create` helps, except for an index beyond the end of a sequence, which cannot be created.
fn with_hint(missing: MissingPath, path: &Path) -> Diagnostic {
    match path.segments().get(missing.found) {
        Some(Segment::Index(_)) => missing.error,
        _ => missing.error.hint("use --create to add what is missing"),
    }
}

fn documents_skipped(count: usize, path: &Path) -> Diagnostic {
    let parent = path.split_last().map(|(parent, _)| parent);
    let parent = parent.filter(|parent| !parent.segments().is_empty());
    let parent = parent.map_or("content".to_owned(), |parent| format!("`{parent}`"));
    Diagnostic::warning(CommandKind::DocumentsSkipped { count, parent })
}
