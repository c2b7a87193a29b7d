//! Edits at paths, for `set` and `rm`: applied to all selected documents of all files, or to none.

use krm_core::merge::Merger;
use krm_core::query::{self, Query};
use krm_core::{Diagnostic, Plan};
use krm_yaml::{Edit, File, NodeRef, PathPattern, PatternStep, Segment};

use super::input::{no_document, syntax_errors};
use super::inputs::{InputFile, InputFiles};
use super::operation::{EditContext, Operation, Target};
use super::selection::{self, Selection, Unit};
use crate::cli::{Global, Preview};
use crate::commands::kinds::CommandKind;
use crate::commands::{merge_options, plan};
use crate::console::Console;
use crate::disk::Lock;
use crate::{CommandResult, Exit, Failure, disk, parallel};

/// An edit at a path.
#[derive(Debug)]
pub(super) struct PathEdit<'a> {
    pub(super) pattern: PathPattern,
    pub(super) operation: Operation<'a>,
    /// Which of the selected documents and resources are edited.
    pub(super) query: Option<Query>,
}

/// A path that a document does not have.
#[derive(Debug)]
struct MissingPath {
    /// How many segments of the path exist.
    found: usize,
    error: Diagnostic,
}

/// The result of an edit for a file, or for all files.
#[derive(Debug, Default)]
struct EditCount {
    /// How many documents and resources were edited, or already have the requested value.
    applied: usize,
    /// How many do not have the path.
    skipped: usize,
    /// The one in which most of the path exists, which makes the most helpful error.
    missing: Option<MissingPath>,
}

impl EditCount {
    fn keep_most_found(&mut self, missing: MissingPath) {
        if self.is_most_found(missing.found) {
            self.missing = Some(missing);
        }
    }

    fn is_most_found(&self, found: usize) -> bool {
        self.missing.as_ref().is_none_or(|best| found > best.found)
    }

    fn add(&mut self, other: Self) {
        self.applied += other.applied;
        self.skipped += other.skipped;
        other.missing.into_iter().for_each(|missing| self.keep_most_found(missing));
    }
}

/// The new text of a file, and what each edit did.
struct EditedFile {
    new: String,
    counts: Vec<EditCount>,
    selected: usize,
    warnings: Vec<Diagnostic>,
}

/// Parses the path of an edit. Compat: an empty path is the whole document in JSON pointers, but on a command line it is an unset
/// variable of the shell, and the edit would replace the file.
pub(super) fn parse_path(text: &str) -> Result<PathPattern, String> {
    match text.is_empty() {
        true => Err("expected a path; use `.` for the whole document".to_owned()),
        false => text.parse().map_err(|error: krm_yaml::PathError| error.to_string()),
    }
}

/// All edits of a command.
pub(super) struct PathEdits<'a> {
    pub(super) edits: Vec<PathEdit<'a>>,
    pub(super) selection: &'a Selection,
    pub(super) context: EditContext,
}

impl PathEdits<'_> {
    /// Edits all files in memory, one edit after the other, and writes them. If one of the edits matches nothing or cannot be made, nothing
    /// is written.
    pub(super) fn run(
        &self,
        files: &InputFiles,
        lock: &Lock,
        preview: &Preview,
        global: &Global,
        console: &mut Console,
    ) -> CommandResult {
        files.check(console)?;
        // The output of a filter is all that it does.
        if files.files.iter().all(|file| file.name != disk::STDIN) {
            console.summary().enable();
        }
        let results = parallel::map(&files.files, global.jobs, |file| self.edit_file(file));
        let (mut plan, mut errors, mut warnings) = (Plan::default(), Vec::new(), Vec::new());
        let mut counts: Vec<EditCount> = self.edits.iter().map(|_| EditCount::default()).collect();
        let mut selected = 0;
        for (input, result) in files.files.iter().zip(results) {
            match result {
                Ok(edited) => {
                    selected += edited.selected;
                    warnings.extend(edited.warnings);
                    counts.iter_mut().zip(edited.counts).for_each(|(all, one)| all.add(one));
                    let is_piped = input.name == disk::STDIN;
                    let old = || input.content.as_ref().map(|it| it.text()).unwrap_or_default();
                    // A filter prints its input even if nothing changes.
                    if is_piped || edited.new != old() {
                        let original = files.original(input, old().to_owned(), lock);
                        let set = original.and_then(|it| plan.set(it, Some(edited.new)));
                        errors.extend(set.err());
                    }
                }
                Err(Failure::Diagnostics(_, diagnostics)) => errors.extend(diagnostics),
                Err(closed) => return Err(closed),
            }
        }
        if !errors.is_empty() {
            return Err(Failure::Diagnostics(Exit::Input, errors));
        }
        if selected == 0 && self.selection.is_on() {
            let read = files.files.iter().filter_map(|file| file.content.as_deref().ok());
            let error = self.selection.nothing(read);
            return Err(Failure::Diagnostics(Exit::Findings, vec![error]));
        }
        self.report(counts, console)?;
        merge_options::report_notes(&warnings, console);
        let plan = files.with_hard_links(plan).map_err(Failure::input)?;
        plan::apply_or_preview(&plan, preview, lock, console)
    }

    /// Fails if an edit matches nothing, and warns about documents that were skipped.
    fn report(&self, counts: Vec<EditCount>, console: &mut Console) -> Result<(), Failure> {
        let (mut errors, mut warnings) = (Vec::new(), Vec::new());
        for (edit, count) in self.edits.iter().zip(counts) {
            if count.applied == 0 {
                errors.push(match count.missing {
                    Some(missing) => self.with_hint(missing, edit),
                    // The query of the edit itself selects nothing.
                    None => Diagnostic::error(CommandKind::NothingSelected),
                });
            } else if count.skipped > 0 && edit.reports_skipped() {
                warnings.push(documents_skipped(count.skipped, &edit.pattern));
            }
        }
        if !errors.is_empty() {
            return Err(Failure::Diagnostics(Exit::Findings, errors));
        }
        console.report_all(&warnings);
        Ok(())
    }

    /// Adds that `--create` helps, except for what cannot be created.
    fn with_hint(&self, missing: MissingPath, edit: &PathEdit<'_>) -> Diagnostic {
        let (before, rest) = edit.pattern.steps().split_at(missing.found);
        let is_index = matches!(rest.first(), Some(PatternStep::Plain(Segment::Index(_))));
        let is_created = !self.context.create
            && !is_index
            && !rest.is_empty()
            && !before.contains(&PatternStep::Deep)
            && rest.iter().all(|step| matches!(step, PatternStep::Plain(_)));
        match edit.operation {
            Operation::Set(_) | Operation::Append(_) | Operation::Merge(_) if is_created => {
                missing.error.hint("use --create to add what is missing")
            }
            _ => missing.error,
        }
    }

    /// Edits one file.
    fn edit_file(&self, input: &InputFile) -> Result<EditedFile, Failure> {
        let (name, shown) = (&*input.name, disk::display_name(&input.name));
        let read = input.content.as_deref().map_err(|error| Failure::input(error.clone()))?;
        let with_document;
        let mut file = read;
        if file.documents().next().is_none() && self.creates_documents() {
            with_document = File::parse(with_empty_mapping(file.text()))
                .map_err(|error| Failure::input(Diagnostic::from(&error)))?;
            file = &with_document;
        }
        let documents = self.selection.documents(file, name)?;
        let errors = syntax_errors(name, &documents);
        if !errors.is_empty() {
            return Err(Failure::Diagnostics(Exit::Input, errors));
        }
        // Before anything changes: an edit must not hide what it selects from the next one.
        let own = |edit: &PathEdit<'_>| self.selection.units(&documents, edit.query.as_ref());
        let units: Vec<Vec<Unit>> = self.edits.iter().map(own).collect();
        let is_only = documents.len() == 1;
        let selected = units.iter().map(Vec::len).sum();
        let (mut counts, mut warnings) = (Vec::new(), Vec::new());
        let (mut changed, mut last) = (None, None);
        for (at, (edit, units)) in self.edits.iter().zip(&units).enumerate() {
            let current = changed.as_ref().unwrap_or(file);
            let (count, new) =
                self.edit_once(edit, units, current, (name, is_only), &mut warnings)?;
            counts.push(count);
            let Some(new) = new else { continue };
            let failed = |error: krm_yaml::EditError| {
                Failure::input(Diagnostic::from_edit(&error, current).in_file(shown))
            };
            // The file is parsed again for the next edit only.
            match at + 1 == self.edits.len() {
                true => last = Some(new.apply().map_err(failed)?),
                false => changed = Some(new.apply_to_file().map_err(failed)?),
            }
        }
        let new = match (last, changed) {
            (Some(text), _) => text,
            (None, Some(changed)) => changed.into_text(),
            (None, None) => read.text().to_owned(),
        };
        Ok(EditedFile { new, counts, selected, warnings })
    }

    /// Whether all edits can be made in a file without documents.
    fn creates_documents(&self) -> bool {
        let creates =
            |edit: &PathEdit<'_>| edit.operation.creates_documents(&edit.pattern, &self.context);
        !self.selection.is_on() && self.edits.iter().all(creates)
    }

    /// Queues the changes of one edit, if there are any.
    fn edit_once<'f>(
        &'f self,
        path_edit: &'f PathEdit<'_>,
        units: &[Unit],
        file: &'f File,
        (name, is_only): (&'f str, bool),
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<(EditCount, Option<Edit<'f>>), Failure> {
        let shown = disk::display_name(name);
        let (pattern, mut count) = (&path_edit.pattern, EditCount::default());
        let mut edit = path_edit.operation.edit(file, name, &self.context);
        let options = path_edit.operation.merge_options(&self.context);
        // One for all documents and places: it keeps what it knows about a document.
        let mut merger = Merger::new(&options);
        for root in selection::roots(units, file) {
            let target = Target::new(file, shown, root, is_only);
            let applied = path_edit
                .operation
                .apply(pattern, &target, &self.context, &mut merger, &mut edit)
                .map_err(Failure::input)?;
            warnings.extend(applied.warnings);
            if applied.places > 0 {
                count.applied += 1;
                continue;
            }
            count.skipped += 1;
            // An explanation searches for similar names, so only the one that may be shown is made.
            let missing = query::MissingPath::find(root, pattern);
            let found = missing.as_ref().map_or(0, |missing| missing.found);
            if count.is_most_found(found) {
                let error = match missing {
                    Some(missing) => missing.to_diagnostic(pattern),
                    None => inherited(root, pattern),
                };
                count.missing = Some(MissingPath { found, error: error.in_file(shown) });
            }
        }
        if count.applied == 0 && count.missing.is_none() && path_edit.query.is_none() {
            let error = no_document(&pattern.to_string()).in_file(shown);
            count.missing = Some(MissingPath { found: 0, error });
        }
        let changes = !edit.is_empty();
        Ok((count, changes.then_some(edit)))
    }
}

impl PathEdit<'_> {
    /// Whether documents without the path are worth a warning: not if they are only searched, or if there is nothing to remove.
    fn reports_skipped(&self) -> bool {
        let is_deep = self.pattern.steps().contains(&PatternStep::Deep);
        !is_deep && !matches!(self.operation, Operation::Remove(_))
    }
}

/// An empty file, or one of comments alone, with an empty mapping added that can be edited.
fn with_empty_mapping(text: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
    format!("{text}{gap}{{}}{end}")
}

/// The error for a path that cannot be edited although lookup finds it: lookup follows merge keys and edits do not.
fn inherited(root: NodeRef<'_>, pattern: &PathPattern) -> Diagnostic {
    let error = Diagnostic::error(CommandKind::InheritedValue { path: pattern.to_string() });
    match pattern.find(root).first() {
        Some(node) => error.at(root.document().file(), node.span()),
        None => error,
    }
}

fn documents_skipped(count: usize, pattern: &PathPattern) -> Diagnostic {
    let parent = pattern.as_path().and_then(|path| path.split_last().map(|(parent, _)| parent));
    let parent = match parent {
        Some(parent) if parent.segments().is_empty() => "content".to_owned(),
        Some(parent) => format!("`{parent}`"),
        None => format!("`{pattern}`"),
    };
    Diagnostic::warning(CommandKind::DocumentsSkipped { count, parent })
}
