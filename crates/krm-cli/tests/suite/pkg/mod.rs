//! `krm pkg` with real git repositories: over files, HTTP and ssh.

mod get;
mod hostile;
mod interrupted;
mod properties;
pub(crate) mod repository;
mod servers;
mod updates;
mod vendor_and_migrate;
