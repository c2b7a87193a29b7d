//! `krm pkg` with real git repositories, over files, HTTP and ssh, and with a real registry.

mod full_disk;
mod get;
mod history_model;
mod hostile;
mod interrupted;
mod on_disk;
mod properties;
mod registries;
pub(crate) mod repository;
mod servers;
mod updates;
mod vendor_and_migrate;
