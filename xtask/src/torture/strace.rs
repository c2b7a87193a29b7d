//! Faults and signals at system calls, which strace injects.

use std::process::Command;
use std::sync::OnceLock;

use super::Attempt;
use crate::shell;

/// The calls that krm makes to read and write files. Which of them depends on the system and on the version of krm.
pub(super) const CALLS: &[&str] = &[
    "openat",
    "openat2",
    "close",
    "read",
    "write",
    "statx",
    "newfstatat",
    "fstat",
    "rename",
    "renameat",
    "renameat2",
    "fsync",
    "fdatasync",
    "syncfs",
    "ftruncate",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "flock",
    "fchmod",
    "fchown",
    "linkat",
    "getdents64",
    "flistxattr",
    "fgetxattr",
    "fsetxattr",
];

/// The calls that krm makes once it has begun to write.
pub(super) const WRITING: &[&str] = &[
    "renameat",
    "renameat2",
    "fsync",
    "syncfs",
    "unlinkat",
    "mkdirat",
    "write",
    "openat2",
    "fchmod",
];

/// Whether strace is installed and may trace.
pub(super) fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        let traced = shell::output(shell::program("strace").args(["-o", "/dev/null", "true"]));
        if traced.is_err() {
            println!("strace is missing or may not trace: no faults, and no kills at system calls");
        }
        traced.is_ok()
    })
}

/// krm under strace, with an injection such as `fsync:error=EIO:when=2`. Calls are counted per thread.
pub(super) fn krm(attempt: &Attempt<'_>, inject: &str, args: &[String]) -> Command {
    let call = inject.split(':').next().unwrap_or(inject);
    let mut strace = Command::new("strace");
    strace.args(["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null"]);
    strace.args(["-e", &format!("trace={call}"), "-e", &format!("inject={inject}")]);
    strace.arg(attempt.krm);
    attempt.prepared(strace, args)
}
