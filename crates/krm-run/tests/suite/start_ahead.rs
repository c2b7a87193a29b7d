//! Containers that start before their input is known: which ones do, that the next run uses them, and that none is left behind.

use std::fs;
use std::thread;
use std::time::Duration;

use krm_run::{
    Container, ContainerSettings, Engine, Environment, Function, Interrupt, Invocation, Limits,
    Mount, Network, Pull, RunKind,
};

use crate::programs::{Checked, INPUT, Scripts};

const IMAGE: &str = "example.com/set-labels:v1";

/// An engine that records its commands and the end of its container, and has every image.
const WORKING: &str = r#"echo "$*" >>$NOTES
case "$1" in
    run) cat; echo ended >>$NOTES ;;
    rm) echo $3 ;;
    image) echo sha256:34 ;;
esac"#;

struct Setup {
    scripts: Scripts,
}

impl Setup {
    fn new() -> Self {
        let scripts = Scripts::new();
        scripts.write("bin/docker", WORKING);
        fs::create_dir(scripts.path().join("tmp")).unwrap();
        Self { scripts }
    }

    fn container(&self, settings: ContainerSettings) -> Container {
        let at = |name: &str| self.scripts.path().join(name).display().to_string();
        let path = format!("{}:/usr/bin:/bin", at("bin"));
        let variables = [("PATH", path), ("NOTES", at("notes")), ("TMPDIR", at("tmp"))];
        let environment = Environment::from_iter(variables);
        let engine = Engine::find(Some("docker"), &environment).unwrap();
        Container::new(IMAGE, engine, settings).unwrap()
    }

    /// The recorded commands, without arguments.
    fn notes(&self) -> Vec<String> {
        let text = fs::read_to_string(self.scripts.path().join("notes")).unwrap_or_default();
        text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    }

    fn wait_for(&self, word: &str) {
        let found = (0..3000).any(|_| {
            thread::sleep(Duration::from_millis(10));
            self.notes().iter().any(|note| note == word)
        });
        assert!(found, "{word} was never recorded: {:?}", self.notes());
    }

    fn assert_clean(&self) {
        assert_eq!(fs::read_dir(self.scripts.path().join("tmp")).unwrap().count(), 0);
    }
}

#[test]
fn next_run_uses_the_started_container() {
    let setup = Setup::new();
    let container = setup.container(ContainerSettings::default());
    container.start_ahead(&Limits::default());
    setup.wait_for("run");
    for runs in [1, 2] {
        let execution = container.run(&mut Invocation::new(INPUT)).succeeded();
        assert_eq!(execution.stdout, INPUT);
        assert_eq!(setup.notes().iter().filter(|note| *note == "run").count(), runs);
        assert_eq!(setup.notes().iter().filter(|note| *note == "ended").count(), runs);
    }
    assert!(!setup.notes().iter().any(|note| note == "rm"), "{:?}", setup.notes());
    setup.assert_clean();
}

#[test]
fn unused_container_is_ended() {
    let setup = Setup::new();
    let container = setup.container(ContainerSettings::default());
    container.start_ahead(&Limits::default());
    setup.wait_for("run");
    drop(container);
    assert_eq!(setup.notes(), ["run", "ended"]);
    setup.assert_clean();
}

#[test]
fn unused_container_that_does_not_exit_is_removed() {
    let setup = Setup::new();
    setup.scripts.write("bin/docker", &WORKING.replace("run) cat", "run) sleep 600"));
    let container = setup.container(ContainerSettings::default());
    container.start_ahead(&Limits::default());
    setup.wait_for("run");
    drop(container);
    assert_eq!(setup.notes(), ["run", "rm"]);
    setup.assert_clean();
}

#[test]
fn interrupted_container_without_input_is_removed() {
    let setup = Setup::new();
    let container = setup.container(ContainerSettings::default());
    container.start_ahead(&Limits::default());
    setup.wait_for("run");
    let interrupt = Interrupt::new();
    interrupt.interrupt();
    let failure = container.run(&mut Invocation { interrupt, ..Invocation::new(INPUT) }).failed();
    assert_eq!(failure.error(), RunKind::Interrupted);
    assert_eq!(setup.notes(), ["run", "rm"]);
    setup.assert_clean();
}

#[test]
fn container_with_access_to_the_outside_waits_for_its_input() {
    let open = ContainerSettings { allow_network: true, ..ContainerSettings::default() };
    let mount = Mount::bind("/package", "/mine");
    for settings in [
        ContainerSettings { network: Network::Host, ..open.clone() },
        ContainerSettings { network: Network::Named("build".into()), ..open },
        ContainerSettings { mounts: vec![mount], ..ContainerSettings::default() },
        ContainerSettings { pull: Pull::Always, ..ContainerSettings::default() },
    ] {
        let setup = Setup::new();
        let settings_text = format!("{settings:?}");
        let container = setup.container(settings);
        container.start_ahead(&Limits::default());
        let directories = fs::read_dir(setup.scripts.path().join("tmp")).unwrap().count();
        assert_eq!((directories, setup.notes().len()), (0, 0), "{settings_text}");
        container.run(&mut Invocation::new(INPUT)).succeeded();
        assert!(setup.notes().iter().any(|note| note == "ended"), "{settings_text}");
    }
}
