//! Plans on disk: all or nothing, also where something fails or is killed in between.

use std::fs;
use std::path::PathBuf;

use krm_core::{Diagnostic, OriginalFile, PackagePath, Plan};

use super::*;

#[cfg(target_os = "linux")]
mod attributes;

fn hold(directory: &str, report: lock::OnDiagnostic<'_>) -> Result<Lock, Diagnostic> {
    Lock::files(&[directory.to_owned()], report)
}

/// A directory with two files, and the lock on it.
struct TestDirectory {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl TestDirectory {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        // Its parent belongs to the test as well: other tests lock the directory of temporary files.
        let root = fs::canonicalize(directory.path()).unwrap().join("package");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a.yaml"), "a: 1\n").unwrap();
        fs::write(root.join("b.yaml"), "b: 1\n").unwrap();
        Self { _folder: directory, root }
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

    /// Every file below the directory with its content, hidden ones among them.
    fn all(&self) -> String {
        let mut found = Vec::new();
        let mut directories = vec![self.root.clone()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&self.root).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    found.push(format!("{name}/"));
                    directories.push(path);
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
fn everything(directory: &TestDirectory) -> Plan {
    directory.plan(&everything_changes())
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
fn files_are_replaced_created_and_deleted_and_no_staged_file_remains() {
    let directory = TestDirectory::new();
    directory.write(&everything(&directory)).unwrap();
    assert_eq!(directory.all(), NEW);
}

#[test]
fn file_changed_since_it_was_read_stops_the_whole_write() {
    let directory = TestDirectory::new();
    let plan = directory.plan(&[
        ("a.yaml", Some("a: 1\n"), Some("a: 2\n")),
        ("b.yaml", Some("b: 0\n"), Some("b: 2\n")),
        ("x/c.yaml", None, Some("c: 2\n")),
    ]);
    let error = directory.write(&plan).unwrap_err();
    assert_eq!(error.file.as_deref(), Some(&*directory.path("b.yaml")));
    assert_eq!(directory.all(), OLD);
}

#[test]
fn file_that_cannot_be_staged_stops_the_whole_write() {
    let directory = TestDirectory::new();
    fs::remove_file(directory.path("b.yaml")).unwrap();
    let plan = directory.plan(&[
        ("a.yaml", Some("a: 1\n"), Some("a: 2\n")),
        ("b.yaml", Some("b: 1\n"), Some("b: 2\n")),
    ]);
    assert!(directory.write(&plan).is_err());
    assert_eq!(directory.all(), "a.yaml a: 1");
}

#[test]
fn new_file_never_overwrites_an_existing_one() {
    let directory = TestDirectory::new();
    fs::create_dir(directory.path("directory.yaml")).unwrap();
    std::os::unix::fs::symlink("nowhere", directory.path("link.yaml")).unwrap();
    for name in ["a.yaml", "directory.yaml", "link.yaml", "a.yaml/x.yaml", "link.yaml/x.yaml"] {
        let error = directory.write(&directory.plan(&[(name, None, Some("new\n"))])).unwrap_err();
        assert_eq!(error.file.as_deref(), Some(&*directory.path(name)), "{}", error.message());
    }
    fs::remove_file(directory.path("link.yaml")).unwrap();
    assert_eq!(directory.all(), format!("{OLD}, directory.yaml/"));
}

#[test]
fn never_wider() {
    let directory = TestDirectory::new();
    fs::create_dir(directory.path("inside")).unwrap();
    fs::write(directory.path("inside/c.yaml"), "c: 1\n").unwrap();
    std::os::unix::fs::symlink(directory.path("a.yaml"), directory.path("inside/out.yaml"))
        .unwrap();
    std::os::unix::fs::symlink(&directory.root, directory.path("inside/up")).unwrap();
    std::os::unix::fs::symlink("c.yaml", directory.path("inside/in.yaml")).unwrap();
    let lock = hold(&directory.path("inside"), &mut |_| {}).unwrap();
    let outside =
        [("out.yaml", Some("a: 1\n")), ("up/a.yaml", Some("a: 1\n")), ("up/new.yaml", None)];
    for (name, old) in outside {
        let changes = [("c.yaml", Some("c: 1\n"), Some("c: 2\n")), (name, old, Some("2"))];
        let error = write(&directory.plan_in("inside", &changes), &lock, &mut |_| {}).unwrap_err();
        let path = directory.path(&format!("inside/{name}"));
        assert_eq!(error.file.as_deref(), Some(&*path), "{}", error.message());
    }
    for name in ["../a.yaml", "gone/../../new.yaml", "/a.yaml"] {
        assert!(PackagePath::new(name).is_err(), "a plan cannot even express {name}");
    }
    assert_eq!(fs::read_to_string(directory.path("inside/c.yaml")).unwrap(), "c: 1\n");
    let plan = directory.plan_in("inside", &[("in.yaml", Some("c: 1\n"), Some("c: 2\n"))]);
    write(&plan, &lock, &mut |_| {}).unwrap();
    assert_eq!(fs::read_to_string(directory.path("inside/c.yaml")).unwrap(), "c: 2\n");
    assert!(Path::new(&directory.path("inside/in.yaml")).is_symlink());
    assert!(write(&plan, &Lock::none(), &mut |_| {}).is_err());
}

#[test]
fn failed_rename_rolls_back_the_others() {
    let directory = TestDirectory::new();
    fs::write(directory.path("z.yaml"), "z: 1\n").unwrap();
    let lock = directory.lock();
    let mut changes = everything_changes().to_vec();
    changes.push(("z.yaml", Some("z: 1\n"), Some("z: 2\n")));
    let plan = directory.plan(&changes);
    apply::interrupted(&plan, &lock, |units| {
        // A directory in the way of the last file.
        fs::remove_file(directory.path("z.yaml")).unwrap();
        fs::create_dir(directory.path("z.yaml")).unwrap();
        let error = apply::rename(units).unwrap_err();
        assert_eq!(error.file.as_deref(), Some(&*directory.path("z.yaml")));
        assert_eq!(error.hints, ["run the command again"], "{error:?}");
    });
    assert_eq!(directory.all(), format!("{OLD}, z.yaml/"));
}

/// A plan whose last rename fails, because another program has put a directory in its way.
fn with_failing_rename(directory: &TestDirectory, then: impl FnOnce(Diagnostic)) {
    fs::write(directory.path("z.yaml"), "z: 1\n").unwrap();
    let mut changes = everything_changes().to_vec();
    changes.push(("z.yaml", Some("z: 1\n"), Some("z: 2\n")));
    let (plan, lock) = (directory.plan(&changes), directory.lock());
    apply::interrupted(&plan, &lock, |units| {
        fs::remove_file(directory.path("z.yaml")).unwrap();
        fs::create_dir(directory.path("z.yaml")).unwrap();
        then(apply::rename(units).unwrap_err());
    });
}

#[test]
fn failed_rollback_is_reported_and_completed_by_the_next_run() {
    let directory = TestDirectory::new();
    // No next journal can be written.
    fs::create_dir(directory.path(".krm-journal-next")).unwrap();
    with_failing_rename(&directory, |error| assert_eq!(error.hints.len(), 2, "{error:?}"));
    fs::remove_dir(directory.path(".krm-journal-next")).unwrap();
    drop(directory.lock());
    assert_eq!(directory.all(), format!("{NEW}, z.yaml/"));
}

#[test]
fn staged_file_in_a_directory_that_is_moved_away_is_removed_by_the_next_run() {
    let directory = TestDirectory::new();
    fs::create_dir(directory.path("s")).unwrap();
    fs::write(directory.path("s/c.yaml"), "c: 1\n").unwrap();
    let plan = directory.plan(&[
        ("a.yaml", Some("a: 1\n"), Some("a: 2\n")),
        ("s/c.yaml", Some("c: 1\n"), Some("c: 2\n")),
    ]);
    let lock = directory.lock();
    apply::interrupted(&plan, &lock, |units| {
        fs::rename(directory.path("s"), directory.path("t")).unwrap();
        std::os::unix::fs::symlink("t", directory.path("s")).unwrap();
        assert!(rollback::discard_staged(units).is_err());
        fs::remove_file(directory.path("s")).unwrap();
        fs::rename(directory.path("t"), directory.path("s")).unwrap();
    });
    drop(lock);
    assert!(directory.all().contains("s/.krm-"), "{}", directory.all());
    drop(directory.lock());
    assert_eq!(directory.all(), format!("{OLD}, s/, s/c.yaml c: 1"));
}

#[test]
fn killed_rollback_leaves_no_staged_file() {
    let directory = TestDirectory::new();
    apply::interrupted(&everything(&directory), &directory.lock(), |units| {
        apply::make(&mut units[0], 3);
        rollback::stage_only(&mut units[0]);
    });
    assert!(directory.all().contains("-back a: 1"), "{}", directory.all());
    drop(directory.lock());
    assert_eq!(directory.all(), NEW);
}

#[test]
fn committed_rollback_is_completed_and_removes_new_directories() {
    let directory = TestDirectory::new();
    apply::interrupted(&everything(&directory), &directory.lock(), |units| {
        apply::make(&mut units[0], 5);
        rollback::stage_only(&mut units[0]);
        journal::replace(&units[0].opened).unwrap();
    });
    drop(directory.lock());
    assert_eq!(directory.all(), OLD);
}

#[test]
fn failed_flush_names_the_file_and_the_next_run_flushes_again() {
    let directory = TestDirectory::new();
    let lock = directory.lock();
    apply::interrupted(&everything(&directory), &lock, |units| {
        apply::rename(units).unwrap();
        fs::rename(directory.path("x/y"), directory.path("x/gone")).unwrap();
        let error = apply::finish(units).unwrap_err();
        assert!(matches!(error.kind(), Some(FileKind::CannotFlush { .. })), "{error:?}");
        assert_eq!(error.file.as_deref(), Some(&*directory.path("x/y/c.yaml")));
        fs::rename(directory.path("x/gone"), directory.path("x/y")).unwrap();
    });
    assert!(directory.all().contains(".krm-journal"), "{}", directory.all());
    drop(lock);
    drop(directory.lock());
    assert_eq!(directory.all(), NEW);
}

#[test]
fn staged_files_of_a_killed_run_are_removed() {
    let directory = TestDirectory::new();
    let plan = everything(&directory);
    apply::killed_before_commit(&plan, &directory.lock());
    assert!(directory.all().contains(".krm-journal"), "{}", directory.all());
    drop(directory.lock());
    assert_eq!(directory.all(), OLD);
}

#[test]
fn committed_run_is_completed_wherever_it_was_killed() {
    for made in 0..=5 {
        let directory = TestDirectory::new();
        apply::interrupted(&everything(&directory), &directory.lock(), |units| {
            apply::make(&mut units[0], made);
        });
        assert!(directory.all().contains(".krm-journal"), "{}", directory.all());
        drop(directory.lock());
        assert_eq!(directory.all(), NEW, "after {made} steps");
    }
}

#[test]
fn directory_that_a_killed_run_leaves_empty_is_removed() {
    for made in 0..=2 {
        let directory = TestDirectory::new();
        fs::create_dir(directory.path("s")).unwrap();
        fs::write(directory.path("s/c.yaml"), "c: 1\n").unwrap();
        let plan = directory.plan(&[
            ("a.yaml", Some("a: 1\n"), Some("a: 2\n")),
            ("s/c.yaml", Some("c: 1\n"), None),
        ]);
        apply::interrupted(&plan, &directory.lock(), |units| {
            apply::make(&mut units[0], made);
        });
        drop(directory.lock());
        assert_eq!(directory.all(), "a.yaml a: 2, b.yaml b: 1", "after {made} steps");
    }
}

#[test]
fn writers_in_parent_and_child_directories_complete_a_killed_run() {
    let directory = TestDirectory::new();
    let inside = directory.root.join("inside");
    fs::create_dir(&inside).unwrap();
    apply::interrupted(&everything(&directory), &directory.lock(), |units| {
        apply::make(&mut units[0], 3);
    });
    drop(hold(inside.to_str().unwrap(), &mut |_| {}).unwrap());
    assert_eq!(directory.all(), NEW.replace("x/,", "inside/, x/,"));
    let around = hold(directory.root.parent().unwrap().to_str().unwrap(), &mut |_| {}).unwrap();
    let name = directory.root.file_name().unwrap().to_str().unwrap();
    let plan =
        directory.plan_in("..", &[(&format!("{name}/a.yaml"), Some("a: 2\n"), Some("a: 3\n"))]);
    apply::interrupted(&plan, &around, |_| {});
    assert!(around.recover(std::slice::from_ref(&directory.root), &mut |_| {}).unwrap());
    assert!(!directory.all().contains(".krm-"), "{}", directory.all());
}

#[test]
fn recovery_keeps_files_that_another_program_changed() {
    let directory = TestDirectory::new();
    apply::interrupted(&everything(&directory), &directory.lock(), |_| {});
    fs::write(directory.path("a.yaml"), "a: mine\n").unwrap();
    let mut reported = Vec::new();
    drop(hold(&directory.path(""), &mut |diagnostic| reported.push(diagnostic.clone())).unwrap());
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(matches!(reported[0].kind(), Some(FileKind::RunCompleted)), "{reported:?}");
    assert!(matches!(reported[1].kind(), Some(FileKind::NotRecovered)), "{reported:?}");
    assert_eq!(reported[1].file.as_deref(), Some(&*directory.path("a.yaml")));
    assert_eq!(directory.all(), NEW.replace("a: 2", "a: mine"));
}

#[test]
fn journal_path_through_a_symlink_is_not_followed() {
    let directory = TestDirectory::new();
    let inside = directory.root.join("inside");
    fs::create_dir(&inside).unwrap();
    std::os::unix::fs::symlink(&directory.root, inside.join("up")).unwrap();
    let step = journal::JournalStep::Delete {
        target: "up/a.yaml".into(),
        old: journal::digest(b"a: 1\n"),
    };
    let mut journal = journal::begin(&root::Directory::open(&inside).unwrap(), &[step]).unwrap();
    journal.commit().unwrap();
    let mut reported = Vec::new();
    drop(hold(inside.to_str().unwrap(), &mut |it| reported.push(it.clone())).unwrap());
    assert!(matches!(reported[0].kind(), Some(FileKind::RunCompleted)), "{reported:?}");
    fs::remove_file(inside.join("up")).unwrap();
    assert_eq!(directory.all(), format!("{OLD}, inside/"));
}

#[test]
fn every_recovery_is_reported() {
    let directory = TestDirectory::new();
    apply::killed_before_commit(&everything(&directory), &directory.lock());
    let mut reported = Vec::new();
    drop(hold(&directory.path(""), &mut |it| reported.push(it.clone())).unwrap());
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(matches!(reported[0].kind(), Some(FileKind::RunRolledBack)), "{reported:?}");
    assert_eq!(directory.all(), OLD);
}

/// Copies a directory, hidden files among them, as a clone or an archive does.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => _ = fs::copy(entry.path(), target).unwrap(),
        }
    }
}

#[test]
fn journal_that_came_with_a_copy_is_not_carried_out() {
    for is_committed in [true, false] {
        let directory = TestDirectory::new();
        let plan = everything(&directory);
        match is_committed {
            true => apply::interrupted(&plan, &directory.lock(), |_| {}),
            false => apply::killed_before_commit(&plan, &directory.lock()),
        }
        let clone = directory.root.with_file_name("clone");
        copy(&directory.root, &clone);
        let error = hold(clone.to_str().unwrap(), &mut |_| {}).unwrap_err();
        assert!(matches!(error.kind(), Some(FileKind::CopiedJournal)), "{error:?}");
        let below = clone.join("x");
        let error = hold(below.to_str().unwrap(), &mut |_| {}).unwrap_err();
        assert!(matches!(error.kind(), Some(FileKind::CopiedJournal)), "{error:?}");
        let clone = TestDirectory { _folder: tempfile::tempdir().unwrap(), root: clone };
        assert_eq!(clone.all(), directory.all(), "nothing is touched");
    }
}

#[test]
fn journal_is_carried_out_after_its_directory_was_renamed() {
    let mut directory = TestDirectory::new();
    apply::interrupted(&everything(&directory), &directory.lock(), |_| {});
    let renamed = directory.root.with_file_name("renamed");
    fs::rename(&directory.root, &renamed).unwrap();
    directory.root = renamed;
    drop(directory.lock());
    assert_eq!(directory.all(), NEW);
}

#[cfg(target_os = "linux")]
#[test]
fn journal_of_an_earlier_run_is_not_carried_out_again() {
    let directory = TestDirectory::new();
    if !attributes::set_attribute(&directory.path(""), "user.test", b"") {
        return;
    }
    apply::interrupted(&everything(&directory), &directory.lock(), |_| {});
    let saved = directory.root.with_file_name("saved");
    copy(&directory.root, &saved);
    drop(directory.lock());
    assert_eq!(directory.all(), NEW);
    // Somebody restores the old files, as `git checkout` would.
    for entry in fs::read_dir(&saved).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_file() {
            fs::copy(entry.path(), directory.root.join(entry.file_name())).unwrap();
        }
    }
    let error = hold(&directory.path(""), &mut |_| {}).unwrap_err();
    assert!(matches!(error.kind(), Some(FileKind::CopiedJournal)), "{error:?}");
}

#[test]
fn empty_journal_is_removed() {
    let directory = TestDirectory::new();
    fs::write(directory.path(journal::NAME), "krm journal 2\ndirec").unwrap();
    drop(directory.lock());
    assert_eq!(directory.all(), OLD);
}

#[test]
fn reasons_are_lower_case_without_error_numbers() {
    let error = io::Error::from_raw_os_error(13);
    assert_eq!(io_reason(&error), "permission denied");
}

/// Swaps a directory for a symlink to another one with the same files, staged ones among them.
fn swap_for_symlink(directory: &TestDirectory, name: &str) {
    let (inside, aside) = (directory.path(name), directory.path("../aside"));
    let outside = directory.path("../outside");
    fs::create_dir(&outside).unwrap();
    for entry in fs::read_dir(&inside).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), Path::new(&outside).join(entry.file_name())).unwrap();
    }
    fs::rename(&inside, aside).unwrap();
    std::os::unix::fs::symlink(outside, inside).unwrap();
}

/// Restores the directory, as after a failed attack.
fn put_back(directory: &TestDirectory, name: &str) {
    fs::remove_file(directory.path(name)).unwrap();
    fs::rename(directory.path("../aside"), directory.path(name)).unwrap();
}

#[test]
fn directory_that_is_swapped_for_a_symlink_takes_no_writes() {
    let directory = TestDirectory::new();
    fs::create_dir(directory.path("x")).unwrap();
    for name in ["x/c.yaml", "x/d.yaml"] {
        fs::write(directory.path(name), "c: 1\n").unwrap();
    }
    let plan = directory.plan(&[
        ("a.yaml", Some("a: 1\n"), Some("a: 2\n")),
        ("x/c.yaml", Some("c: 1\n"), Some("c: 2\n")),
        ("x/d.yaml", Some("c: 1\n"), None),
        ("x/e.yaml", None, Some("e: 2\n")),
    ]);
    let mut staged = Vec::new();
    apply::interrupted(&plan, &directory.lock(), |units| {
        swap_for_symlink(&directory, "x");
        let names = fs::read_dir(directory.path("../outside")).unwrap();
        staged.extend(names.map(|entry| entry.unwrap().file_name()));
        let error = apply::rename(units).unwrap_err();
        assert_eq!(error.file.as_deref(), Some(&*directory.path("x/c.yaml")), "{error:?}");
    });
    let text = |name: &str| fs::read_to_string(directory.path(name)).unwrap();
    assert_eq!(text("../outside/c.yaml"), "c: 1\n");
    assert_eq!(text("../outside/d.yaml"), "c: 1\n");
    assert_eq!(fs::read_dir(directory.path("../outside")).unwrap().count(), staged.len());
    assert_eq!(text("a.yaml"), "a: 1\n", "everything is rolled back");
    put_back(&directory, "x");
    drop(directory.lock());
    assert_eq!(directory.all(), format!("{OLD}, x/, x/c.yaml c: 1, x/d.yaml c: 1"));
}

#[test]
fn staging_does_not_follow_a_directory_that_was_swapped() {
    let directory = TestDirectory::new();
    fs::create_dir(directory.path("x")).unwrap();
    fs::write(directory.path("x/c.yaml"), "c: 1\n").unwrap();
    let plan = directory
        .plan(&[("x/c.yaml", Some("c: 1\n"), Some("c: 2\n")), ("x/e.yaml", None, Some("e: 2\n"))]);
    let lock = directory.lock();
    apply::resolved(&plan, &lock, |prepare| {
        swap_for_symlink(&directory, "x");
        let error = prepare().unwrap_err();
        assert!(matches!(error.kind(), Some(FileKind::CannotWrite { .. })), "{error:?}");
    });
    assert_eq!(fs::read_dir(directory.path("../outside")).unwrap().count(), 1);
    drop(lock);
    put_back(&directory, "x");
    drop(directory.lock());
    assert_eq!(directory.all(), format!("{OLD}, x/, x/c.yaml c: 1"));
}

#[test]
fn edit_right_before_the_rename_is_an_error_and_kept() {
    let edits: [fn(&str); 5] = [
        |path| fs::write(path, "a: mine\n").unwrap(),
        // Of the same length, and within the same tick of the clock.
        |path| fs::write(path, "a: 9\n").unwrap(),
        |path| {
            fs::write(format!("{path}~"), "a: 9\n").unwrap();
            fs::rename(format!("{path}~"), path).unwrap();
        },
        |path| fs::remove_file(path).unwrap(),
        |path| {
            use std::os::unix::fs::PermissionsExt;
            // A new mode would be lost as well.
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        },
    ];
    for edit in edits {
        let directory = TestDirectory::new();
        let plan = directory.plan(&[
            ("a.yaml", Some("a: 1\n"), Some("a: 2\n")),
            ("b.yaml", Some("b: 1\n"), Some("b: 2\n")),
        ]);
        let mut edited = String::new();
        apply::interrupted(&plan, &directory.lock(), |units| {
            edit(&directory.path("a.yaml"));
            edited = fs::read_to_string(directory.path("a.yaml")).unwrap_or_default();
            let error = apply::rename(units).unwrap_err();
            assert!(matches!(error.kind(), Some(FileKind::FileChangedMeanwhile)), "{error:?}");
            assert_eq!(error.file.as_deref(), Some(&*directory.path("a.yaml")));
        });
        assert_eq!(fs::read_to_string(directory.path("a.yaml")).unwrap_or_default(), edited);
        let b = fs::read_to_string(directory.path("b.yaml")).unwrap();
        assert_eq!(b, "b: 1\n", "the other file is rolled back");
        assert!(!directory.all().contains(".krm-"), "{}", directory.all());
    }
}

#[test]
fn edit_right_before_a_deletion_is_an_error_and_kept() {
    let directory = TestDirectory::new();
    let plan = directory.plan(&[("a.yaml", Some("a: 1\n"), None)]);
    apply::interrupted(&plan, &directory.lock(), |units| {
        fs::write(directory.path("a.yaml"), "a: 9\n").unwrap();
        apply::rename(units).unwrap_err();
    });
    assert_eq!(directory.all(), OLD.replace("a: 1", "a: 9"));
}

#[test]
fn hard_links_in_one_plan_are_all_replaced() {
    use std::os::unix::fs::MetadataExt;
    let directory = TestDirectory::new();
    fs::hard_link(directory.path("a.yaml"), directory.path("c.yaml")).unwrap();
    let changes = ["a.yaml", "c.yaml"].map(|name| (name, Some("a: 1\n"), Some("a: 2\n")));
    directory.write(&directory.plan(&changes)).unwrap();
    assert_eq!(directory.all(), "a.yaml a: 2, b.yaml b: 1, c.yaml a: 2");
    let inode = |name: &str| fs::metadata(directory.path(name)).unwrap().ino();
    assert_eq!(inode("a.yaml"), inode("c.yaml"));
}
