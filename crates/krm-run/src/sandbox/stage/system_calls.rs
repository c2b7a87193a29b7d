//! The system calls of a function: what programs need to compute, to read and write files, and to start processes and connections.
//!
//! A list of what is allowed, so that calls of future kernels are not. What is missing fails with ENOSYS, as in a kernel without it, for
//! which libraries have alternatives: no namespaces, mounts, modules, keys, tracing, BPF, performance counters, io_uring or clocks.

use std::collections::BTreeMap;

use libc::*;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

type Error = Box<dyn std::error::Error>;

/// Allowed with all arguments, on every architecture.
#[rustfmt::skip]
const ALLOWED: &[c_long] = &[
    // Files.
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_preadv2, SYS_pwritev2,
    SYS_openat, SYS_openat2, SYS_close, SYS_close_range, SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs,
    SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_getdents64, SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_mkdirat, SYS_mknodat,
    SYS_unlinkat, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat,
    SYS_truncate, SYS_ftruncate, SYS_fallocate, SYS_fadvise64, SYS_readahead, SYS_fsync, SYS_fdatasync, SYS_sync, SYS_syncfs,
    SYS_copy_file_range, SYS_sendfile, SYS_splice, SYS_tee, SYS_vmsplice, SYS_dup, SYS_dup3, SYS_fcntl, SYS_flock, SYS_umask,
    SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_listxattr, SYS_llistxattr, SYS_flistxattr, SYS_setxattr, SYS_lsetxattr,
    SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_inotify_init1, SYS_inotify_add_watch,
    SYS_inotify_rm_watch, SYS_memfd_create, SYS_io_setup, SYS_io_submit, SYS_io_getevents, SYS_io_cancel, SYS_io_destroy,
    SYS_ioprio_get, SYS_ioprio_set,
    // Waiting.
    SYS_pipe2, SYS_ppoll, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_eventfd2,
    SYS_signalfd4, SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime,
    // Memory.
    SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_mincore, SYS_msync, SYS_mlock, SYS_mlock2,
    SYS_mlockall, SYS_munlock, SYS_munlockall, SYS_pkey_alloc, SYS_pkey_free, SYS_pkey_mprotect, SYS_membarrier,
    SYS_remap_file_pages, SYS_mseal,
    SYS_shmget, SYS_shmat, SYS_shmdt, SYS_shmctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_msgget, SYS_msgsnd,
    SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink, SYS_mq_timedsend, SYS_mq_timedreceive, SYS_mq_notify, SYS_mq_getsetattr,
    // Processes and threads. `clone` is below; `clone3` cannot be filtered, and libraries use `clone` without it.
    SYS_execve, SYS_execveat, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_kill, SYS_tkill, SYS_tgkill,
    SYS_pidfd_open, SYS_pidfd_send_signal, SYS_futex, SYS_futex_waitv, SYS_get_robust_list, SYS_set_robust_list, SYS_rseq,
    SYS_set_tid_address, SYS_restart_syscall, SYS_getpid, SYS_getppid, SYS_gettid, SYS_getpgid, SYS_setpgid, SYS_getsid,
    SYS_setsid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_setuid,
    SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setfsuid, SYS_setfsgid, SYS_setgroups,
    SYS_capget, SYS_capset, SYS_prctl, SYS_prlimit64, SYS_getrusage, SYS_times, SYS_getpriority, SYS_setpriority, SYS_sched_yield,
    SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_sched_getparam, SYS_sched_setparam, SYS_sched_getscheduler,
    SYS_sched_setscheduler, SYS_sched_getattr, SYS_sched_setattr, SYS_sched_get_priority_max, SYS_sched_get_priority_min,
    SYS_sched_rr_get_interval, SYS_getcpu, SYS_seccomp, SYS_landlock_create_ruleset, SYS_landlock_add_rule,
    SYS_landlock_restrict_self,
    // Signals.
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigpending, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_rt_sigreturn,
    SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_sigaltstack,
    // Time.
    SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_timer_create, SYS_timer_delete,
    SYS_timer_settime, SYS_timer_gettime, SYS_timer_getoverrun, SYS_getitimer, SYS_setitimer,
    // Connections; `socket` is below.
    SYS_socketpair, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_connect, SYS_shutdown, SYS_getsockname, SYS_getpeername,
    SYS_getsockopt, SYS_setsockopt, SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg,
    // The system.
    SYS_uname, SYS_sysinfo, SYS_getrandom,
];

/// Older forms, which only this architecture has.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const LEGACY: &[c_long] = &[
    SYS_open, SYS_creat, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_getdents, SYS_mkdir, SYS_mknod, SYS_rmdir, SYS_unlink,
    SYS_rename, SYS_renameat, SYS_link, SYS_symlink, SYS_chmod, SYS_fchmodat2, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes,
    SYS_futimesat, SYS_dup2, SYS_pipe, SYS_poll, SYS_select, SYS_epoll_create, SYS_epoll_wait, SYS_eventfd, SYS_signalfd,
    SYS_inotify_init, SYS_fork, SYS_vfork, SYS_getpgrp, SYS_pause, SYS_alarm, SYS_time, SYS_arch_prctl, SYS_getrlimit,
    SYS_setrlimit, SYS_sync_file_range,
];
#[cfg(target_arch = "aarch64")]
const LEGACY: &[c_long] = &[];

/// The flags of `clone` for namespaces.
const NAMESPACES: c_int = CLONE_NEWNS
    | CLONE_NEWUTS
    | CLONE_NEWIPC
    | CLONE_NEWUSER
    | CLONE_NEWPID
    | CLONE_NEWNET
    | CLONE_NEWCGROUP;

/// Families of addresses: others are rarely used code of the kernel, or reach the host of a virtual machine.
const FAMILIES: [c_int; 4] = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK];

/// Values of `personality` that change nothing.
const PERSONALITIES: [u64; 2] = [0, 0xffff_ffff];

/// Requests that type into a terminal.
const FORBIDDEN_REQUESTS: [u64; 2] = [0x5412, 0x541c];

/// The filter as a program of the kernel.
pub(super) fn program() -> Result<BpfProgram, Error> {
    use SeccompCmpArgLen::{Dword, Qword};
    let allowed = ALLOWED.iter().chain(LEGACY).map(|call| (*call, Vec::new()));
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = allowed.collect();
    let rule = |conditions: Vec<SeccompCondition>| SeccompRule::new(conditions);
    let mask = SeccompCmpOp::MaskedEq(u64::from(NAMESPACES.unsigned_abs()));
    let without_namespaces = SeccompCondition::new(0, Qword, mask, 0)?;
    rules.insert(SYS_clone, vec![rule(vec![without_namespaces])?]);
    let is = |value: u64| rule(vec![SeccompCondition::new(0, Dword, SeccompCmpOp::Eq, value)?]);
    let families = FAMILIES.iter().map(|family| is(u64::from(family.unsigned_abs())));
    rules.insert(SYS_socket, families.collect::<Result<_, _>>()?);
    rules.insert(SYS_personality, PERSONALITIES.into_iter().map(is).collect::<Result<_, _>>()?);
    let is_not = |request| SeccompCondition::new(1, Dword, SeccompCmpOp::Ne, request);
    let requests = FORBIDDEN_REQUESTS.into_iter().map(is_not).collect::<Result<_, _>>()?;
    rules.insert(SYS_ioctl, vec![rule(requests)?]);
    let refuse = SeccompAction::Errno(ENOSYS.unsigned_abs());
    let arch = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, refuse, SeccompAction::Allow, arch)?.try_into()?)
}

/// Installs the filter for this process and all that it starts.
pub(super) fn install() -> Result<(), Error> {
    Ok(seccompiler::apply_filter(&program()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_is_a_valid_program() {
        let program = program().unwrap();
        // The kernel takes at most 4096 instructions.
        assert!((600..4096).contains(&program.len()), "{}", program.len());
        for call in [
            SYS_mount,
            SYS_ptrace,
            SYS_bpf,
            SYS_keyctl,
            SYS_unshare,
            SYS_clone3,
            SYS_io_uring_setup,
        ] {
            assert!(!ALLOWED.contains(&call) && !LEGACY.contains(&call), "{call}");
        }
    }
}
