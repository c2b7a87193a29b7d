//! Charts for `render-helm-chart`: `helm` runs as a process of its own on a copy of the chart, without the user's configuration.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use krm_catalog::render_helm_chart::{CHART, Helm, HelmCommand};
use krm_catalog::{BuiltinRelease, Host};
use krm_core::Diagnostic;
use krm_sdk::ResourceList;

use crate::execution::diagnostic;
use crate::package_files::{LocatedFile, PackageFiles};
use crate::step::CallOutput;
use crate::{
    Environment, Interrupt, Invocation, Limits, RegularFileError, RunKind, process,
    read_regular_file,
};

/// The name of the program.
const HELM: &str = "helm";

/// How much of a chart is copied at most: bytes, files and levels of directories.
const CHART_BYTES: u64 = 64 << 20;
const CHART_FILES: usize = 10_000;
const CHART_DEPTH: usize = 32;

/// The charts that one function may render.
#[derive(Clone, Debug)]
pub struct GrantedCharts {
    pub(crate) files: PackageFiles,
    /// The `helm` on PATH.
    program: PathBuf,
    environment: Environment,
}

impl GrantedCharts {
    /// Finds `helm`.
    ///
    /// # Errors
    /// If commands are not allowed, or there is no `helm` on PATH.
    pub(crate) fn new(
        files: PackageFiles,
        environment: Environment,
        allow_exec: bool,
    ) -> Result<Self, Diagnostic> {
        if !allow_exec {
            return Err(diagnostic(RunKind::ExecNotAllowed).note("the function runs `helm`"));
        }
        // Never in the package, which may come from elsewhere.
        let on_path = environment.search_path().into_iter().map(|directory| directory.join(HELM));
        let is_program =
            |path: &PathBuf| path.metadata().is_ok_and(|it| process::is_executable(&it));
        let program = on_path.into_iter().find(is_program).ok_or_else(|| {
            let searched = "on PATH".to_owned();
            diagnostic(RunKind::CommandNotFound { searched })
                .context("`helm`")
                .hint("install helm 3, for example from your package manager")
        })?;
        Ok(Self { files, program, environment })
    }

    /// Runs the function on this thread, which waits for `helm`.
    pub(crate) fn call(
        &self,
        builtin: BuiltinRelease,
        mut list: ResourceList,
        limits: &Limits,
        interrupt: &Interrupt,
    ) -> CallOutput {
        let helm = HelmProcess { charts: self, limits: *limits, interrupt: interrupt.clone() };
        let result = catch_unwind(AssertUnwindSafe(|| {
            builtin.call_with(&mut list, Host { helm: &helm, ..Host::default() })
        }));
        (result, list)
    }
}

/// Runs `helm` within the limits of a function.
struct HelmProcess<'c> {
    charts: &'c GrantedCharts,
    limits: Limits,
    interrupt: Interrupt,
}

impl Helm for HelmProcess<'_> {
    fn read(&self, path: &str) -> Result<Option<String>, Diagnostic> {
        let located = self.charts.files.locate_from_root(path).map_err(refused)?;
        let failed =
            |reason: String| diagnostic(RunKind::CannotReadFile { path: path.to_owned(), reason });
        match read_regular_file(&located.path, CHART_BYTES) {
            Ok(bytes) => {
                String::from_utf8(bytes).map(Some).map_err(|_| failed("not valid UTF-8".to_owned()))
            }
            Err(RegularFileError::Io(error))
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(error) => Err(failed(reason(error))),
        }
    }

    fn run(&self, command: &HelmCommand) -> Result<String, Diagnostic> {
        let located = self.charts.files.locate_from_root(&command.chart).map_err(refused)?;
        let cannot_start = |error: std::io::Error| {
            diagnostic(RunKind::CannotStart { reason: error.to_string() }).context("`helm`")
        };
        let temporary = match self.charts.environment.get("TMPDIR") {
            Some(directory) => PathBuf::from(directory),
            None => std::env::temp_dir(),
        };
        let temporary = tempfile::Builder::new()
            .prefix("krm-helm-")
            .tempdir_in(temporary)
            .map_err(cannot_start)?;
        let directory = temporary.path();
        ChartCopy::new(&command.chart, &located).copy(&located.path, &directory.join(CHART), 0)?;
        for (index, text) in command.values.iter().enumerate() {
            let path = directory.join(HelmCommand::values_file(index));
            fs::write(path, text).map_err(cannot_start)?;
        }
        let mut helm = Command::new(&self.charts.program);
        helm.args(&command.arguments).current_dir(directory).env_clear();
        helm.envs(variables(directory).map_err(cannot_start)?);
        let mut invocation = Invocation {
            limits: self.limits,
            interrupt: self.interrupt.clone(),
            ..Invocation::new(b"")
        };
        let mut execution = process::run(helm, &mut invocation).map_err(cannot_start)?;
        match execution.take_output() {
            Ok(output) => Ok(output),
            // A chart may render to nothing.
            Err(RunKind::EmptyOutput) => Ok(String::new()),
            Err(error) => Err(execution.diagnose(error).context("`helm template`")),
        }
    }
}

/// The environment of `helm`: no configuration, no plugins, no repositories and no cluster of the user.
fn variables(directory: &Path) -> std::io::Result<Vec<(&'static str, OsString)>> {
    let home = directory.join("home");
    fs::create_dir(&home)?;
    let directories = ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "HELM_PLUGINS"];
    let mut variables = vec![("HOME", home.clone().into_os_string())];
    for name in directories {
        let path = home.join(name);
        fs::create_dir(&path)?;
        variables.push((name, path.into_os_string()));
    }
    variables.push(("TMPDIR", directory.as_os_str().to_owned()));
    variables.push(("KUBECONFIG", home.join("kubeconfig").into_os_string()));
    Ok(variables)
}

/// Copies a chart, so that `helm` cannot follow a symlink out of the package.
struct ChartCopy<'c> {
    name: &'c str,
    root: PathBuf,
    bytes: u64,
    files: usize,
}

impl<'c> ChartCopy<'c> {
    fn new(name: &'c str, located: &LocatedFile) -> Self {
        let root = located.root.canonicalize().unwrap_or_else(|_| located.root.clone());
        Self { name, root, bytes: CHART_BYTES, files: CHART_FILES }
    }

    fn copy(&mut self, from: &Path, to: &Path, depth: usize) -> Result<(), Diagnostic> {
        let inside = from.canonicalize().is_ok_and(|path| path.starts_with(&self.root));
        if !inside {
            let path = from.display().to_string();
            return Err(refused(RunKind::FileOutsidePackage { path }));
        }
        if depth > CHART_DEPTH {
            return Err(self.failed("its directories are nested too deep".to_owned()));
        }
        let io = |error: std::io::Error| {
            let (path, reason) = (from.display().to_string(), error.to_string());
            diagnostic(RunKind::CannotReadFile { path, reason })
        };
        if from.metadata().map_err(io)?.is_dir() {
            fs::create_dir(to).map_err(io)?;
            let mut entries = fs::read_dir(from).map_err(io)?;
            return entries.try_for_each(|entry| {
                let name = entry.map_err(io)?.file_name();
                self.copy(&from.join(&name), &to.join(&name), depth + 1)
            });
        }
        self.files = match self.files.checked_sub(1) {
            Some(left) => left,
            None => return Err(self.failed(format!("it has more than {CHART_FILES} files"))),
        };
        let bytes = read_regular_file(from, self.bytes).map_err(|error| {
            let path = from.display().to_string();
            diagnostic(RunKind::CannotReadFile { path, reason: reason(error) })
        })?;
        self.bytes -= bytes.len() as u64;
        fs::write(to, bytes).map_err(io)
    }

    fn failed(&self, reason: String) -> Diagnostic {
        diagnostic(RunKind::CannotReadFile { path: self.name.to_owned(), reason })
    }
}

fn reason(error: RegularFileError) -> String {
    match error {
        RegularFileError::Io(error) => error.to_string(),
        RegularFileError::NotRegular => "not a regular file".to_owned(),
        RegularFileError::TooLarge { .. } => {
            format!("the chart is larger than {} MiB", CHART_BYTES >> 20)
        }
    }
}

fn refused(error: RunKind) -> Diagnostic {
    diagnostic(error).hint("or mount a directory with `--mount type=bind,src=DIR,dst=PATH`")
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::{DeclaredBy, Mount};

    /// A package with a chart, and a program that stands for `helm`: it prints its arguments, its environment and its files.
    fn granted(root: &Path, script: &str) -> GrantedCharts {
        use std::os::unix::fs::PermissionsExt;
        let chart = root.join("package/charts/web/templates");
        fs::create_dir_all(&chart).unwrap();
        fs::create_dir(root.join("bin")).unwrap();
        fs::write(root.join("package/charts/web/Chart.yaml"), "name: web\n").unwrap();
        fs::write(chart.join("a.yaml"), "a: {{ .Values.a }}\n").unwrap();
        let program = root.join("bin/helm");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let files = PackageFiles {
            package: Some(DeclaredBy::package(root.join("package"))),
            mounts: vec![Mount::bind(root.join("package/charts"), "/tmp/charts")],
            working_directory: root.to_owned(),
        };
        let variables = [("PATH", root.join("bin")), ("SECRET", root.to_owned())];
        GrantedCharts::new(files, Environment::from_iter(variables), true).unwrap()
    }

    fn process(charts: &GrantedCharts) -> HelmProcess<'_> {
        let limits = Limits { time: std::time::Duration::from_secs(5), ..Limits::default() };
        HelmProcess { charts, limits, interrupt: Interrupt::new() }
    }

    fn command(chart: &str) -> HelmCommand {
        let arguments = ["template", "--values=values-0.yaml", "--", CHART].map(str::to_owned);
        HelmCommand {
            chart: chart.to_owned(),
            values: vec!["{\"a\":1}".to_owned()],
            arguments: arguments.to_vec(),
        }
    }

    #[test]
    fn helm_sees_a_copy_of_the_chart_and_nothing_of_the_user() {
        let temporary = tempfile::tempdir().unwrap();
        let script = "echo \"# $*\"\ncase $HOME in \"$PWD\"/*) ;; *) exit 3;; esac\n[ -z \"$SECRET\" ] || exit 4\n/bin/cat values-0.yaml chart/Chart.yaml chart/templates/a.yaml";
        let charts = granted(temporary.path(), script);
        let expected = "# template --values=values-0.yaml -- ./chart\n{\"a\":1}name: web\na: {{ .Values.a }}\n";
        for chart in ["charts/web", "tmp/charts/web", "/tmp/charts/web"] {
            assert_eq!(process(&charts).run(&command(chart)).unwrap(), expected, "{chart}");
        }
        assert_eq!(process(&charts).read("charts/web/Chart.yaml").unwrap().unwrap(), "name: web\n");
        assert_eq!(process(&charts).read("charts/db/Chart.yaml").unwrap(), None);
        assert!(process(&charts).read("../bin/helm").is_err());
    }

    #[test]
    fn failures_quote_what_helm_printed() {
        let temporary = tempfile::tempdir().unwrap();
        let charts = granted(temporary.path(), "echo 'Error: no such value' >&2\nexit 1");
        let error = process(&charts).run(&command("charts/web")).unwrap_err();
        assert_eq!(error.message(), "`helm template`: exited with code 1");
        assert!(format!("{error:?}").contains("no such value"), "{error:?}");
    }

    #[test]
    fn helm_is_killed_at_the_time_limit() {
        let temporary = tempfile::tempdir().unwrap();
        let charts = granted(temporary.path(), "/bin/sleep 60 & /bin/sleep 60");
        let limits = Limits { time: std::time::Duration::from_millis(200), ..Limits::default() };
        let helm = HelmProcess { limits, ..process(&charts) };
        let error = helm.run(&command("charts/web")).unwrap_err();
        assert!(matches!(error.kind(), Some(RunKind::Timeout { .. })), "{error:?}");
    }

    #[test]
    fn symlinks_out_of_the_package_are_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let charts = granted(temporary.path(), "/bin/cat chart/templates/secret");
        fs::write(temporary.path().join("secret"), "hush").unwrap();
        let link = temporary.path().join("package/charts/web/templates/secret");
        std::os::unix::fs::symlink("../../../../secret", &link).unwrap();
        let error = process(&charts).run(&command("charts/web")).unwrap_err();
        assert!(matches!(error.kind(), Some(RunKind::FileOutsidePackage { .. })), "{error:?}");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("..", &link).unwrap();
        let error = process(&charts).run(&command("charts/web")).unwrap_err();
        assert!(matches!(error.kind(), Some(RunKind::CannotReadFile { .. })), "{error:?}");
    }

    #[test]
    fn helm_needs_a_permission_and_must_be_on_the_path() {
        let files =
            PackageFiles { package: None, mounts: Vec::new(), working_directory: "/".into() };
        let empty = Environment::from_iter([("PATH", "/nowhere")]);
        let error = GrantedCharts::new(files.clone(), empty.clone(), false).unwrap_err();
        assert!(matches!(error.kind(), Some(RunKind::ExecNotAllowed)), "{error:?}");
        let error = GrantedCharts::new(files, empty, true).unwrap_err();
        assert_eq!(error.message(), "`helm`: command not found on PATH");
    }
}
