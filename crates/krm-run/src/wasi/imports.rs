//! The imports of WASI preview 1: calls that are implemented, and calls that always fail.

use wasmi::errors::LinkerError;
use wasmi::{Engine, FuncType, Linker, Val, ValType};

use super::state::State;
use super::{abi, host, polling};

/// The module name of WASI preview 1.
pub(super) const MODULE: &str = "wasi_snapshot_preview1";

/// Calls that are implemented.
const IMPLEMENTED: [&str; 20] = [
    "args_get",
    "args_sizes_get",
    "clock_res_get",
    "clock_time_get",
    "environ_get",
    "environ_sizes_get",
    "fd_close",
    "fd_fdstat_get",
    "fd_fdstat_set_flags",
    "fd_filestat_get",
    "fd_prestat_dir_name",
    "fd_prestat_get",
    "fd_read",
    "fd_seek",
    "fd_tell",
    "fd_write",
    "poll_oneoff",
    "proc_exit",
    "random_get",
    "sched_yield",
];

/// Calls that always fail: files and sockets. Standard libraries import them for every program, so they must exist.
/// `i` and `I` are parameters of 32 and 64 bits.
const FAILING: [(&str, &str); 26] = [
    ("fd_advise", "iIIi"),
    ("fd_allocate", "iII"),
    ("fd_datasync", "i"),
    ("fd_fdstat_set_rights", "iII"),
    ("fd_filestat_set_size", "iI"),
    ("fd_filestat_set_times", "iIIi"),
    ("fd_pread", "iiiIi"),
    ("fd_pwrite", "iiiIi"),
    ("fd_readdir", "iiiIi"),
    ("fd_renumber", "ii"),
    ("fd_sync", "i"),
    ("path_create_directory", "iii"),
    ("path_filestat_get", "iiiii"),
    ("path_filestat_set_times", "iiiiIIi"),
    ("path_link", "iiiiiii"),
    ("path_open", "iiiiiIIii"),
    ("path_readlink", "iiiiii"),
    ("path_remove_directory", "iii"),
    ("path_rename", "iiiiii"),
    ("path_symlink", "iiiii"),
    ("path_unlink_file", "iii"),
    ("proc_raise", "i"),
    ("sock_accept", "iii"),
    ("sock_recv", "iiiiii"),
    ("sock_send", "iiiii"),
    ("sock_shutdown", "ii"),
];

pub(super) fn is_known(name: &str) -> bool {
    IMPLEMENTED.contains(&name) || FAILING.iter().any(|(failing, _)| *failing == name)
}

/// All functions that a module can import.
pub(super) fn linker(engine: &Engine) -> Result<Linker<State>, LinkerError> {
    let mut linker = Linker::new(engine);
    linker
        .func_wrap(MODULE, "args_get", host::args_get)?
        .func_wrap(MODULE, "args_sizes_get", host::args_sizes_get)?
        .func_wrap(MODULE, "clock_res_get", host::clock_res_get)?
        .func_wrap(MODULE, "clock_time_get", host::clock_time_get)?
        .func_wrap(MODULE, "environ_get", host::environ_get)?
        .func_wrap(MODULE, "environ_sizes_get", host::environ_sizes_get)?
        .func_wrap(MODULE, "fd_close", host::fd_close)?
        .func_wrap(MODULE, "fd_fdstat_get", host::fd_fdstat_get)?
        .func_wrap(MODULE, "fd_fdstat_set_flags", host::fd_fdstat_set_flags)?
        .func_wrap(MODULE, "fd_filestat_get", host::fd_filestat_get)?
        .func_wrap(MODULE, "fd_prestat_dir_name", host::no_preopened_name)?
        .func_wrap(MODULE, "fd_prestat_get", host::no_preopened_directory)?
        .func_wrap(MODULE, "fd_read", host::fd_read)?
        .func_wrap(MODULE, "fd_seek", host::fd_seek)?
        .func_wrap(MODULE, "fd_tell", host::fd_tell)?
        .func_wrap(MODULE, "fd_write", host::fd_write)?
        .func_wrap(MODULE, "poll_oneoff", polling::poll_oneoff)?
        .func_wrap(MODULE, "proc_exit", host::proc_exit)?
        .func_wrap(MODULE, "random_get", host::random_get)?
        .func_wrap(MODULE, "sched_yield", host::sched_yield)?;
    for (name, parameters) in FAILING {
        let parameters =
            parameters.bytes().map(|c| if c == b'I' { ValType::I64 } else { ValType::I32 });
        let ty = FuncType::new(parameters, [ValType::I32]);
        // There are no files and sockets, so every file descriptor is invalid.
        let errno = if name == "proc_raise" { abi::NOSYS } else { abi::BADF };
        linker.func_new(MODULE, name, ty, move |_, _, results| {
            results[0] = Val::I32(errno);
            Ok(())
        })?;
    }
    Ok(linker)
}
