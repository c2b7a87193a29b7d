//! The index of rendered packages: whatever happens to a directory, `render` prints and returns the same as without the index.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::sandbox::{Output, Sandbox};
use crate::wasm;

const CHECK: &str = "krm fn render repo --check";

/// A state is trusted when it is older than the tick of the clock.
fn settle() {
    std::thread::sleep(Duration::from_millis(30));
}

fn outcome(ran: Output) -> (String, String, i32) {
    (ran.stdout, ran.stderr, ran.exit)
}

/// A directory with three packages, one of which has a subpackage.
fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    for package in ["a", "a-b", "c/d", "a/inner"] {
        let kptfile = format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {{name: x}}\npipeline:\n  mutators:\n  - image: set-labels\n    configMap: {{tier: {}}}\n  validators:\n  - image: kubeconform\n",
            package.replace('/', "-")
        );
        sandbox.write(&format!("repo/{package}/Kptfile"), kptfile.as_bytes());
        for name in ["one", "two"] {
            sandbox.write(&format!("repo/{package}/{name}.yaml"), resource(name).as_bytes());
        }
    }
    let ran = sandbox.run("krm fn render repo --cache off -q");
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
    sandbox
}

fn resource(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  key: value0\n")
}

/// Numbers that look random and are the same in every run.
struct Choices(u64);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn file(&mut self, directory: &Path) -> Option<PathBuf> {
        let mut files = Vec::new();
        collect(directory, &mut files);
        files.sort();
        (!files.is_empty()).then(|| files[self.below(files.len())].clone())
    }
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() && !path.is_symlink() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

/// Changes something in the directory, and says what.
fn mutate(root: &Path, choices: &mut Choices, step: usize) -> String {
    let Some(file) = choices.file(root) else { return "nothing".to_owned() };
    let directory = file.parent().unwrap().to_owned();
    let text = fs::read_to_string(&file).unwrap_or_default();
    let digit = (step % 10).to_string();
    let same_size = text.replace("value0", &format!("value{digit}"));
    let action = choices.below(16);
    // Some actions are not possible with what earlier ones left, such as a symlink to itself. Then nothing changes.
    let write = |path: &Path, text: &str| drop(fs::write(path, text));
    match action {
        0 => write(&file, &same_size),
        1 => {
            let modified = fs::metadata(&file).and_then(|it| it.modified());
            write(&file, &same_size);
            if let (Ok(modified), Ok(file)) = (modified, File::options().append(true).open(&file)) {
                file.set_modified(modified).unwrap();
            }
        }
        2 => write(&file, &format!("{text}# {step}\n")),
        3 => {
            let name = format!("new{digit}");
            write(&directory.join(format!("{name}.yaml")), &resource(&name));
        }
        4 => fs::remove_file(&file).unwrap(),
        5 => fs::rename(&file, directory.join(format!("moved{digit}.yaml"))).unwrap(),
        6 => {
            let mode = 0o600 + (step as u32 % 2) * 0o44;
            let _ = fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode));
        }
        7 => {
            let target = directory.join(format!("target{digit}"));
            fs::rename(&file, &target).unwrap();
            let _ = std::os::unix::fs::symlink(target.file_name().unwrap(), &file);
        }
        8 => write(&directory.join(".krmignore"), &format!("new{digit}.yaml\none.yaml\n")),
        9 => drop(fs::remove_file(directory.join(".krmignore"))),
        10 => write(&root.join("loose.yaml"), &resource("loose")),
        11 => write(&directory.join("README.md"), &digit),
        12 => {
            // Replaced by a file of the same size, as editors do.
            let new = directory.join(".new");
            write(&new, &same_size);
            fs::rename(new, &file).unwrap();
        }
        13 => write(&root.join("broken.yaml"), "a: [\n"),
        14 => drop(fs::remove_file(root.join("broken.yaml"))),
        _ => drop(fs::hard_link(&file, directory.join(format!("link{digit}.yaml")))),
    }
    format!("step {step}, action {action} on {}", file.strip_prefix(root).unwrap().display())
}

#[test]
fn index_never_changes_the_outcome() {
    for seed in 0..6 {
        let sandbox = repository();
        let (root, mut choices) = (sandbox.path().join("repo"), Choices(seed));
        for step in 0..20 {
            let what = mutate(&root, &mut choices, step);
            // Often right after the change, when times cannot be trusted.
            if choices.below(3) > 0 {
                settle();
            }
            let expected = outcome(sandbox.run(&format!("{CHECK} --cache off")));
            for attempt in ["first", "second"] {
                let ran = outcome(sandbox.run(CHECK));
                assert_eq!(ran, expected, "seed {seed}, {what}, {attempt} run");
            }
            if choices.below(4) == 0 {
                sandbox.run("krm fn render repo -q");
            }
        }
    }
}

#[test]
fn packages_that_did_not_change_are_not_rendered() {
    let Some(sandbox) = wasm::shop() else { return };
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\npipeline:\n  mutators:\n  - wasm: rename.wasm\n";
    sandbox.write("shop/Kptfile", kptfile.as_bytes());
    assert_eq!(sandbox.run("krm fn render shop").exit, 0);
    settle();
    let check = || outcome(sandbox.run("krm fn render shop --check"));
    let first = check();
    assert_eq!(first.2, 0, "{}", first.1);
    // Without the results of functions: one that runs again stores its result again.
    let index = index_file(&sandbox.cache().join("results"));
    let kept = fs::read(&index).unwrap();
    fs::remove_dir_all(sandbox.cache().join("results")).unwrap();
    fs::create_dir_all(index.parent().unwrap()).unwrap();
    for directory in [sandbox.cache().join("results"), index.parent().unwrap().to_owned()] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(directory, mode).unwrap();
    }
    fs::write(&index, &kept).unwrap();
    let count = || {
        let mut files = Vec::new();
        collect(&sandbox.cache().join("results"), &mut files);
        files.len()
    };
    assert_eq!((check(), count()), (first.clone(), 1), "no function ran");
    assert_eq!(outcome(sandbox.run("krm fn render shop --check --cache off")), first);
    // The module is an input, too.
    let mut module = fs::read(sandbox.path().join("shop/rename.wasm")).unwrap();
    module.extend_from_slice(b"\0\x02\x01x");
    sandbox.write("shop/rename.wasm", &module);
    assert_eq!(check(), first);
    assert!(count() > 1, "the function ran");
}

/// The file of the index, among those of results.
fn index_file(directory: &Path) -> PathBuf {
    let mut files = Vec::new();
    collect(directory, &mut files);
    let is_index = |it: &PathBuf| fs::read(it).unwrap().starts_with(b"krmindex");
    files.into_iter().find(is_index).expect("the run stored an index")
}

#[test]
fn warnings_are_printed_in_every_run() {
    let sandbox = repository();
    let kptfile = fs::read_to_string(sandbox.path().join("repo/a/Kptfile")).unwrap();
    let unknown = kptfile.replace("image: set-labels", "image: set-labels:v0.99.0");
    sandbox.write("repo/a/Kptfile", unknown.as_bytes());
    settle();
    let first = outcome(sandbox.run(CHECK));
    assert!(first.1.contains("warning[unknown-function-tag]"), "{}", first.1);
    assert_eq!(outcome(sandbox.run(CHECK)), first);
}
