//! Child processes: fed, read, limited, and gone when the call returns.

#[cfg(unix)]
mod child;
#[cfg(unix)]
mod group;
#[cfg(unix)]
mod streams;
#[cfg(not(unix))]
mod unsupported;

#[cfg(unix)]
pub(crate) use child::{RunningChild, run};
#[cfg(not(unix))]
pub(crate) use unsupported::{RunningChild, is_executable, run};

/// Whether the file has an execute permission for anybody; whether krm may execute it is up to the operating system.
#[cfg(unix)]
pub(crate) fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}
