//! Full and read-only disks, and missing permissions: an error, and no data is lost.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::sandbox::{Output, Sandbox};

/// A file system mounted on a directory and unmounted when dropped.
pub(crate) struct Mount<'a>(&'a Path);

impl<'a> Mount<'a> {
    pub(crate) fn new(directory: &'a Path, options: &str) -> Option<Self> {
        fs::create_dir_all(directory).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(directory);
        match mount.output() {
            Ok(output) if output.status.success() => Some(Self(directory)),
            _ => {
                println!("skipped: only the superuser may mount");
                None
            }
        }
    }

    fn make_read_only(&self) {
        let mut mount = Command::new("mount");
        assert!(mount.args(["-o", "remount,ro"]).arg(self.0).status().unwrap().success());
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

fn fill(sandbox: &Sandbox, count: usize) {
    for n in 0..count {
        let comment = "# padding so that the disk fills\n".repeat(100);
        let text = format!("{comment}apiVersion: v1\nkind: Pod\nmetadata:\n  name: p{n}\n");
        sandbox.write(&format!("disk/p{n}.yaml"), text.as_bytes());
    }
}

#[test]
fn full_disk_is_an_error_and_loses_nothing() {
    let sandbox = Sandbox::new();
    let disk = sandbox.path().join("disk");
    let Some(_mount) = Mount::new(&disk, "size=400k") else { return };
    fill(&sandbox, 60);
    let before = sandbox.files();
    let ran = sandbox.run("krm cfg annotate disk --kv a=b");
    assert_eq!(ran.exit, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot write: no space left on"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert_eq!(sandbox.files(), before);
    // After space is freed, the same command succeeds.
    for n in 10..60 {
        fs::remove_file(disk.join(format!("p{n}.yaml"))).unwrap();
    }
    let ran = sandbox.run(
        "krm cfg annotate disk --kv a=b -q && krm cfg grep metadata.annotations disk -o json | wc -l",
    );
    assert_eq!((ran.stdout.trim(), ran.stderr.as_str()), ("10", ""));
}

#[test]
fn read_only_disk_is_an_error_and_loses_nothing() {
    let sandbox = Sandbox::new();
    let disk = sandbox.path().join("disk");
    let Some(mount) = Mount::new(&disk, "size=1m") else { return };
    fill(&sandbox, 3);
    mount.make_read_only();
    let before = sandbox.files();
    for line in [
        "krm cfg annotate disk --kv a=b",
        "krm yaml set metadata.name x disk/p0.yaml",
        "krm yaml set metadata.name x disk/p0.yaml disk/p1.yaml",
        "krm cfg init disk",
    ] {
        check_refused(&sandbox.run(line), "read-only file system");
    }
    assert_eq!(sandbox.files(), before);
    assert_eq!(sandbox.run("krm cfg annotate disk --kv a=b --check").exit, 1);
}

#[test]
fn directory_without_write_permission_is_an_error_and_loses_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    fill(&sandbox, 3);
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(sandbox.path(), 0o755);
    mode(&sandbox.path().join("disk"), 0o555);
    let before = sandbox.files();
    let line = "krm cfg annotate disk --kv a=b";
    // The superuser may write everywhere, so the command runs as another user.
    let is_root = fs::write(sandbox.path().join("disk/probe"), "").is_ok();
    let _ = fs::remove_file(sandbox.path().join("disk/probe"));
    let ran = match is_root {
        false => sandbox.run(line),
        true => {
            // Other users may not be able to read the build directory.
            fs::copy(env!("CARGO_BIN_EXE_krm"), sandbox.path().join("krm")).unwrap();
            let ran = sandbox
                .run(&format!("setpriv --reuid 65534 --regid 65534 --clear-groups ./{line}"));
            fs::remove_file(sandbox.path().join("krm")).unwrap();
            ran
        }
    };
    mode(&sandbox.path().join("disk"), 0o755);
    if ran.exit == 127 {
        println!("skipped: `setpriv` is not installed");
        return;
    }
    check_refused(&ran, "permission denied");
    assert_eq!(sandbox.files(), before);
}

fn check_refused(ran: &Output, reason: &str) {
    assert_eq!(ran.exit, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.starts_with("error[cannot-write]: disk/"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with(&format!("cannot write: {reason}\n")), "{}", ran.stderr);
}
