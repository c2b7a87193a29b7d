//! Plans on disk: all or nothing, also where something fails or is killed in between.

use std::fs;
use std::path::PathBuf;

use krm_core::{Diagnostic, OriginalFile, PackagePath, Plan};

use super::*;

fn hold(folder: &str, tell: lock::OnDiagnostic<'_>) -> Result<Lock, Diagnostic> {
    Lock::files(&[folder.to_owned()], tell)
}

/// A folder with two files, and the lock on it.
struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::write(root.join("a.yaml"), "a: 1\n").unwrap();
        fs::write(root.join("b.yaml"), "b: 1\n").unwrap();
        Self { _folder: folder, root }
    }

    fn path(&self, name: &str) -> String {
        self.root.join(name).to_str().unwrap().to_owned()
    }

    fn lock(&self) -> Lock {
        hold(&self.path(""), &mut |_| {}).unwrap()
    }

    fn write(&self, plan: &Plan) -> Result<(), Diagnostic> {
        write(plan, &self.lock(), &mut |_| {})
    }

    /// Every file below the folder with its content, hidden ones among them.
    fn all(&self) -> String {
        let mut found = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&self.root).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    found.push(format!("{name}/"));
                    folders.push(path);
                } else {
                    found.push(format!("{name} {}", fs::read_to_string(&path).unwrap().trim_end()));
                }
            }
        }
        found.sort();
        found.join(", ")
    }

    fn plan(&self, changes: &[PlannedText<'_>]) -> Plan {
        self.plan_in("", changes)
    }

    /// A plan whose paths are relative to a directory of the package.
    fn plan_in(&self, directory: &str, changes: &[PlannedText<'_>]) -> Plan {
        let mut plan = Plan::default();
        for (name, old, new) in changes {
            let display_path = self.root.join(directory).join(name).to_str().unwrap().to_owned();
            let path = PackagePath::new(name).unwrap();
            let original = OriginalFile::new(path, display_path, old.map(str::to_owned));
            plan.set(original, new.map(str::to_owned)).unwrap();
        }
        plan
    }
}

/// The name of a file, its content, and its new content.
type PlannedText<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

const OLD: &str = "a.yaml a: 1, b.yaml b: 1";

/// A plan of every kind of change.
fn everything(place: &Place) -> Plan {
    place.plan(&everything_changes())
}

fn everything_changes() -> [PlannedText<'static>; 3] {
    [
        ("a.yaml", Some("a: 1\n"), Some("a: 2\n")),
        ("b.yaml", Some("b: 1\n"), None),
        ("x/y/c.yaml", None, Some("c: 2\n")),
    ]
}

const NEW: &str = "a.yaml a: 2, x/, x/y/, x/y/c.yaml c: 2";

#[test]
fn files_are_replaced_made_and_deleted_and_nothing_else_is_left() {
    let place = Place::new();
    place.write(&everything(&place)).unwrap();
    assert_eq!(place.all(), NEW);
}

#[test]
fn a_file_that_changed_since_it_was_read_stops_all() {
    let place = Place::new();
    let plan = place.plan(&[
        ("a.yaml", Some("a: 1\n"), Some("a: 2\n")),
        ("b.yaml", Some("b: 0\n"), Some("b: 2\n")),
        ("x/c.yaml", None, Some("c: 2\n")),
    ]);
    let error = place.write(&plan).unwrap_err();
    assert_eq!(error.file.as_deref(), Some(&*place.path("b.yaml")));
    assert_eq!(place.all(), OLD);
}

#[test]
fn a_file_that_cannot_be_staged_stops_all() {
    let place = Place::new();
    fs::remove_file(place.path("b.yaml")).unwrap();
    let plan = place.plan(&[
        ("a.yaml", Some("a: 1\n"), Some("a: 2\n")),
        ("b.yaml", Some("b: 1\n"), Some("b: 2\n")),
    ]);
    assert!(place.write(&plan).is_err());
    assert_eq!(place.all(), "a.yaml a: 1");
}

#[test]
fn what_is_there_is_never_overwritten_by_a_new_file() {
    let place = Place::new();
    fs::create_dir(place.path("folder.yaml")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path("link.yaml")).unwrap();
    for name in ["a.yaml", "folder.yaml", "link.yaml", "a.yaml/x.yaml", "link.yaml/x.yaml"] {
        let error = place.write(&place.plan(&[(name, None, Some("new\n"))])).unwrap_err();
        assert_eq!(error.file.as_deref(), Some(&*place.path(name)), "{}", error.message());
    }
    fs::remove_file(place.path("link.yaml")).unwrap();
    assert_eq!(place.all(), format!("{OLD}, folder.yaml/"));
}

#[test]
fn never_wider() {
    let place = Place::new();
    fs::create_dir(place.path("inside")).unwrap();
    fs::write(place.path("inside/c.yaml"), "c: 1\n").unwrap();
    std::os::unix::fs::symlink(place.path("a.yaml"), place.path("inside/out.yaml")).unwrap();
    std::os::unix::fs::symlink(&place.root, place.path("inside/up")).unwrap();
    std::os::unix::fs::symlink("c.yaml", place.path("inside/in.yaml")).unwrap();
    let lock = hold(&place.path("inside"), &mut |_| {}).unwrap();
    let outside =
        [("out.yaml", Some("a: 1\n")), ("up/a.yaml", Some("a: 1\n")), ("up/new.yaml", None)];
    for (name, old) in outside {
        let changes = [("c.yaml", Some("c: 1\n"), Some("c: 2\n")), (name, old, Some("2"))];
        let error = write(&place.plan_in("inside", &changes), &lock, &mut |_| {}).unwrap_err();
        let path = place.path(&format!("inside/{name}"));
        assert_eq!(error.file.as_deref(), Some(&*path), "{}", error.message());
    }
    for name in ["../a.yaml", "gone/../../new.yaml", "/a.yaml"] {
        assert!(PackagePath::new(name).is_err(), "a plan cannot even express {name}");
    }
    assert_eq!(fs::read_to_string(place.path("inside/c.yaml")).unwrap(), "c: 1\n");
    let plan = place.plan_in("inside", &[("in.yaml", Some("c: 1\n"), Some("c: 2\n"))]);
    write(&plan, &lock, &mut |_| {}).unwrap();
    assert_eq!(fs::read_to_string(place.path("inside/c.yaml")).unwrap(), "c: 2\n");
    assert!(Path::new(&place.path("inside/in.yaml")).is_symlink());
    assert!(write(&plan, &Lock::none(), &mut |_| {}).is_err());
}

#[test]
fn a_failure_between_renames_takes_back_what_was_done() {
    let place = Place::new();
    fs::write(place.path("z.yaml"), "z: 1\n").unwrap();
    let lock = place.lock();
    let mut changes = everything_changes().to_vec();
    changes.push(("z.yaml", Some("z: 1\n"), Some("z: 2\n")));
    let plan = place.plan(&changes);
    apply::interrupted(&plan, &lock, |units| {
        // A folder in the way of the last file.
        fs::remove_file(place.path("z.yaml")).unwrap();
        fs::create_dir(place.path("z.yaml")).unwrap();
        let error = apply::rename(units).unwrap_err();
        assert_eq!(error.file.as_deref(), Some(&*place.path("z.yaml")));
        assert!(error.hints.is_empty(), "{error:?}");
    });
    assert_eq!(place.all(), format!("{OLD}, z.yaml/"));
}

#[test]
fn what_a_dead_run_staged_is_removed() {
    let place = Place::new();
    let plan = everything(&place);
    apply::killed_before_commit(&plan, &place.lock());
    assert!(place.all().contains(".krm-journal"), "{}", place.all());
    drop(place.lock());
    assert_eq!(place.all(), OLD);
}

#[test]
fn a_dead_run_is_finished_wherever_it_was() {
    for made in 0..=5 {
        let place = Place::new();
        apply::interrupted(&everything(&place), &place.lock(), |units| {
            apply::make(&mut units[0], made);
        });
        assert!(place.all().contains(".krm-journal"), "{}", place.all());
        drop(place.lock());
        assert_eq!(place.all(), NEW, "after {made} steps");
    }
}

#[test]
fn a_writer_inside_and_one_around_finish_it_too() {
    let place = Place::new();
    let inside = place.root.join("inside");
    fs::create_dir(&inside).unwrap();
    apply::interrupted(&everything(&place), &place.lock(), |units| apply::make(&mut units[0], 3));
    drop(hold(inside.to_str().unwrap(), &mut |_| {}).unwrap());
    assert_eq!(place.all(), NEW.replace("x/,", "inside/, x/,"));
    let around = hold(place.root.parent().unwrap().to_str().unwrap(), &mut |_| {}).unwrap();
    let name = place.root.file_name().unwrap().to_str().unwrap();
    let plan = place.plan_in("..", &[(&format!("{name}/a.yaml"), Some("a: 2\n"), Some("a: 3\n"))]);
    apply::interrupted(&plan, &around, |_| {});
    assert!(around.recover(std::slice::from_ref(&place.root), &mut |_| {}).unwrap());
    assert!(!place.all().contains(".krm-"), "{}", place.all());
}

#[test]
fn a_file_that_somebody_else_changed_meanwhile_is_left_as_it_is() {
    let place = Place::new();
    apply::interrupted(&everything(&place), &place.lock(), |_| {});
    fs::write(place.path("a.yaml"), "a: mine\n").unwrap();
    let mut told = Vec::new();
    drop(hold(&place.path(""), &mut |diagnostic| told.push(diagnostic.clone())).unwrap());
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].file.as_deref(), Some(&*place.path("a.yaml")));
    assert_eq!(place.all(), NEW.replace("a: 2", "a: mine"));
}

#[test]
fn a_journal_that_leads_out_through_a_link_is_not_followed() {
    let place = Place::new();
    let inside = place.root.join("inside");
    fs::create_dir(&inside).unwrap();
    std::os::unix::fs::symlink(&place.root, inside.join("up")).unwrap();
    let old = journal::digest(b"a: 1\n");
    let text = format!("krm journal 1\ndelete {old:016x} up/a.yaml\ncommit\n");
    fs::write(inside.join(journal::NAME), text).unwrap();
    drop(hold(inside.to_str().unwrap(), &mut |_| {}).unwrap());
    fs::remove_file(inside.join("up")).unwrap();
    assert_eq!(place.all(), format!("{OLD}, inside/"));
}

#[test]
fn reasons_are_in_our_case_and_without_numbers() {
    let error = io::Error::from_raw_os_error(13);
    assert_eq!(io_reason(&error), "permission denied");
}
