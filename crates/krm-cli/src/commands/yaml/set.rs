//! `krm yaml set`: sets, appends, merges and increments values at paths.

use krm_core::Diagnostic;

use super::edits::{self, ValueUse};
use super::input::read_valid;
use super::inputs::{InputFiles, names_or_current};
use super::operation::{EditContext, Operation};
use super::path_edit::{PathEdit, PathEdits};
use super::selection::Selection;
use super::typed_value::{TypedValue, ValueType};
use crate::cli::{Global, Preview, Recursion};
use crate::commands::cfg::edit_session::ChangesOutput;
use crate::commands::check_stdin_once;
use crate::commands::kinds::CommandKind;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm yaml set spec.replicas 5 deployment.yaml
  krm yaml set 'spec.template.spec.containers[*].image' nginx:1.27 shop --kind Deployment --diff
  krm yaml set -e spec.replicas=5 -e metadata.labels.tier=web deployment.yaml
  krm yaml set 'spec.template.spec.containers[name=web].args' --append -- --verbose deployment.yaml
  krm yaml set spec.template.spec --merge '{nodeSelector: {disk: ssd}}' shop --where 'spec.replicas>1'
  krm yaml set metadata.annotations.revision --increment deployment.yaml
  krm yaml set spec.ports '[{port: 80}]' service.yaml --type yaml
  git rev-parse HEAD | krm yaml set metadata.annotations.commit --from-file - deployment.yaml
  krm yaml set --edit-file edits.yaml shop
  krm yaml set spec.replicas 5 - < deployment.yaml

Paths: a.b, a[0], a[-1] (last), a[-] (new element), a[name=web], a.* and a[*] (all), a.**.b (any depth), a.\"b.c\"; see docs/paths.md.
After -- an argument may start with a dash; negative numbers do not need it.";

const USAGE: &str = "\
krm yaml set [OPTIONS] <PATH> <VALUE> [FILE|DIR]...
       krm yaml set [OPTIONS] <PATH> <--string <STRING>|--null|--increment[=N]|--from-env <NAME>|--from-file <FILE>> [FILE|DIR]...
       krm yaml set [OPTIONS] <-e <PATH=VALUE>|--edit-file <FILE>> [FILE|DIR]...";

/// Set the values at a path, in place.
///
/// A missing last key is added; missing parents only with --create. Documents without the parent are skipped if there are several. A
/// string stays a string, and so does a field that the Kubernetes schema or convention declares as one, such as a label;
/// otherwise VALUE is read as YAML 1.2. A path can match many values. The exit code is 1 if an edit matches nothing; nothing is written unless all
/// edits of all files can be made.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Args {
    /// Path, new value, and files and directories to edit [default: current directory]; - edits standard input to standard output
    #[arg(value_name = "PATH VALUE FILE|DIR", allow_negative_numbers = true)]
    arguments: Vec<String>,

    /// Set a value; may be repeated, and replaces PATH and VALUE
    #[arg(short, long, value_name = "PATH=VALUE", allow_hyphen_values = true)]
    edit: Vec<String>,

    /// Make the edits of this YAML file, a list of {path, value|append|merge|increment|remove, where, type}; - is standard input
    #[arg(long, value_name = "FILE")]
    edit_file: Vec<String>,

    /// Append the value to the sequence at the path
    #[arg(long, conflicts_with_all = ["merge", "increment", "null"])]
    append: bool,

    /// Merge the value, a YAML snippet, into the mapping or list at the path, as krm yaml merge does
    #[arg(long, conflicts_with_all = ["increment", "null", "string", "value_type"])]
    merge: bool,

    /// Add N to the integer at the path, or 1
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["string", "null", "from_env", "from_file", "value_type", "edit"])]
    increment: Option<i64>,

    /// Type of the value [default: string if the current value or the field is one, otherwise as YAML reads it]
    #[arg(short = 't', long = "type", value_name = "TYPE", conflicts_with_all = ["string", "null"])]
    value_type: Option<ValueType>,

    /// Set this string, which may be empty, instead of VALUE
    #[arg(long, value_name = "STRING", allow_hyphen_values = true, conflicts_with_all = ["null", "edit"])]
    string: Option<String>,

    /// Set null instead of VALUE
    #[arg(long, conflicts_with = "edit")]
    null: bool,

    /// Set the value of this environment variable instead of VALUE
    #[arg(long, value_name = "NAME", conflicts_with_all = ["string", "null", "from_file", "edit"])]
    from_env: Option<String>,

    /// Set the content of this file instead of VALUE, without the line break after a single line; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["string", "null", "edit"])]
    from_file: Option<String>,

    /// Create missing parents
    #[arg(long)]
    create: bool,

    /// Allow changing a value that is shared through aliases
    #[arg(long)]
    shared: bool,

    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    recursion: Recursion,

    #[command(flatten)]
    changes: ChangesOutput,

    #[command(flatten)]
    preview: Preview,
}

/// The arguments without a flag.
struct Arguments<'a> {
    /// The path and the value, unless options name them.
    path: Option<&'a str>,
    value: Option<&'a str>,
    files: &'a [String],
}

impl Args {
    /// Splits the arguments. A value that is the name of a file and the last argument was most likely forgotten.
    fn arguments(&self) -> Result<Arguments<'_>, Failure> {
        let missing =
            |names| Failure::usage(Diagnostic::error(CommandKind::MissingArgument { names }));
        if !self.edit.is_empty() || !self.edit_file.is_empty() {
            return Ok(Arguments { path: None, value: None, files: &self.arguments });
        }
        match &*self.arguments {
            [] => Err(missing("PATH")),
            [_, number, ..] if self.is_forgotten_increment(number) => {
                let kind = CommandKind::IncrementNeedsEquals { number: number.clone() };
                Err(Failure::usage(Diagnostic::error(kind)))
            }
            [path, files @ ..] if self.has_value_option() => {
                Ok(Arguments { path: Some(path), value: None, files })
            }
            [_] => Err(missing("VALUE")),
            [_, value] if std::path::Path::new(value).exists() => Err(missing("VALUE or FILE")),
            [path, value, files @ ..] => {
                Ok(Arguments { path: Some(path), value: Some(value), files })
            }
        }
    }

    /// Whether an argument is the value of `--increment`, which belongs after `=`, and not a file.
    fn is_forgotten_increment(&self, argument: &str) -> bool {
        let is_file = std::path::Path::new(argument).exists();
        self.increment.is_some() && argument.parse::<i64>().is_ok() && !is_file
    }

    fn has_value_option(&self) -> bool {
        let options = [&self.string, &self.from_env, &self.from_file];
        self.null || self.increment.is_some() || options.iter().any(|it| it.is_some())
    }

    fn value_use(&self) -> ValueUse {
        match (self.append, self.merge) {
            (true, _) => ValueUse::Append,
            (_, true) => ValueUse::Merge,
            _ => ValueUse::Set,
        }
    }

    /// All edits, in order.
    fn edits<'a>(&'a self, arguments: &Arguments<'a>) -> Result<Vec<PathEdit<'a>>, Failure> {
        let mut all = Vec::new();
        for text in &self.edit {
            let (path, value) = edits::assignment(text).map_err(Failure::usage)?;
            all.push(self.edit(path, self.operation(value)).map_err(Failure::usage)?);
        }
        let names: Vec<&str> = self.edit_file.iter().map(String::as_str).collect();
        for (file, name) in read_valid(&names)?.iter().zip(names) {
            let edits = edits::read(name, file);
            all.extend(edits.map_err(|errors| Failure::Diagnostics(Exit::Input, errors))?);
        }
        if let Some(path) = arguments.path {
            let operation = match arguments.value {
                Some(value) => self.operation(value),
                None => Ok(self.operation_of_options()?),
            };
            all.push(self.edit(path, operation).map_err(Failure::usage)?);
        }
        Ok(all)
    }

    fn edit<'a>(
        &self,
        path: &str,
        operation: Result<Operation<'a>, Diagnostic>,
    ) -> Result<PathEdit<'a>, Diagnostic> {
        edits::edit(path, operation?)
    }

    /// An empty argument is most likely an unset variable of a shell, and would delete what is there.
    fn operation<'a>(&self, value: &'a str) -> Result<Operation<'a>, Diagnostic> {
        let allows_empty = matches!(self.value_type, Some(ValueType::String | ValueType::Null));
        if value.is_empty() && !allows_empty {
            return Err(Diagnostic::error(CommandKind::EmptyValue));
        }
        self.value_use().operation(TypedValue::new(value, self.kind())?)
    }

    /// A snippet is any YAML.
    fn kind(&self) -> Option<ValueType> {
        if self.merge { Some(ValueType::Yaml) } else { self.value_type }
    }

    fn operation_of_options<'a>(&'a self) -> Result<Operation<'a>, Failure> {
        let make = |value: Result<TypedValue<'a>, Diagnostic>| {
            value.and_then(|value| self.value_use().operation(value)).map_err(Failure::usage)
        };
        if let Some(by) = self.increment {
            return Ok(Operation::Increment(by.into()));
        }
        if let Some(text) = &self.string {
            return make(TypedValue::new(text, Some(ValueType::String)));
        }
        if let Some(name) = &self.from_env {
            let text = std::env::var(name).map_err(|_| {
                let kind = CommandKind::VariableNotSet { name: name.clone() };
                Failure::usage(Diagnostic::error(kind))
            })?;
            return make(self.own_value(text));
        }
        if let Some(name) = &self.from_file {
            let text = disk::read_text(name).map_err(Failure::input)?;
            let line = text.strip_suffix('\n').map(|it| it.strip_suffix('\r').unwrap_or(it));
            let is_exact = matches!(self.kind(), Some(ValueType::String | ValueType::Yaml));
            let line = line.filter(|line| !line.contains('\n') && !is_exact);
            return make(self.own_value(line.map(str::to_owned).unwrap_or(text)));
        }
        make(TypedValue::new("", Some(ValueType::Null)))
    }

    /// A value that is not an argument. Text of several lines is a string.
    fn own_value(&self, text: String) -> Result<TypedValue<'static>, Diagnostic> {
        let is_text = text.contains('\n') || text.is_empty();
        let inferred = is_text.then_some(ValueType::String);
        TypedValue::new(text, self.kind().or(inferred))
    }
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    args.changes.apply(&args.preview, console)?;
    let arguments = args.arguments()?;
    let files = names_or_current(arguments.files);
    let named = files.iter().chain(&args.edit_file).chain(&args.from_file).map(String::as_str);
    check_stdin_once(named)?;
    let edits = args.edits(&arguments)?;
    let context = EditContext::new(args.create, args.shared);
    let edits = PathEdits { edits, selection: &args.selection, context };
    let (files, lock) = InputFiles::open(&files, &args.recursion, &args.preview, global, console)?;
    edits.run(&files, &lock, &args.preview, global, console)
}
