//! A corpus case: a package directory with `.expected/`, the command to run on it, and its result.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use krm_yaml::{File, NodeRef};

/// The files of a directory by name.
pub(crate) type Files = BTreeMap<String, String>;

/// A case in the layout of kpt's tests.
pub(crate) struct Case {
    /// The path of the case below the corpora.
    pub(crate) name: String,
    directory: PathBuf,
    config: Config,
}

/// `.expected/config.yaml`, without the keys for messages of kpt.
#[derive(Debug, Default)]
struct Config {
    is_eval: bool,
    exit_code: i64,
    std_err: String,
    allow_exec: bool,
    allow_network: bool,
    network: bool,
    include_meta: bool,
    image: Option<String>,
    exec: Option<String>,
    tag: Option<String>,
    pull: Option<String>,
    fn_config: Option<String>,
    args: Vec<String>,
}

/// The result of a case.
pub(crate) struct CaseRun {
    pub(crate) before: Files,
    pub(crate) golden: Files,
    /// Why the expected patch does not apply to the package.
    pub(crate) stale: Option<String>,
    pub(crate) after: Files,
    /// The files after the same command ran again.
    pub(crate) again: Files,
    pub(crate) exit: i32,
    pub(crate) exit_again: i32,
    pub(crate) output: String,
    /// The results file that was written, and the expected one.
    pub(crate) results: Option<String>,
    pub(crate) golden_results: Option<String>,
}

/// All cases below a directory, by name.
pub(crate) fn all(corpora: &Path) -> Vec<Case> {
    let (mut cases, mut open) = (Vec::new(), vec![corpora.to_owned()]);
    while let Some(directory) = open.pop() {
        if directory.join(".expected").is_dir() {
            let name = directory.strip_prefix(corpora).unwrap().to_str().unwrap().to_owned();
            let config = Config::read(&directory.join(".expected/config.yaml"));
            cases.push(Case { name, config, directory });
            continue;
        }
        let entries = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
        open.extend(entries.filter(|path| path.is_dir() && !path.is_symlink()));
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

impl Case {
    /// Whether the command is expected to fail.
    pub(crate) fn expects_failure(&self) -> bool {
        self.config.exit_code != 0
    }

    /// Runs the case twice, in a temporary directory with the name of the case.
    pub(crate) fn run(&self, krm: &Path) -> CaseRun {
        let sandbox = tempfile::Builder::new().prefix("krm-corpora-").tempdir().unwrap();
        let own_name = self.directory.file_name().unwrap();
        let package = sandbox.path().join("package").join(own_name);
        let golden = sandbox.path().join("golden").join(own_name);
        for copy in [&package, &golden] {
            copy_directory(&self.directory, copy);
        }
        let (patch, mut stale) = (self.directory.join(".expected/diff.patch"), None);
        if fs::metadata(&patch).is_ok_and(|it| it.len() > 0) {
            let patch = patch.to_str().unwrap();
            let args = ["apply", "--whitespace=nowarn", "--unsafe-paths", patch];
            let applied = Command::new("git").args(args).current_dir(&golden).output().unwrap();
            stale = (!applied.status.success())
                .then(|| String::from_utf8_lossy(&applied.stderr).into_owned());
        }
        let (before, golden) = (files(&package), files(&golden));
        self.script("setup.sh", &package, krm);
        let results = sandbox.path().join("results");
        let deletes = documents(&golden) < documents(&before);
        let (exit, output) = self.command(&package, &results, deletes, krm);
        let after = files(&package);
        let results_text = fs::read_to_string(results.join("results.yaml")).ok();
        let _ = fs::remove_dir_all(&results);
        let (exit_again, _) = self.command(&package, &results, deletes, krm);
        self.script("teardown.sh", &package, krm);
        CaseRun {
            again: files(&package),
            before,
            golden,
            stale,
            after,
            exit,
            exit_again,
            output,
            results: results_text,
            golden_results: fs::read_to_string(self.directory.join(".expected/results.yaml")).ok(),
        }
    }

    fn command(&self, package: &Path, results: &Path, deletes: bool, krm: &Path) -> (i32, String) {
        if let Some(ran) = self.script("exec.sh", package, krm) {
            return ran;
        }
        let mut command = Command::new(krm);
        command.arg("fn").arg(if self.config.is_eval { "eval" } else { "render" });
        command.arg(package).arg("--results-dir").arg(results);
        command.args(deletes.then_some("--allow-delete"));
        command.args(self.config.std_err.contains("only KRM resources").then_some("--strict"));
        self.config.flags(&mut command, &self.directory);
        let ran = command.current_dir(package.parent().unwrap()).output().unwrap();
        let output = [ran.stdout, ran.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        (ran.status.code().unwrap_or(-1), output.concat())
    }

    /// Runs a script of the case, in which `kpt` is the program under test.
    fn script(&self, name: &str, package: &Path, krm: &Path) -> Option<(i32, String)> {
        let script = self.directory.join(".expected").join(name);
        if !script.exists() {
            return None;
        }
        let bin = package.parent().unwrap().with_file_name("bin");
        fs::create_dir_all(&bin).unwrap();
        let _ = std::os::unix::fs::symlink(krm, bin.join("kpt"));
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("bash");
        let ran = command.arg(script).current_dir(package).env("PATH", path).output().unwrap();
        let output = [ran.stdout, ran.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        Some((ran.status.code().unwrap_or(-1), output.concat()))
    }
}

impl Config {
    fn read(path: &Path) -> Self {
        let Ok(text) = fs::read_to_string(path) else { return Self::default() };
        let file = File::parse(text).unwrap();
        let Some(root) = file.document(0).and_then(|it| it.root()) else { return Self::default() };
        let text = |name: &str| {
            let node = root.as_mapping()?.get(name)?;
            node.as_scalar().map(|scalar| scalar.value().into_owned())
        };
        let is = |name: &str| text(name).as_deref() == Some("true");
        let args = root.as_mapping().and_then(|it| it.get("args")).and_then(NodeRef::as_mapping);
        let pair = |entry: krm_yaml::Entry<'_>| {
            let [key, value] = [entry.key, entry.value].map(|it| it.as_scalar().unwrap().value());
            format!("{key}={value}")
        };
        Self {
            is_eval: text("testType").as_deref() == Some("eval"),
            exit_code: text("exitCode").map_or(0, |it| it.parse().unwrap()),
            std_err: text("stdErr").unwrap_or_default(),
            allow_exec: is("allowExec"),
            allow_network: is("allowNetwork"),
            network: is("network"),
            include_meta: is("includeMetaResources"),
            image: text("image"),
            exec: text("execPath"),
            tag: text("tag"),
            pull: text("imagePullPolicy"),
            fn_config: text("fnConfig"),
            args: args.into_iter().flat_map(|it| it.entries()).map(pair).collect(),
        }
    }

    fn flags(&self, command: &mut Command, directory: &Path) {
        let switches = [
            (self.allow_exec && !self.is_eval, "--allow-exec"),
            (self.allow_network && !self.is_eval, "--allow-network"),
            (self.network, "--network"),
            (self.include_meta, "--include-meta-resources"),
        ];
        command.args(switches.into_iter().filter(|(on, _)| *on).map(|(_, flag)| flag));
        let config = self.fn_config.as_ref().map(|it| directory.join(".expected").join(it));
        let config = config.map(|it| it.to_str().unwrap().to_owned());
        let valued = [
            ("--image", &self.image),
            ("--exec", &self.exec),
            ("--tag", &self.tag),
            ("--image-pull-policy", &self.pull),
            ("--fn-config", &config),
        ];
        for (flag, value) in valued {
            command.args(value.iter().flat_map(|value| [flag, value.as_str()]));
        }
        if !self.args.is_empty() {
            command.arg("--").args(&self.args);
        }
    }
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy_directory(&path, &target),
            // Copies the content and the executable bit only, as the original may be read-only.
            false => {
                let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o100;
                fs::write(&target, fs::read(&path).unwrap()).unwrap();
                fs::set_permissions(target, fs::Permissions::from_mode(0o644 | mode)).unwrap();
            }
        }
    }
}

/// The files of a directory, without `.expected/`.
fn files(directory: &Path) -> Files {
    let (mut all, mut open) = (Files::new(), vec![directory.to_owned()]);
    while let Some(below) = open.pop() {
        for entry in fs::read_dir(&below).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
            match path.is_dir() {
                true if name == ".expected" => {}
                true => open.push(path),
                false => {
                    let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                    all.insert(name, text);
                }
            }
        }
    }
    all
}

fn documents(files: &Files) -> usize {
    let texts = files.iter().filter(|(name, _)| super::compare::is_yaml(name));
    let count = |text: &String| {
        let file = File::parse(text.clone()).ok()?;
        Some(file.documents().filter(|it| it.root().is_some()).count())
    };
    texts.filter_map(|(_, text)| count(text)).sum()
}
