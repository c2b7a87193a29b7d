//! One function of a pipeline: which items it receives, and what becomes of the items that it returns.
//!
//! ```
//! use krm_core::functions::resource_list::Item;
//! use krm_run::{Interrupt, Runner, Step};
//!
//! let step = Step::new(Runner::Builtin(krm_catalog::find("no-op").expect("it is built in").into()));
//! let mut items = vec![Item::parse("apiVersion: v1\nkind: Pod\n".to_owned())?];
//! let run = step.run(&mut items, &Interrupt::new());
//! assert_eq!(run.output.expect("it succeeds").len(), 1);
//! # Ok::<(), krm_core::Diagnostic>(())
//! ```

mod external;
mod in_process;
mod interpreted;
mod reorder;

pub(crate) use in_process::CallOutput;
pub use interpreted::Interpreted;

use std::path::PathBuf;
use std::sync::Arc;

use krm_catalog::{BuiltinRelease, Host};
use krm_core::files::Placement;
use krm_core::functions::kptfile::{DeclarationSite, Role};
use krm_core::functions::resource_list::{Item, Version};
use krm_core::functions::results::FunctionRecord;
use krm_core::{Diagnostic, Severity, kubernetes_reader};
use krm_sdk::ResourceList;

use crate::kinds::RunKind;
use crate::{
    DocumentChange, Function, FunctionRun, GrantedCharts, GrantedDocuments, GrantedSchemas,
    Interrupt, Limits, RunStatus, resolution,
};

/// What runs a function.
pub enum Runner {
    /// A built-in function, which works on the items themselves.
    Builtin(BuiltinRelease),
    /// A built-in validator and the schemas that it may read.
    Validator(BuiltinRelease, Arc<GrantedSchemas>),
    /// A built-in function that renders charts.
    Charts(BuiltinRelease, GrantedCharts),
    /// A built-in function that writes documents.
    Documents(BuiltinRelease, GrantedDocuments),
    /// A script or a built-in function that needs an interpreter, which works on the items themselves.
    Interpreted(Interpreted),
    /// A process, container or module, which reads and writes a ResourceList.
    External(Box<dyn Function>),
}

/// Decides which items a function receives.
pub type ItemFilter = dyn Fn(&Item) -> bool + Send + Sync;

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Runner {
    fn name(&self) -> &str {
        match self {
            Self::Builtin(builtin)
            | Self::Validator(builtin, _)
            | Self::Charts(builtin, _)
            | Self::Documents(builtin, _) => builtin.function.name,
            Self::Interpreted(function) => function.name(),
            Self::External(function) => function.name(),
        }
    }

    /// Files that the result depends on, besides the items and the functionConfig; none if it may depend on something else.
    fn inputs(&self) -> Option<Vec<PathBuf>> {
        match self {
            Self::Builtin(_) => Some(Vec::new()),
            Self::Validator(_, schemas) => (!schemas.has_read()).then(Vec::new),
            Self::Interpreted(function) => function.builtin_release().map(|_| Vec::new()),
            Self::Charts(..) | Self::Documents(..) => None,
            Self::External(function) => function.identity()?.files().map(<[_]>::to_vec),
        }
    }

    /// The built-in function, if it is one.
    fn builtin(&self) -> Option<&BuiltinRelease> {
        match self {
            Self::Builtin(builtin)
            | Self::Validator(builtin, _)
            | Self::Charts(builtin, _)
            | Self::Documents(builtin, _) => Some(builtin),
            Self::Interpreted(function) => function.builtin_release(),
            Self::External(_) => None,
        }
    }
}

/// One function of a pipeline.
pub struct Step {
    /// What runs it.
    pub runner: Runner,
    /// Its name for messages.
    pub name: String,
    /// How it is declared: `image`, `exec`, `wasm` or `starlark`.
    pub runtime: &'static str,
    /// Mutator or validator, where that is declared. The changes of a validator are dropped.
    pub role: Option<Role>,
    /// Where it is declared.
    pub declared_at: Option<DeclarationSite>,
    /// The directory of the package that declares it; empty for the root. The function sees paths relative to it.
    pub package: String,
    /// The directory for new resources where `package` is the root; empty for none.
    pub scope: String,
    /// The functionConfig.
    pub config: Option<Item>,
    /// The file of the functionConfig, for messages; none for one that is part of the declaration.
    pub config_file: Option<String>,
    /// Where the entries of `data` of a functionConfig are declared that is part of the declaration: their keys and their values.
    pub config_sites: Vec<(DeclarationSite, DeclarationSite)>,
    /// Which items it receives.
    pub selects: Box<ItemFilter>,
    /// Whether the pipeline continues after a failure, with the items that it returned.
    pub defers_failure: bool,
    /// Results of this severity or higher are a failure.
    pub fail_on: Option<Severity>,
    /// The version of the ResourceList that it receives.
    pub version: Version,
    /// What it may use.
    pub limits: Limits,
}

/// The items that a function returned.
struct Returned {
    items: Vec<Item>,
    /// For each item, the index of the item that was sent; none for a new one.
    from: Vec<Option<usize>>,
}

impl Step {
    /// A step that receives all items of the root package, without a functionConfig.
    pub fn new(runner: Runner) -> Self {
        Self {
            name: runner.name().to_owned(),
            runner,
            runtime: "image",
            role: None,
            declared_at: None,
            package: String::new(),
            scope: String::new(),
            config: None,
            config_file: None,
            config_sites: Vec::new(),
            selects: Box::new(|_| true),
            defers_failure: false,
            fail_on: None,
            version: Version::default(),
            limits: Limits::default(),
        }
    }

    /// Starts what can be started before the items are known; see [`Function::start_ahead`].
    pub fn start_ahead(&self) {
        match &self.runner {
            Runner::Builtin(_)
            | Runner::Validator(..)
            | Runner::Charts(..)
            | Runner::Documents(..) => {}
            Runner::Interpreted(function) => function.start_ahead(&self.limits),
            Runner::External(function) => function.start_ahead(&self.limits),
        }
    }

    /// Runs the function on the items that it selects. The other items keep their positions.
    ///
    /// What is left in `items` are the items as they were. They may have lost their node tables to the function ([`Item::unparsed`]), so
    /// that a resource that changes needs no memory for two tables.
    pub fn run(&self, items: &mut [Item], interrupt: &Interrupt) -> FunctionRun {
        let selected: Vec<usize> =
            (0..items.len()).filter(|at| (self.selects)(&items[*at])).collect();
        let mut run = FunctionRun {
            record: self.record(),
            role: self.role,
            declared_at: self.declared_at.clone(),
            selected: selected.len(),
            total: items.len(),
            ..FunctionRun::default()
        };
        run.warnings.extend(self.unknown_tag());
        let hidden = self.hidden_text(&references(items, &selected));
        let input = self.take_items(items, &selected);
        let (items, sent) = (&*items, references(items, &selected));
        let returned = match &self.runner {
            _ if !hidden.is_empty() => {
                run.errors = hidden;
                None
            }
            Runner::Builtin(builtin) => {
                let builtin = *builtin;
                let call = |list| {
                    let call = move |list: &mut ResourceList| builtin.call(list);
                    in_process::on_thread(call, list, &self.limits, interrupt)
                };
                in_process::run(self, call, input, &sent, &mut run)
            }
            Runner::Validator(builtin, schemas) => {
                let builtin = *builtin;
                let call = |list| {
                    let schemas = Arc::clone(schemas);
                    let call = move |list: &mut ResourceList| {
                        builtin.call_with(list, Host { schemas: &*schemas, ..Host::default() })
                    };
                    in_process::on_thread(call, list, &self.limits, interrupt)
                };
                in_process::run(self, call, input, &sent, &mut run)
            }
            Runner::Charts(builtin, charts) => {
                let call = |list| Ok(charts.call(*builtin, list, &self.limits, interrupt));
                in_process::run(self, call, input, &sent, &mut run)
            }
            Runner::Documents(builtin, documents) => {
                let builtin = *builtin;
                let call = |list| {
                    let documents = documents.clone();
                    let call = move |list: &mut ResourceList| {
                        builtin.call_with(list, Host { documents: &documents, ..Host::default() })
                    };
                    in_process::on_thread(call, list, &self.limits, interrupt)
                };
                let returned = in_process::run(self, call, input, &sent, &mut run);
                run.documents = self.documents(documents.take_changes());
                run.writes_documents = true;
                returned
            }
            Runner::Interpreted(function) => {
                let call = |list| Ok(function.call(list, &self.limits, interrupt));
                in_process::run(self, call, input, &sent, &mut run)
            }
            Runner::External(function) => {
                external::run(self, &**function, input, interrupt, &mut run)
            }
        };
        run.inputs = self.runner.inputs();
        self.judge(&mut run);
        if let Some(returned) = returned.filter(|_| !run.stops_pipeline) {
            run.output = Some(self.place(returned, items, &selected, &sent, &mut run));
        }
        run
    }

    /// Changed documents with paths relative to the root package. A validator changes nothing.
    fn documents(&self, changes: Vec<DocumentChange>) -> Vec<DocumentChange> {
        let changes = changes.into_iter().filter(|_| self.role != Some(Role::Validator));
        let in_root =
            |it: DocumentChange| DocumentChange { path: it.path.in_directory(&self.package), ..it };
        changes.map(in_root).collect()
    }

    /// The selected items, to be given to the function. A validator does not replace them, so it shares them.
    fn take_items(&self, items: &mut [Item], selected: &[usize]) -> Vec<Item> {
        let take = |at: &usize| match self.is_validator() {
            true => items[*at].clone(),
            false => {
                let unparsed = items[*at].unparsed();
                std::mem::replace(&mut items[*at], unparsed)
            }
        };
        selected.iter().map(take).collect()
    }

    /// Whether the function judges resources.
    pub fn is_validator(&self) -> bool {
        let is_builtin_validator =
            self.runner.builtin().is_some_and(|it| it.function.is_validator());
        is_builtin_validator || self.role == Some(Role::Validator)
    }

    /// A warning if the tag names no known release of the built-in function.
    fn unknown_tag(&self) -> Option<Diagnostic> {
        let release = self.runner.builtin().filter(|it| it.is_assumed)?;
        let warning = resolution::unknown_tag(Severity::Warning, release);
        Some(match &self.declared_at {
            Some(place) => place.locate(warning),
            None => warning,
        })
    }

    /// Errors for text that only Kubernetes reads, and that a validator would not see.
    fn hidden_text(&self, sent: &[&Item]) -> Vec<Diagnostic> {
        if !self.is_validator() {
            return Vec::new();
        }
        let located = |item: &Item, error: Diagnostic| match &item.path {
            Some(path) => error.in_file(path.as_str()),
            None => error,
        };
        let found = sent.iter().flat_map(|item| {
            let errors = kubernetes_reader::hidden_text(item.file()).into_iter();
            errors.map(|error| located(item, error))
        });
        found.collect()
    }

    fn record(&self) -> FunctionRecord {
        FunctionRecord {
            name: self.name.clone(),
            runtime: self.runtime,
            is_builtin: self.runner.builtin().is_some(),
            package: self.package.clone(),
            ..FunctionRecord::default()
        }
    }

    /// Decides whether the run failed. Errors among the results of a built-in function are a failure, as the exit code
    /// of a process is.
    fn judge(&self, run: &mut FunctionRun) {
        let results = &run.record.results;
        let errors = results.iter().filter(|it| it.severity == Severity::Error).count();
        let is_external = matches!(self.runner, Runner::External(_));
        if run.errors.is_empty() && errors > 0 && !is_external {
            run.errors.push(Diagnostic::error(RunKind::ErrorResults { count: errors }));
            run.exit_code = Some(1);
        }
        let counts = |severity| results.iter().any(|result| result.severity >= severity);
        if let Some(severity) = self.fail_on.filter(|it| run.errors.is_empty() && counts(*it)) {
            run.errors.push(Diagnostic::error(RunKind::FailOn { severity: severity.name() }));
        }
        if !run.errors.is_empty() {
            run.status = RunStatus::Failed;
            run.stops_pipeline = !self.defers_failure;
            run.record.exit_code = run.exit_code.filter(|code| *code != 0).unwrap_or(1);
        }
        run.errors =
            std::mem::take(&mut run.errors).into_iter().map(|it| self.locate(it)).collect();
    }

    /// Names the file of an error about the functionConfig. One without a file is part of the declaration.
    fn locate(&self, mut error: Diagnostic) -> Diagnostic {
        if error.location.is_none() || error.file.is_some() {
            return error;
        }
        match (&self.config_file, &self.declared_at) {
            (Some(file), _) => error.in_file(file.as_str()),
            (None, Some(place)) => {
                let place = self.inline_site(&error).unwrap_or(place);
                error.location = None;
                place.locate(error)
            }
            (None, None) => error,
        }
    }

    /// Where the entry of an inline functionConfig is declared that an error is about.
    fn inline_site(&self, error: &Diagnostic) -> Option<&DeclarationSite> {
        let (config, at) = (self.config.as_ref()?, error.location.as_ref()?);
        let data = config.resource().node.as_mapping()?.get("data")?.as_mapping()?;
        let keys = data.entries().map(|entry| entry.key.position()).zip(&self.config_sites);
        let (key, (key_site, value_site)) =
            keys.take_while(|(key, _)| key.line <= at.line).last()?;
        let is_key = (key.line, key.column) == (at.line, at.column);
        Some(if is_key { key_site } else { value_site })
    }

    /// The items after the run: returned ones at the positions of those that were sent.
    fn place(
        &self,
        mut returned: Returned,
        items: &[Item],
        selected: &[usize],
        sent: &[&Item],
        run: &mut FunctionRun,
    ) -> Vec<Item> {
        if self.role == Some(Role::Validator) {
            if !returned.is_unchanged(sent) {
                let warning = Diagnostic::warning(RunKind::ValidatorChangedResources);
                run.warnings.push(match &self.declared_at {
                    Some(place) => place.locate(warning),
                    None => warning,
                });
            }
            return items.to_vec();
        }
        let directory = if self.package.is_empty() { &self.scope } else { &self.package };
        // Of the root package, paths are assigned when the files are assembled.
        if !directory.is_empty() {
            Placement::assign_paths(&mut returned.items, items, directory, &[]);
        }
        reorder::merge(items, selected, returned)
    }
}

fn references<'a>(items: &'a [Item], selected: &[usize]) -> Vec<&'a Item> {
    selected.iter().map(|at| &items[*at]).collect()
}

impl Returned {
    fn is_unchanged(&self, sent: &[&Item]) -> bool {
        let is_same = |(from, item): (&Option<usize>, &Item)| {
            from.is_some_and(|at| item.is_unchanged(sent[at]))
        };
        self.items.len() == sent.len() && self.from.iter().zip(&self.items).all(is_same)
    }
}

#[cfg(test)]
mod tests;
