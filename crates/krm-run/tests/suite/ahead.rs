//! Containers that are started before there is input: which ones are, that the next run is theirs, and that none is left.

use std::fs;
use std::thread;
use std::time::Duration;

use krm_run::{
    Container, ContainerSettings, Engine, Environment, Function, Interrupt, Limits, Mount, Network,
    Pull, Reason,
};

use crate::programs::{INPUT, Scripts};

const IMAGE: &str = "example.com/set-labels:v1";

/// An engine that notes its words, says when its container has ended, and knows every image.
const WILLING: &str = r#"echo "$*" >>$NOTES
case "$1" in
    run) cat; echo ended >>$NOTES ;;
    rm) echo $3 ;;
    image) echo sha256:34 ;;
esac"#;

struct Stage {
    scripts: Scripts,
}

impl Stage {
    fn new() -> Self {
        let scripts = Scripts::new();
        scripts.write("bin/docker", WILLING);
        fs::create_dir(scripts.path().join("tmp")).unwrap();
        Self { scripts }
    }

    fn container(&self, settings: ContainerSettings) -> Container {
        let at = |name: &str| self.scripts.path().join(name).display().to_string();
        let path = format!("{}:/usr/bin:/bin", at("bin"));
        let variables = [("PATH", path), ("NOTES", at("notes")), ("TMPDIR", at("tmp"))];
        let environment = Environment::from_iter(variables);
        let engine = Engine::find(IMAGE, Some("docker"), &environment).unwrap();
        Container::new(IMAGE, engine, settings).unwrap()
    }

    /// The first words of everything that was noted.
    fn notes(&self) -> Vec<String> {
        let text = fs::read_to_string(self.scripts.path().join("notes")).unwrap_or_default();
        text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    }

    fn wait_for(&self, word: &str) {
        let found = (0..3000).any(|_| {
            thread::sleep(Duration::from_millis(10));
            self.notes().iter().any(|note| note == word)
        });
        assert!(found, "{word} never came: {:?}", self.notes());
    }

    fn is_clean(&self) {
        assert_eq!(fs::read_dir(self.scripts.path().join("tmp")).unwrap().count(), 0);
    }
}

#[test]
fn the_next_run_is_that_of_the_one_that_was_started() {
    let stage = Stage::new();
    let container = stage.container(ContainerSettings::default());
    container.start(&Limits::default());
    stage.wait_for("run");
    for runs in [1, 2] {
        let outcome = container.run(INPUT, &Limits::default(), &Interrupt::new()).unwrap();
        assert_eq!(outcome.stdout.as_bytes(), INPUT);
        assert_eq!(stage.notes().iter().filter(|note| *note == "run").count(), runs);
        assert_eq!(stage.notes().iter().filter(|note| *note == "ended").count(), runs);
    }
    assert!(!stage.notes().iter().any(|note| note == "rm"), "{:?}", stage.notes());
    stage.is_clean();
}

#[test]
fn one_that_nobody_runs_is_gone() {
    let stage = Stage::new();
    let container = stage.container(ContainerSettings::default());
    container.start(&Limits::default());
    stage.wait_for("run");
    drop(container);
    assert_eq!(stage.notes(), ["run", "ended"]);
    stage.is_clean();
}

#[test]
fn one_that_does_not_end_without_input_is_removed() {
    let stage = Stage::new();
    stage.scripts.write("bin/docker", &WILLING.replace("run) cat", "run) sleep 600"));
    let container = stage.container(ContainerSettings::default());
    container.start(&Limits::default());
    stage.wait_for("run");
    drop(container);
    assert_eq!(stage.notes(), ["run", "rm"]);
    stage.is_clean();
}

#[test]
fn one_that_is_interrupted_before_its_input_is_gone() {
    let stage = Stage::new();
    let container = stage.container(ContainerSettings::default());
    container.start(&Limits::default());
    stage.wait_for("run");
    let interrupt = Interrupt::new();
    interrupt.interrupt();
    let failure = container.run(INPUT, &Limits::default(), &interrupt).unwrap_err();
    assert_eq!(failure.reason, Reason::Interrupted);
    assert_eq!(stage.notes(), ["run", "rm"]);
    stage.is_clean();
}

#[test]
fn one_that_could_touch_something_waits_for_its_input() {
    let open = ContainerSettings { allow_network: true, ..ContainerSettings::default() };
    let mount = Mount::bind("/package", "/mine");
    for settings in [
        ContainerSettings { network: Network::Host, ..open.clone() },
        ContainerSettings { network: Network::Named("build".into()), ..open },
        ContainerSettings { mounts: vec![mount], ..ContainerSettings::default() },
        ContainerSettings { pull: Pull::Always, ..ContainerSettings::default() },
    ] {
        let stage = Stage::new();
        let words = format!("{settings:?}");
        let container = stage.container(settings);
        container.start(&Limits::default());
        let folders = fs::read_dir(stage.scripts.path().join("tmp")).unwrap().count();
        assert_eq!((folders, stage.notes().len()), (0, 0), "{words}");
        container.run(INPUT, &Limits::default(), &Interrupt::new()).unwrap();
        assert!(stage.notes().iter().any(|note| note == "ended"), "{words}");
    }
}
