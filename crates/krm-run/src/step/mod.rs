//! One function on a list of items: what it is sent, what becomes of the items, and what it has to say.
//!
//! ```
//! use krm_core::functions::resource_list::Item;
//! use krm_run::{Interrupt, Runner, Step};
//!
//! let step = Step::new(Runner::Builtin(krm_catalog::find("no-op").expect("it is built in")));
//! let items = vec![Item::parse("apiVersion: v1\nkind: Pod\n".to_owned())?];
//! let done = step.run(items, |_| true, &Interrupt::new()).expect("it does nothing");
//! assert_eq!(done.items.len(), 1);
//! # Ok::<(), krm_core::Diagnostic>(())
//! ```

mod homes;
mod in_process;
mod outside;
mod slots;

use std::sync::Arc;
use std::time::Duration;

use krm_catalog::Builtin;
use krm_core::functions::resource_list::{FunctionResult, Item, Version};
use krm_core::{Diagnostic, Severity};
use krm_sdk::{Error, ResourceList};

use crate::failure::one_line;
use crate::{Function, Image, Interrupt, Limits, Tail};

/// What runs a function.
pub enum Runner {
    /// It is built in, and works on the items themselves.
    Builtin(&'static Builtin),
    /// A script that runs inside krm, and works on the items themselves.
    Script(Script),
    /// It is somewhere else, and gets a text.
    Outside(Box<dyn Function>),
}

/// A script with what runs it.
pub struct Script {
    /// What people call it.
    pub name: String,
    /// Runs it.
    pub run: Arc<RunScript>,
}

/// What runs a script.
pub type RunScript = dyn Fn(&mut ResourceList) -> Result<(), Error> + Send + Sync;

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Runner {
    fn name(&self) -> &str {
        match self {
            Self::Builtin(builtin) => builtin.name,
            Self::Script(script) => &script.name,
            Self::Outside(function) => function.name(),
        }
    }
}

/// One function of a pipeline.
#[derive(Debug)]
pub struct Step {
    /// What runs it.
    pub runner: Runner,
    /// What people call it.
    pub name: String,
    /// The file and the line that ask for it, as people know them: `app/Kptfile:12`.
    pub declared_at: Option<String>,
    /// The folder of the package that asks for it; empty for the root. The function knows paths relative to it.
    pub folder: String,
    /// What it is told.
    pub config: Option<Item>,
    /// Whether it only looks: what it changes is dropped.
    pub is_validator: bool,
    /// Whether the rest of the pipeline runs where it fails, with what it gave.
    pub defers_failure: bool,
    /// The version of the list that it is sent.
    pub version: Version,
    /// What it may take.
    pub limits: Limits,
}

/// What came of a step that went well, or whose failure is deferred.
#[derive(Debug, Default)]
pub struct Stepped {
    /// All items, those that the function did not get among them.
    pub items: Vec<Item>,
    /// Items that the function got and did not give back.
    pub gone: Vec<Item>,
    /// What the function has to say; files are named from the root.
    pub results: Vec<FunctionResult>,
    /// What is good to know.
    pub warnings: Vec<Diagnostic>,
    /// The end of its standard error.
    pub stderr: Tail,
    /// From start to end.
    pub time: Duration,
    /// The image that ran, for a container.
    pub image: Option<Image>,
    /// Why it failed, where the rest runs all the same.
    pub failure: Option<Box<StepFailure>>,
}

/// A step that failed. Nothing of what it gave is taken.
#[derive(Debug)]
pub struct StepFailure {
    /// Why, without the name of the function; nothing where errors among the results are all there is to say.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether these words say what the function did (`ended with exit code 1`), and follow its name.
    pub is_deed: bool,
    /// What the function has to say all the same; files are named from the root.
    pub results: Vec<FunctionResult>,
    /// What is good to know.
    pub warnings: Vec<Diagnostic>,
    /// The end of its standard error.
    pub stderr: Tail,
    /// From start to end.
    pub time: Duration,
    /// The image that ran, for a container.
    pub image: Option<Image>,
    /// Its exit code, where it had one.
    pub exit_code: Option<i32>,
    /// Whether it is a validator that did its work and found errors.
    pub is_finding: bool,
}

/// Words about a function, with its name before them.
///
/// ```
/// use krm_core::Diagnostic;
///
/// let told = krm_run::named("sort", Diagnostic::untyped_warning("it is a validator"), false);
/// assert_eq!(told.message(), "function `sort`: it is a validator");
/// ```
pub fn named(name: &str, mut told: Diagnostic, is_deed: bool) -> Diagnostic {
    let between = if is_deed { "" } else { ":" };
    let message = format!("function `{}`{between} {}", one_line(name), told.message());
    told.set_untyped(message);
    told
}

impl StepFailure {
    /// Why it failed, in words that name the function.
    pub fn told(&self, name: &str) -> Vec<Diagnostic> {
        if !self.diagnostics.is_empty() {
            let told = self.diagnostics.iter();
            return told.map(|it| named(name, it.clone(), self.is_deed)).collect();
        }
        let errors = self.results.iter().filter(|it| it.severity == Severity::Error).count();
        let found = if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") };
        vec![named(name, Diagnostic::untyped_error(format!("found {found}")), true)]
    }

    fn new(diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            diagnostics,
            is_deed: false,
            results: Vec::new(),
            warnings: Vec::new(),
            stderr: Tail::default(),
            time: Duration::ZERO,
            image: None,
            exit_code: None,
            is_finding: false,
        }
    }
}

/// What a function made of the items that it got.
#[derive(Default)]
struct Made {
    items: Vec<Item>,
    /// For each item, which of those that it got it is.
    from: Vec<Option<usize>>,
    results: Vec<FunctionResult>,
    warnings: Vec<Diagnostic>,
    stderr: Tail,
    time: Duration,
    image: Option<Image>,
    failure: Option<Box<StepFailure>>,
}

impl Step {
    /// A step that changes items of the root package, without any configuration.
    pub fn new(runner: Runner) -> Self {
        Self {
            name: runner.name().to_owned(),
            runner,
            declared_at: None,
            folder: String::new(),
            config: None,
            is_validator: false,
            defers_failure: false,
            version: Version::default(),
            limits: Limits::default(),
        }
    }

    /// Starts ahead what can be started before the items are known; see [`Function::start`].
    pub fn start(&self) {
        if let Runner::Outside(function) = &self.runner {
            function.start(&self.limits);
        }
    }

    /// Runs the function on the items that are wanted. The others stay where they are among them.
    ///
    /// # Errors
    /// Where the function fails or its answer cannot be taken. One whose failure is deferred fails in [`Stepped::failure`].
    pub fn run(
        &self,
        items: Vec<Item>,
        wanted: impl Fn(&Item) -> bool,
        interrupt: &Interrupt,
    ) -> Result<Stepped, Box<StepFailure>> {
        let chosen: Vec<usize> = (0..items.len()).filter(|at| wanted(&items[*at])).collect();
        let sent: Vec<&Item> = chosen.iter().map(|at| &items[*at]).collect();
        let made = match &self.runner {
            Runner::Builtin(builtin) => {
                let builtin = *builtin;
                in_process::run(self, move |list| builtin.call(list), &sent, interrupt)
            }
            Runner::Script(script) => {
                let run = Arc::clone(&script.run);
                in_process::run(self, move |list| run(list), &sent, interrupt)
            }
            Runner::Outside(function) => outside::run(self, &**function, &sent, interrupt),
        };
        let made = match made {
            Ok(made) => self.judged(made),
            Err(failure) => Err(failure),
        };
        let mut made = match made.map_err(|failure| Box::new(self.told(*failure))) {
            Ok(made) => made,
            Err(failure) if self.defers_failure => {
                return Ok(Stepped { items, failure: Some(failure), ..Stepped::default() });
            }
            Err(failure) => return Err(failure),
        };
        made.results.iter_mut().for_each(|result| self.name_from_root(result));
        made.failure = made.failure.map(|failure| Box::new(self.told(*failure)));
        if self.is_validator {
            made = self.without_changes(made, &sent);
        }
        homes::give(&mut made, &items, &self.folder);
        let gone = slots::gone(&made, &sent);
        let items = slots::fill(&items, &chosen, made.items, &made.from);
        let Made { results, mut warnings, stderr, time, image, failure, .. } = made;
        warnings.iter_mut().for_each(|warning| self.declare(warning));
        Ok(Stepped { items, gone, results, warnings, stderr, time, image, failure })
    }

    /// A built-in function that ended with errors among its results has failed, as a program does with its exit code.
    fn judged(&self, mut made: Made) -> Result<Made, Box<StepFailure>> {
        let errors = made.results.iter().filter(|it| it.severity == Severity::Error).count();
        if errors == 0 || matches!(self.runner, Runner::Outside(_)) {
            return Ok(made);
        }
        let mut failure = Box::new(StepFailure::new(Vec::new()));
        failure.exit_code = Some(1);
        failure.is_finding = self.is_validator;
        failure.time = made.time;
        failure.results = made.results.clone();
        if self.defers_failure {
            made.failure = Some(failure);
            return Ok(made);
        }
        failure.warnings = made.warnings;
        Err(failure)
    }

    /// A failure with the names that people know things by.
    fn told(&self, mut failure: StepFailure) -> StepFailure {
        failure.results.iter_mut().for_each(|result| self.name_from_root(result));
        let told = failure.diagnostics.iter_mut().chain(&mut failure.warnings);
        told.for_each(|it| self.declare(it));
        failure
    }

    /// Says who asks for the function.
    fn declare(&self, diagnostic: &mut Diagnostic) {
        if let Some(place) = &self.declared_at {
            diagnostic.hints.push(format!("it is declared in {place}"));
        }
    }

    fn name_from_root(&self, result: &mut FunctionResult) {
        if let Some(file) = result.file.as_mut().filter(|_| !self.folder.is_empty()) {
            file.path = format!("{}/{}", self.folder, file.path);
        }
    }

    /// What a validator gave, but for what it changed.
    fn without_changes(&self, mut made: Made, sent: &[&Item]) -> Made {
        let is_same = made.items.len() == sent.len()
            && made
                .from
                .iter()
                .zip(&made.items)
                .all(|(from, item)| from.is_some_and(|at| item.is_unchanged(sent[at])));
        if !is_same {
            let words = "it is a validator, and what it changed in resources is dropped";
            made.warnings.push(Diagnostic::untyped_warning(words));
        }
        made.items = sent.iter().map(|item| (*item).clone()).collect();
        made.from = (0..sent.len()).map(Some).collect();
        made
    }
}

#[cfg(test)]
mod tests;
