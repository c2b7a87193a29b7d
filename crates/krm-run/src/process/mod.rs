//! Functions as processes: fed, listened to, limited, and gone when the call returns.

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod group;
#[cfg(unix)]
mod pump;
#[cfg(unix)]
mod streams;

#[cfg(not(unix))]
pub(crate) use elsewhere::{Started, is_executable, run};
#[cfg(unix)]
pub(crate) use pump::{Started, run};

/// Whether a file may be executed by anybody; whether by us, the system says.
#[cfg(unix)]
pub(crate) fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}
