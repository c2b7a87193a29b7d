//! What the child gives up before it reads a request. Where a system lacks something it goes without: the limits of the parent
//! (time, output) hold everywhere.

/// The limits of a child process.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(unix), allow(dead_code, reason = "there are no such limits"))]
pub(super) struct ChildLimits {
    /// Bytes of memory for the interpreter.
    pub(super) memory: u64,
    /// Seconds of processor time.
    pub(super) seconds: u64,
}

/// Limits memory, processor time, files and core dumps of the process.
#[cfg(unix)]
pub(super) fn limit_process(limits: &ChildLimits) {
    use krm_catalog::interpreter::STACK_SIZE;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    /// The program itself: code, libraries and the allocator's reserve.
    const PROGRAM: u64 = 128 << 20;

    let limit = |resource: Resource, value: u64| {
        let old = getrlimit(resource).maximum;
        let value = old.map_or(value, |old| old.min(value));
        // A limit that the system refuses is one that it does not have.
        let _ = setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) });
    };
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        // Where the system runs out of memory before the limit, it should end this process and not krm.
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    }
    limit(Resource::As, limits.memory.saturating_add(PROGRAM + STACK_SIZE as u64));
    limit(Resource::Cpu, limits.seconds);
    limit(Resource::Core, 0);
    limit(Resource::Fsize, 0);
    limit(Resource::Nofile, 3);
}

#[cfg(not(unix))]
pub(super) fn limit_process(_: &ChildLimits) {}

/// Forbids all system calls but those that reading, computing, writing and exiting need: no files, network, processes or signals.
/// A forbidden call fails with EPERM.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn forbid_system_calls() {
    // Containers and old kernels may not allow filters; the limits hold without them.
    let _ = install_filter();
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn forbid_system_calls() {}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn install_filter() -> Result<(), Box<dyn std::error::Error>> {
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule,
    };
    const ALLOWED: [libc::c_long; 26] = [
        // Standard streams.
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        // Memory.
        libc::SYS_brk,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        // Threads of this process, their end, and the handler of a stack overflow.
        libc::SYS_futex,
        libc::SYS_rseq,
        libc::SYS_set_robust_list,
        libc::SYS_sched_yield,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_restart_syscall,
        libc::SYS_exit,
        libc::SYS_exit_group,
        // Clock, random numbers for hash tables, and own identifiers.
        libc::SYS_clock_gettime,
        libc::SYS_gettimeofday,
        libc::SYS_getrandom,
        libc::SYS_getpid,
        libc::SYS_gettid,
    ];
    let mut rules: std::collections::BTreeMap<i64, Vec<SeccompRule>> =
        ALLOWED.into_iter().map(|call| (call, Vec::new())).collect();
    // `abort` signals its own process.
    let own = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Eq,
        std::process::id().into(),
    )?;
    rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![own])?]);
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let arch = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules, refuse, SeccompAction::Allow, arch)?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter_all_threads(&program)?;
    Ok(())
}
