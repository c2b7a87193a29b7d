//! Resolves every function of a tree of packages before anything runs.
//!
//! A pipeline that fails at its last image, because there is no container engine, has run everything before it for nothing. So what can
//! be known without running a function is checked first, for all functions, and all that cannot run are reported at once.

use krm_core::Diagnostic;
use krm_core::functions::PackageTree;
use krm_core::functions::kptfile::{Function, Program};

use super::render::Renderer;
use crate::runtime_factory::suggest_builtin;
use crate::{DeclaredBy, FunctionRun, Resolved, RunStatus, RuntimeRequest};

impl Renderer {
    /// The runs of a pipeline of which a function cannot run: that function has failed, and the others did not start. None if all of
    /// them can run.
    ///
    /// A function with a condition may not run at all and is not checked, and neither are Wasm modules, which would be compiled twice.
    pub(super) fn preflight(&self, tree: &PackageTree) -> Option<Vec<FunctionRun>> {
        let mut packages: Vec<(usize, usize)> = tree.run_order().into_iter().zip(0..).collect();
        packages.sort_unstable();
        let functions: Vec<(&str, &Function)> = packages
            .into_iter()
            .map(|(_, at)| &tree.nodes()[at])
            .flat_map(|node| node.pipeline.functions().map(|it| (node.root.as_str(), it)))
            .collect();
        let checked: Vec<_> = functions.iter().map(|it| self.check(it.0, it.1)).collect();
        // A container that starts at once reports by itself that the engine does not respond.
        let needs_engine =
            functions.len() > 1 && checked.iter().any(|it| matches!(it, Ok(Kind::Container(_))));
        let engine = if needs_engine { self.factory.check_engine(&self.interrupt) } else { Ok(()) };
        let checked: Vec<_> = checked
            .into_iter()
            .map(|kind| match (kind, &engine) {
                (Ok(Kind::Container(image)), Err(error)) => {
                    Err(Box::new(suggest_builtin(error.clone(), &image)))
                }
                (kind, _) => kind,
            })
            .collect();
        if checked.iter().all(Result::is_ok) {
            return None;
        }
        let runs = functions.into_iter().zip(checked);
        Some(runs.map(|((package, it), kind)| self.resolved(package, it, kind)).collect())
    }

    fn check(&self, package: &str, function: &Function) -> Result<Kind, Box<Diagnostic>> {
        if function.condition.is_some() || matches!(function.program, Program::Wasm(_)) {
            return Ok(Kind::Other);
        }
        let (program, tag) = (&function.program, function.tag.as_deref());
        let directory = self.directory.join(package);
        let request = RuntimeRequest {
            network: self.factory.permissions.allow_network,
            declared_by: DeclaredBy::package(&directory),
            package_directory: Some(directory),
            ..RuntimeRequest::default()
        };
        self.factory.program(program, tag, &request)?;
        match program {
            Program::Image(image) => match self.factory.resolution.resolve(image, tag)? {
                Resolved::Builtin(_) => Ok(Kind::Builtin),
                Resolved::Container(image) => Ok(Kind::Container(image)),
            },
            Program::Exec(_) | Program::Wasm(_) => Ok(Kind::Other),
        }
    }

    /// The run of a function that was resolved, and did not start.
    fn resolved(
        &self,
        package: &str,
        function: &Function,
        kind: Result<Kind, Box<Diagnostic>>,
    ) -> FunctionRun {
        let mut record = self.record(package, function);
        let run = match kind {
            Ok(kind) => {
                record.is_builtin = kind == Kind::Builtin;
                FunctionRun { record, status: RunStatus::NotStarted, ..FunctionRun::default() }
            }
            Err(error) => FunctionRun::not_run(record, *error),
        };
        let (role, declared_at) = (Some(function.role), Some(function.place.clone()));
        FunctionRun { role, declared_at, ..run }
    }
}

/// What a function resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Builtin,
    /// With the full name of the image.
    Container(String),
    Other,
}
