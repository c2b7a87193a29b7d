//! Every runtime of images that this machine has: what a function sees from inside its container, and that no container is left behind.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use krm_run::{
    Container, ContainerSettings, Engine, Environment, Execution, Function, Image, ImageStore,
    Interrupt, Invocation, Limits, Mount, Network, Pull, RunKind, Sandbox, UnpackedImage, User,
    check_runtimes,
};

use crate::programs::{Checked, INPUT, Scripts, probe, skipped, static_probe};
use crate::stopping::wait_until;

const IMAGE: &str = "krm-run-tests:probe";

/// What runs the image of the probe.
enum Runtime {
    Engine(Engine),
    /// A sandbox with this name, and whether it limits memory and processes of a function as a whole.
    Sandbox(&'static str, Sandbox, bool),
}

impl Runtime {
    fn name(&self) -> &'static str {
        match self {
            Self::Engine(engine) => engine.name(),
            Self::Sandbox(name, ..) => name,
        }
    }

    fn container(&self, image: &str, settings: ContainerSettings) -> Box<dyn Function> {
        match self {
            Self::Engine(engine) => {
                Box::new(Container::new(image, engine.clone(), settings).unwrap())
            }
            Self::Sandbox(name, sandbox, _) => {
                sandbox.function(image, name, settings, &environment()).unwrap()
            }
        }
    }

    fn has_groups(&self) -> bool {
        matches!(self, Self::Engine(_) | Self::Sandbox(_, _, true))
    }
}

fn environment() -> Environment {
    Environment::from_iter(std::env::vars_os())
}

/// The runtimes that work here. Each test runs in all of them.
fn runtimes() -> &'static [Runtime] {
    static RUNTIMES: OnceLock<Vec<Runtime>> = OnceLock::new();
    RUNTIMES.get_or_init(|| {
        let mut runtimes = Vec::new();
        match start() {
            Ok(engine) => runtimes.push(Runtime::Engine(engine)),
            Err(why) => missing("containers", "KRM_REQUIRE_ENGINE", &why),
        }
        match sandboxes() {
            Ok(sandboxes) => runtimes.extend(sandboxes),
            Err(why) => missing("images without an engine", "KRM_REQUIRE_SANDBOX", &why),
        }
        runtimes
    })
}

/// Reports that a runtime is missing, which is an error where the variable is set.
fn missing(what: &str, variable: &str, why: &str) {
    assert!(std::env::var_os(variable).is_none(), "{variable} is set: {why}");
    skipped(what, why.lines().next().unwrap_or_default());
}

/// The image of the probe in a directory.
#[derive(Debug)]
struct Unpacked(tempfile::TempDir);

impl ImageStore for Unpacked {
    fn get(&self, name: &str, pull: Pull, _: &Interrupt) -> Result<UnpackedImage, RunKind> {
        match (name, pull) {
            (IMAGE, _) => Ok(UnpackedImage {
                root: self.0.path().canonicalize().unwrap(),
                image: Image { id: "sha256:probe".into(), digest: None },
                entrypoint: vec!["/probe".to_owned()],
                arguments: Vec::new(),
                variables: Vec::new(),
                working_directory: String::new(),
                lease: Box::new(()),
            }),
            (_, Pull::Never) => Err(RunKind::PullDisabled),
            _ => {
                let reason = "connection refused".to_owned();
                Err(RunKind::ImageUnavailable { reason, advice: String::new() })
            }
        }
    }
}

/// The sandboxes that work here. They need the example `serve`, which `cargo test` builds unless it is told to build one test only.
fn sandboxes() -> Result<Vec<Runtime>, String> {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().and_then(Path::parent).unwrap().join("examples/serve");
    if !program.is_file() {
        return Err("build it with `cargo build -p krm-run --example serve`".to_owned());
    }
    let root = root()?;
    // Whoever the function runs as must be able to enter.
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let sandbox = Sandbox::new(program, Arc::new(Unpacked(root)));
    let reports = check_runtimes(Some(&sandbox), &environment());
    let usable = reports.into_iter().filter(|it| it.is_usable);
    let made = usable.filter(|it| ["krm", "bubblewrap"].contains(&it.name)).map(|it| {
        Runtime::Sandbox(
            it.name,
            sandbox.clone(),
            it.detail.contains("control group") && !it.detail.contains("may not"),
        )
    });
    let made: Vec<Runtime> = made.collect();
    if made.is_empty() { Err("no sandbox can be built here".to_owned()) } else { Ok(made) }
}

fn start() -> Result<Engine, String> {
    if !cfg!(target_os = "linux") {
        return Err("the probe is a program for Linux only where this is Linux".to_owned());
    }
    let engine =
        Engine::find(None, &environment()).map_err(|error| format!("{error}: {error:?}"))?;
    import(&engine)?;
    Ok(engine)
}

/// The files of the image: one static program.
fn root() -> Result<tempfile::TempDir, String> {
    let root = tempfile::tempdir().unwrap();
    fs::copy(static_probe()?, root.path().join("probe")).unwrap();
    // World-writable: if writing fails, the container is isolated.
    fs::create_dir(root.path().join("open")).unwrap();
    fs::set_permissions(root.path().join("open"), fs::Permissions::from_mode(0o777)).unwrap();
    Ok(root)
}

/// Gives the image to an engine, without a registry.
fn import(engine: &Engine) -> Result<(), String> {
    let root = root()?;
    let archive = tempfile::NamedTempFile::new().unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(root.path()).arg("-cf").arg(archive.path()).arg(".");
    assert!(tar.status().unwrap().success());
    // The image of an earlier run would stay without a name.
    let _ = Command::new(engine.name()).args(["rmi", "--force", IMAGE]).output();
    let output = Command::new(engine.name())
        .args(["import", "--change", "ENTRYPOINT [\"/probe\"]"])
        .arg(archive.path())
        .arg(IMAGE)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn function(runtime: &Runtime, args: &[&str], settings: ContainerSettings) -> Box<dyn Function> {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    let settings = ContainerSettings { args, pull: Pull::Never, ..settings };
    runtime.container(IMAGE, settings)
}

fn run(runtime: &Runtime, args: &[&str], settings: ContainerSettings) -> Execution {
    function(runtime, args, settings).run(&mut Invocation::new(INPUT))
}

/// The facts that the probe prints, by name.
fn look(runtime: &Runtime, settings: ContainerSettings) -> BTreeMap<String, String> {
    let execution = run(runtime, &["look"], settings).succeeded();
    let facts = execution.text().lines().filter_map(|line| line.split_once(": "));
    facts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// A directory that everybody may write.
fn open_directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(directory.path().join("config.yaml"), "kind: Config\n").unwrap();
    directory
}

#[test]
fn environment_follows_the_specification() {
    for runtime in runtimes() {
        let directory = open_directory();
        let settings = ContainerSettings {
            local: Some(directory.path().into()),
            ..ContainerSettings::default()
        };
        let facts = look(runtime, settings);
        let fact = |name: &str| facts.get(name).map_or("missing", String::as_str);
        assert_eq!(fact("Uid"), "65534 65534 65534 65534");
        assert_eq!(fact("Gid"), "65534 65534 65534 65534");
        assert_eq!(fact("devices"), "lo");
        assert_eq!(fact("NoNewPrivs"), "1");
        for set in ["CapEff", "CapPrm", "CapBnd"] {
            assert_eq!(fact(set), "0000000000000000", "{set}");
        }
        assert_eq!(fact("write /open/"), "ReadOnlyFilesystem");
        assert_eq!(fact("write /local/"), "ReadOnlyFilesystem");
        assert_eq!(fact("write /tmp/"), "works");
        assert_eq!(fact("local"), "kind: Config");
        let variables: Vec<&str> =
            fact("variables").split(' ').filter_map(|it| it.split('=').next()).collect();
        // Engines set these for every container.
        let usual = ["HOME", "HOSTNAME", "PATH", "TERM", "container"];
        assert!(variables.iter().all(|name| usual.contains(name)), "{variables:?}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}

#[test]
fn input_and_output_pass_through() {
    for runtime in runtimes() {
        let input = "kind: List # größer\n".repeat(50_000);
        let function = function(runtime, &["upper"], ContainerSettings::default());
        let execution = function.run(&mut Invocation::new(input.as_bytes())).succeeded();
        assert!(execution.text() == input.to_uppercase(), "{} bytes", execution.text().len());
        let image = execution.image.unwrap();
        let Runtime::Engine(engine) = runtime else { continue };
        let known = Command::new(engine.name())
            .args(["images", "--no-trunc", "--quiet", IMAGE])
            .output()
            .unwrap();
        let known = String::from_utf8(known.stdout).unwrap();
        assert!(
            image.id.starts_with("sha256:")
                && known.contains(image.id.trim_start_matches("sha256:")),
            "{image}"
        );
    }
}

#[test]
fn each_permission_allows_one_thing() {
    for runtime in runtimes() {
        let closed = look(runtime, ContainerSettings::default());
        let differences = |settings: ContainerSettings| {
            let facts = look(runtime, settings);
            let changed = facts.into_iter().filter(|(name, value)| closed.get(name) != Some(value));
            // The engine gives each container a name.
            changed.filter(|(name, _)| name != "variables").collect::<Vec<_>>()
        };
        let writable = ContainerSettings { writable_root: true, ..ContainerSettings::default() };
        match runtime {
            Runtime::Sandbox("bubblewrap", sandbox, _) => {
                let refused = sandbox.function(IMAGE, "bubblewrap", writable, &environment());
                assert!(matches!(refused.err(), Some(RunKind::NoRuntime { .. })));
            }
            _ => {
                assert_eq!(
                    differences(writable),
                    [("write /open/".to_owned(), "works".to_owned())]
                );
            }
        }

        let open = ContainerSettings {
            network: Network::Host,
            allow_network: true,
            ..ContainerSettings::default()
        };
        let here = fs::read_to_string("/proc/net/dev").unwrap();
        let here: Vec<&str> =
            here.lines().skip(2).filter_map(|line| line.split(':').next()).map(str::trim).collect();
        if here != ["lo"] {
            assert_eq!(differences(open), [("devices".to_owned(), here.join(" "))]);
        }

        let user = look(
            runtime,
            ContainerSettings { user: User::Current, ..ContainerSettings::default() },
        );
        let me = Command::new("id").arg("-u").output().unwrap();
        let me = String::from_utf8(me.stdout).unwrap();
        assert_eq!(user["Uid"], [me.trim(); 4].join(" "));
        assert_eq!(
            (user["CapEff"].as_str(), user["NoNewPrivs"].as_str()),
            ("0000000000000000", "1")
        );
    }
}

#[test]
fn variables_and_mounts_are_passed() {
    for runtime in runtimes() {
        let directory = open_directory();
        let mount = |options: &str| {
            let text = format!("type=bind,src={},dst=/mine{options}", directory.path().display());
            vec![Mount::parse(&text, Path::new("/")).unwrap()]
        };
        let settings = |mounts| ContainerSettings {
            mounts,
            variables: ["GREETING=hello", "CARGO_MANIFEST_DIR"]
                .map(|text| text.parse().unwrap())
                .to_vec(),
            ..ContainerSettings::default()
        };
        let facts = look(runtime, settings(mount("")));
        let passed = format!("CARGO_MANIFEST_DIR={}", env!("CARGO_MANIFEST_DIR"));
        let variables: Vec<&str> = facts["variables"].split(' ').collect();
        assert!(
            variables.contains(&"GREETING=hello") && variables.contains(&passed.as_str()),
            "{variables:?}"
        );

        let write =
            |mounts| run(runtime, &["write", "/mine/new"], settings(mounts)).text().to_owned();
        assert_eq!(write(mount("")), "ReadOnlyFilesystem");
        assert_eq!(write(mount(",rw=true")), "works");
        assert_eq!(fs::read_to_string(directory.path().join("new")).unwrap(), "x");
    }
}

#[test]
fn exit_code_is_passed_through() {
    for runtime in runtimes() {
        let failure = run(runtime, &["exit", "3"], ContainerSettings::default()).failed();
        assert_eq!(
            (failure.error(), &failure.stdout[..]),
            (RunKind::ExitCode { code: 3 }, &b"results: []\n"[..])
        );
        assert_eq!(failure.stderr.last_lines(3), ["this is no good"]);
        assert!(failure.image.is_some());
    }
}

#[test]
fn memory_limit_kills_the_function() {
    for runtime in runtimes() {
        let limits = Limits { memory: 64 << 20, ..Limits::default() };
        let greedy = function(runtime, &["eat", "200"], ContainerSettings::default());
        let failure = greedy.run(&mut Invocation { limits, ..Invocation::new(INPUT) }).failed();
        // Without a control group the program sees that it gets no memory, and aborts.
        if runtime.has_groups() {
            assert_eq!(failure.error(), RunKind::ExitCode { code: 137 }, "{}", runtime.name());
        }
        let modest = function(runtime, &["eat", "20"], ContainerSettings::default());
        assert_eq!(
            modest.run(&mut Invocation { limits, ..Invocation::new(INPUT) }).succeeded().text(),
            "held: 20\n"
        );
    }
}

#[test]
fn process_limit_is_enforced() {
    for runtime in runtimes() {
        let limits = Limits { processes: 20, ..Limits::default() };
        let function = function(runtime, &["threads", "100"], ContainerSettings::default());
        let execution =
            function.run(&mut Invocation { limits, ..Invocation::new(INPUT) }).succeeded();
        let count: u32 = execution.text().trim().trim_start_matches("threads: ").parse().unwrap();
        assert!((5..20).contains(&count), "{count}");
    }
}

#[test]
fn endless_stderr_takes_no_memory() {
    for runtime in runtimes() {
        let execution = run(runtime, &["spam", "100"], ContainerSettings::default()).succeeded();
        assert!(execution.stderr.total() > 100 << 20);
        assert_eq!(execution.stderr.last_lines(1), ["the last line"]);
    }
}

#[test]
fn missing_image_is_reported() {
    for runtime in runtimes() {
        // Nothing listens on this port, so the connection is refused at once.
        let reason = |pull| {
            let settings = ContainerSettings { pull, ..ContainerSettings::default() };
            let function = runtime.container("localhost:1/krm/no-such-image:v1", settings);
            function.run(&mut Invocation::new(INPUT)).error()
        };
        assert_eq!(reason(Pull::Never), RunKind::PullDisabled);
        let failed = reason(Pull::IfNotPresent);
        let is_known = match runtime {
            Runtime::Engine(_) => matches!(failed, RunKind::PullFailed { .. }),
            Runtime::Sandbox(..) => matches!(failed, RunKind::ImageUnavailable { .. }),
        };
        assert!(is_known, "{}: {failed:?}", runtime.name());
    }
}

/// Whether a process with this argument runs.
fn is_process(word: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let arguments = |path: std::path::PathBuf| fs::read(path.join("cmdline")).unwrap_or_default();
    processes
        .map(|it| arguments(it.path()))
        .any(|it| it.split(|byte| *byte == 0).any(|it| it == word.as_bytes()))
}

/// Whether a container with this word in its command exists, running or not.
fn exists(runtime: &Runtime, word: &str) -> bool {
    let Runtime::Engine(engine) = runtime else { return is_process(word) };
    let list = ["ps", "--all", "--no-trunc", "--format={{.Command}} {{.Status}}"];
    let output = Command::new(engine.name()).args(list).output().unwrap();
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).lines().any(|line| line.contains(word))
}

#[test]
fn timed_out_container_is_removed() {
    for runtime in runtimes() {
        let function =
            function(runtime, &["sleep", "until-time-is-up"], ContainerSettings::default());
        let limits = Limits { time: Duration::from_secs(3), ..Limits::default() };
        let failure = function.run(&mut Invocation { limits, ..Invocation::new(INPUT) }).failed();
        assert_eq!(failure.error(), RunKind::Timeout { limit: limits.time });
        assert!(!exists(runtime, "until-time-is-up"));
    }
}

#[test]
fn interrupted_container_is_removed() {
    for runtime in runtimes() {
        let function =
            function(runtime, &["sleep", "until-interrupted"], ContainerSettings::default());
        let interrupt = Interrupt::new();
        thread::scope(|scope| {
            let run = scope.spawn(|| {
                function
                    .run(&mut Invocation { interrupt: interrupt.clone(), ..Invocation::new(INPUT) })
            });
            wait_until("the container runs", || exists(runtime, "until-interrupted"));
            interrupt.interrupt();
            assert_eq!(run.join().unwrap().error(), RunKind::Interrupted);
        });
        assert!(!exists(runtime, "until-interrupted"));
    }
}

#[test]
fn container_stopped_during_startup_is_removed() {
    for runtime in runtimes() {
        let function = function(runtime, &["sleep", "hardly-begun"], ContainerSettings::default());
        for milliseconds in [5, 30, 60, 100, 200, 400] {
            let limits = Limits { time: Duration::from_millis(milliseconds), ..Limits::default() };
            let failure =
                function.run(&mut Invocation { limits, ..Invocation::new(INPUT) }).failed();
            assert_eq!(failure.error(), RunKind::Timeout { limit: limits.time });
        }
        assert!(!exists(runtime, "hardly-begun"));
    }
}

#[test]
fn same_program_has_the_same_output_in_a_container() {
    for runtime in runtimes() {
        let scripts = Scripts::new();
        let process = scripts.exec(&format!("{} upper", probe().display())).unwrap();
        let process = process.run(&mut Invocation::new(INPUT)).succeeded();
        let container = run(runtime, &["upper"], ContainerSettings::default()).succeeded();
        assert_eq!(container.text(), process.text());
    }
}
