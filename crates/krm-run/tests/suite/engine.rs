//! Fake engines: which one is chosen, which arguments it receives, and what happens when it fails.

use std::fs;
use std::sync::Arc;

use krm_run::{
    Container, ContainerSettings, Engine, Environment, Function, Image, ImageStore, Interrupt,
    Invocation, Limits, Mount, Network, Pull, RunKind, Sandbox, UnpackedImage, User, label,
};

use crate::programs::{Checked, INPUT, Scripts};

const IMAGE: &str = "example.com/set-labels:v1";

/// An engine that records its arguments and has every image.
const WORKING: &str = r#"echo "$(basename $0) $*" >>$NOTES
case "$1" in
    run) touch stray; cat ;;
    image) echo example.com/set-labels@sha256:12; echo sha256:34 ;;
esac"#;

fn environment(scripts: &Scripts, more: &[(&str, &str)]) -> Environment {
    let path = format!("{}/bin:/usr/bin:/bin", scripts.path().display());
    let notes = scripts.path().join("notes").display().to_string();
    let fixed = [("PATH", path.as_str()), ("NOTES", notes.as_str())];
    Environment::from_iter(fixed.into_iter().chain(more.iter().copied()))
}

/// An environment in which only the engines of the test are installed.
fn only(scripts: &Scripts, more: &[(&str, &str)]) -> Environment {
    for tool in ["sh", "cat", "basename", "grep", "touch", "sleep"] {
        let there = ["/bin", "/usr/bin"].map(|dir| format!("{dir}/{tool}"));
        let there = there.iter().find(|path| fs::exists(path).unwrap()).unwrap();
        let _ = std::os::unix::fs::symlink(there, scripts.path().join("bin").join(tool));
    }
    let path = format!("{}/bin", scripts.path().display());
    Environment::from_iter(
        environment(scripts, more)
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .chain([("PATH".into(), path.into())]),
    )
}

fn notes(scripts: &Scripts) -> Vec<String> {
    let text = fs::read_to_string(scripts.path().join("notes")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn container(engine: Engine, settings: ContainerSettings) -> Container {
    Container::new(IMAGE, engine, settings).unwrap()
}

fn find(
    scripts: &Scripts,
    named: Option<&str>,
    more: &[(&str, &str)],
) -> Result<&'static str, RunKind> {
    Engine::find(named, &only(scripts, more)).map(|engine| engine.name())
}

#[test]
fn named_engine_is_used() {
    let scripts = Scripts::new();
    for name in ["docker", "podman", "nerdctl"] {
        scripts.write(&format!("bin/{name}"), WORKING);
    }
    let podman = [("KRM_FN_RUNTIME", "podman")];
    assert_eq!(find(&scripts, Some("nerdctl"), &podman), Ok("nerdctl"));
    assert_eq!(find(&scripts, None, &podman), Ok("podman"));
    assert_eq!(find(&scripts, None, &[("KRM_FN_RUNTIME", "")]), Ok("docker"));
    let unknown = RunKind::UnknownEngine { name: "lxc".to_owned() };
    assert_eq!(find(&scripts, Some("lxc"), &[]), Err(unknown));
}

#[test]
fn first_engine_that_responds_is_used() {
    let scripts = Scripts::new();
    fs::create_dir(scripts.path().join("bin")).unwrap();
    let none = "none of docker, podman, nerdctl is on PATH";
    assert_eq!(find(&scripts, None, &[]), Err(RunKind::NoEngine { reason: none.into() }));
    assert_eq!(
        find(&scripts, Some("podman"), &[]),
        Err(RunKind::NoEngine { reason: "podman is not on PATH".into() })
    );
    // The only one is used without asking for its version.
    scripts.write("bin/docker", "echo asked >>$NOTES; exit 1");
    assert_eq!((find(&scripts, None, &[]), notes(&scripts).len()), (Ok("docker"), 0));
    scripts.write("bin/podman", "exit 1");
    let dead = "none of docker, podman responds";
    assert_eq!(find(&scripts, None, &[]), Err(RunKind::NoEngine { reason: dead.into() }));
    scripts.write("bin/nerdctl", WORKING);
    assert_eq!(find(&scripts, None, &[]), Ok("nerdctl"));
    assert_eq!(notes(&scripts).last().map(String::as_str), Some("nerdctl version"));
}

#[test]
fn docker_is_not_asked_if_its_daemon_listens() {
    let scripts = Scripts::new();
    scripts.write("bin/docker", WORKING);
    scripts.write("bin/podman", WORKING);
    let socket = scripts.path().join("socket");
    let host = format!("unix://{}", socket.display());
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert_eq!(find(&scripts, None, &[("DOCKER_HOST", &host)]), Ok("docker"));
    assert_eq!(notes(&scripts), [""; 0]);
    // The daemon is gone: the client is asked.
    drop(listener);
    assert_eq!(find(&scripts, None, &[("DOCKER_HOST", &host)]), Ok("docker"));
    assert_eq!(notes(&scripts), ["docker version"]);
}

/// A daemon that answers one request; returns the request line.
fn answering(socket: &std::path::Path, answer: &'static str) -> std::thread::JoinHandle<String> {
    let listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        use std::io::{BufRead, BufReader, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let question = lines.next().unwrap().unwrap();
        assert!(lines.any(|line| line.unwrap().is_empty()));
        stream.write_all(answer.as_bytes()).unwrap();
        question
    })
}

#[test]
fn digest_comes_from_the_daemon_or_else_from_the_client() {
    let good = "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"Id\": \"sha256:56\", \"RepoDigests\": [\"example.com/set-labels@sha256:78\"]}\n";
    let bad = "HTTP/1.0 404 Not Found\r\n\r\n{\"message\": \"no such image\"}\n";
    for (answer, digest, asked) in [(good, "sha256:78", 0), (bad, "sha256:12", 1)] {
        let scripts = Scripts::new();
        scripts.write("bin/docker", WORKING);
        let socket = scripts.path().join("socket");
        let daemon = answering(&socket, answer);
        let host = format!("unix://{}", socket.display());
        let environment = environment(&scripts, &[("DOCKER_HOST", &host)]);
        let engine = Engine::find(Some("docker"), &environment).unwrap();
        let function = container(engine, ContainerSettings::default());
        let execution = function.run(&mut Invocation::new(INPUT)).succeeded();
        assert_eq!(
            execution.image.unwrap().to_string(),
            format!("example.com/set-labels@{digest}")
        );
        assert_eq!(daemon.join().unwrap(), format!("GET /images/{IMAGE}/json HTTP/1.0"));
        let notes = notes(&scripts);
        let inspections = notes.iter().filter(|line| line.contains("image inspect")).count();
        assert_eq!(inspections, asked, "{notes:?}");
    }
}

/// The arguments of `run`, with the random name replaced.
fn run_arguments(name: &str, settings: ContainerSettings, limits: &Limits) -> Vec<String> {
    let scripts = Scripts::new();
    scripts.write(&format!("bin/{name}"), WORKING);
    let engine = Engine::find(Some(name), &environment(&scripts, &[])).unwrap();
    let execution = container(engine, settings)
        .run(&mut Invocation { limits: *limits, ..Invocation::new(INPUT) })
        .succeeded();
    assert_eq!(execution.stdout, INPUT);
    assert!(
        !fs::exists("stray").unwrap(),
        "the working directory of the engine is that of the test"
    );
    let notes = notes(&scripts);
    let run = notes.iter().find(|line| line.starts_with(&format!("{name} run "))).unwrap();
    run.split(' ')
        .map(|word| if word.starts_with("--name=krm-") { "--name=…" } else { word }.to_owned())
        .collect()
}

#[test]
fn everything_is_denied_by_default() {
    let arguments = run_arguments("docker", ContainerSettings::default(), &Limits::default());
    let expected = [
        "docker",
        "run",
        "--rm",
        "--interactive",
        "--pull=never",
        "--name=…",
        "--network=none",
        "--user=65534:65534",
        "--security-opt=no-new-privileges",
        "--cap-drop=ALL",
        "--read-only",
        "--tmpfs=/tmp:rw,noexec,nosuid,nodev,size=256m,mode=1777",
        "--memory=2147483648",
        "--pids-limit=512",
        "--log-driver=none",
        IMAGE,
    ];
    assert_eq!(arguments, expected);
}

#[test]
fn permissions_are_passed_as_flags() {
    let closed = run_arguments("podman", ContainerSettings::default(), &Limits::default());
    let settings = ContainerSettings {
        local: Some("/package".into()),
        network: Network::Named("build".into()),
        allow_network: true,
        mounts: vec![Mount::parse("type=bind,src=x,dst=/x,rw=true", "/home/me".as_ref()).unwrap()],
        variables: ["A=b", "TOKEN"].map(|text| text.parse().unwrap()).to_vec(),
        user: User::Current,
        writable_root: true,
        pull: Pull::Never,
        args: vec!["--help".to_owned()],
    };
    let limits = Limits { memory: 64 << 20, processes: 7, ..Limits::default() };
    let opened = run_arguments("podman", settings, &limits);
    let new: Vec<&String> = opened.iter().filter(|word| !closed.contains(word)).collect();
    let ids = |flag: &str| {
        let output = std::process::Command::new("id").arg(flag).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let expected = [
        "--network=build".to_owned(),
        format!("--user={}:{}", ids("-u"), ids("-g")),
        format!("--memory={}", 64 << 20),
        "--pids-limit=7".to_owned(),
        "--mount=type=bind,source=/package,target=/local,readonly".to_owned(),
        "--mount=type=bind,source=/home/me/x,target=/x".to_owned(),
        "--env=A=b".to_owned(),
        "--env=TOKEN".to_owned(),
        "--help".to_owned(),
    ];
    assert_eq!(new, expected.iter().collect::<Vec<_>>());
    assert!(!opened.contains(&"--read-only".to_owned()));
}

#[test]
fn podman_stops_containers_after_krm_was_killed() {
    let limits = Limits { time: std::time::Duration::from_millis(1500), ..Limits::default() };
    let arguments = run_arguments("podman", ContainerSettings::default(), &limits);
    assert!(arguments.contains(&"--timeout=11".to_owned()), "{arguments:?}");
}

#[test]
fn nerdctl_receives_no_unsupported_flags() {
    let arguments = run_arguments("nerdctl", ContainerSettings::default(), &Limits::default());
    assert!(
        !arguments.iter().any(|argument| argument.starts_with("--log-driver")),
        "{arguments:?}"
    );
}

#[test]
fn digest_of_the_image_is_reported() {
    let scripts = Scripts::new();
    scripts.write("bin/docker", WORKING);
    let engine = Engine::find(Some("docker"), &environment(&scripts, &[])).unwrap();
    let function = container(engine, ContainerSettings::default());
    let image = function.run(&mut Invocation::new(INPUT)).succeeded().image.unwrap();
    assert_eq!(
        (image.to_string().as_str(), &*image.id),
        ("example.com/set-labels@sha256:12", "sha256:34")
    );
}

#[test]
fn names_that_look_like_flags_are_rejected() {
    let scripts = Scripts::new();
    scripts.write("bin/docker", WORKING);
    let engine = Engine::find(Some("docker"), &environment(&scripts, &[])).unwrap();
    for image in ["", "--privileged", "-v=/:/host", "a b", "a\nb", "/x", "a\u{7}"] {
        let refused = Container::new(image, engine.clone(), ContainerSettings::default());
        assert!(matches!(refused.unwrap_err(), RunKind::InvalidSettings { .. }), "{image:?}");
    }
    let relative =
        ContainerSettings { local: Some("package".into()), ..ContainerSettings::default() };
    assert!(matches!(
        Container::new(IMAGE, engine, relative).unwrap_err(),
        RunKind::InvalidSettings { .. }
    ));
}

/// An engine that has the image after a pull.
const EMPTY: &str = r#"echo "$*" >>$NOTES
case "$1" in
    run) if [ -e $NOTES.pulled ]; then cat; else echo no such image >&2; exit 125; fi ;;
    image) if [ -e $NOTES.pulled ]; then echo sha256:34; else exit 1; fi ;;
    pull) touch $NOTES.pulled ;;
esac"#;

fn pulls(policy: Pull, engine: &str) -> (Result<String, RunKind>, usize) {
    let scripts = Scripts::new();
    scripts.write("bin/docker", engine);
    let engine = Engine::find(Some("docker"), &environment(&scripts, &[])).unwrap();
    let settings = ContainerSettings { pull: policy, ..ContainerSettings::default() };
    let execution = container(engine, settings).run(&mut Invocation::new(INPUT));
    let pulls = notes(&scripts).iter().filter(|line| line.contains("pull --quiet ")).count();
    (execution.output().map(str::to_owned), pulls)
}

#[test]
fn images_are_pulled_by_policy() {
    let input = String::from_utf8(INPUT.to_vec()).unwrap();
    assert_eq!(pulls(Pull::IfNotPresent, EMPTY), (Ok(input.clone()), 1));
    assert_eq!(pulls(Pull::Always, EMPTY), (Ok(input.clone()), 1));
    assert_eq!(pulls(Pull::Always, WORKING), (Ok(input.clone()), 1));
    assert_eq!(pulls(Pull::IfNotPresent, WORKING), (Ok(input), 0));
    let never = RunKind::PullDisabled;
    assert_eq!(pulls(Pull::Never, EMPTY), (Err(never), 0));
}

#[test]
fn failed_function_does_not_run_again() {
    let broken = r#"echo "$*" >>$NOTES; case "$1" in run) exit 1 ;; image) exit 1 ;; esac"#;
    assert_eq!(pulls(Pull::IfNotPresent, broken), (Err(RunKind::ExitCode { code: 1 }), 0));
}

#[test]
fn failed_pull_quotes_the_engine() {
    let scripts = Scripts::new();
    scripts.write(
        "bin/docker",
        "case $1 in version) ;; pull) echo no route to registry >&2; exit 1 ;; *) exit 125 ;; esac",
    );
    let engine = Engine::find(Some("docker"), &environment(&scripts, &[])).unwrap();
    let function = container(engine, ContainerSettings::default());
    let failure = function.run(&mut Invocation::new(INPUT)).failed();
    assert_eq!(failure.error(), RunKind::PullFailed { engine: "docker", code: 1 });
    assert_eq!(failure.stderr.last_lines(1), ["no route to registry"]);
}

#[test]
fn engine_that_is_down_is_not_a_missing_image() {
    let scripts = Scripts::new();
    scripts.write("bin/docker", "echo cannot connect to the daemon >&2; exit 125");
    let engine = Engine::find(Some("docker"), &environment(&scripts, &[])).unwrap();
    let function = container(engine, ContainerSettings::default());
    let failure = function.run(&mut Invocation::new(INPUT)).failed();
    let reason = "docker exited with code 125".to_owned();
    assert_eq!(failure.error(), RunKind::NoEngine { reason });
    let error = failure.failure(failure.error(), &label(None, IMAGE));
    assert_eq!(
        error.message(),
        "cannot run function `example.com/set-labels:v1`: no container engine is available"
    );
    assert_eq!(error.notes()[0], "docker exited with code 125");
    assert_eq!(failure.stderr.last_lines(1), ["cannot connect to the daemon"]);
}

#[test]
fn timed_out_container_is_removed_by_name() {
    let scripts = Scripts::new();
    let engine = r#"echo "$*" >>$NOTES
        case "$1" in run) sleep 1000 ;; rm) [ -e $NOTES.second ] && echo "$3"; touch $NOTES.second ;; esac"#;
    scripts.write("bin/docker", engine);
    let engine = Engine::find(Some("docker"), &environment(&scripts, &[])).unwrap();
    let function = container(engine, ContainerSettings::default());
    let limits = Limits { time: std::time::Duration::from_secs(2), ..Limits::default() };
    let failure = function.run(&mut Invocation { limits, ..Invocation::new(INPUT) }).failed();
    assert_eq!(failure.error(), RunKind::Timeout { limit: limits.time });
    let notes = notes(&scripts);
    let run = notes.iter().find(|line| line.starts_with("run ")).unwrap();
    let name = run.split(' ').find_map(|argument| argument.strip_prefix("--name=")).unwrap();
    // A container that appears late is removed by the second attempt.
    let removals = notes.iter().filter(|line| **line == format!("rm --force {name}")).count();
    assert_eq!(removals, 2, "{notes:?}");
}

/// A store whose only image is an empty directory.
#[derive(Debug)]
struct EmptyImage(tempfile::TempDir);

impl ImageStore for EmptyImage {
    fn get(&self, _: &str, _: Pull, _: &Interrupt) -> Result<UnpackedImage, RunKind> {
        Ok(UnpackedImage {
            root: self.0.path().canonicalize().unwrap(),
            image: Image { id: "sha256:empty".into(), digest: None },
            entrypoint: vec!["/none".to_owned()],
            arguments: Vec::new(),
            variables: Vec::new(),
            working_directory: String::new(),
            lease: Box::new(()),
        })
    }
}

#[test]
fn error_names_every_runtime_that_failed() {
    let scripts = Scripts::new();
    scripts.write("bin/docker", "echo no daemon >&2; exit 125");
    let images = Arc::new(EmptyImage(tempfile::tempdir().unwrap()));
    let sandbox = Sandbox::new("/nowhere/krm".into(), images);
    let environment = only(&scripts, &[]);
    let settings = ContainerSettings { pull: Pull::Never, ..ContainerSettings::default() };
    let function = sandbox.function(IMAGE, "auto", settings, &environment).unwrap();
    let failed = function.run(&mut Invocation::new(INPUT)).failed().error();
    let RunKind::NoRuntime { reasons } = failed else { panic!("{failed:?}") };
    let names: Vec<&str> = reasons.iter().filter_map(|it| it.split(':').next()).collect();
    assert_eq!(names, ["krm", "bubblewrap", "container engines"], "{reasons:?}");
}
