//! Flags that permit functions to access files, the network and the environment.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use krm_core::Diagnostic;
use krm_run::{Mount, PermissionKind, Permissions, Pull, RuntimeFactory, User, Variable};

use super::cache_flags::CacheFlags;
use super::images::Images;
use super::interpreter;
use super::limits::LimitFlags;
use super::locked::LockFlag;
use super::remote;
use super::schema_flags::SchemaFlags;
use crate::{Failure, disk, package_source};

/// What functions may access.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Permissions of functions")]
pub(super) struct PermissionFlags {
    /// Run commands that packages declare
    #[arg(long, visible_alias = "enable-exec")]
    allow_exec: bool,

    /// Give containers access to the network of the host
    #[arg(long, visible_alias = "allow-network")]
    network: bool,

    /// Mount a directory into containers, read-only unless rw=true: type=bind,src=DIR,dst=PATH[,rw=true]
    #[arg(long, value_name = "MOUNT", value_parser = mount)]
    mount: Vec<String>,

    /// Set an environment variable of functions; a name without a value passes on your own variable
    #[arg(short, long, value_name = "NAME[=VALUE]")]
    env: Vec<Variable>,

    /// Run containers as your own user and group instead of nobody
    #[arg(long)]
    as_current_user: bool,

    /// Make the root file system of containers writable; changes are lost with the container
    #[arg(long)]
    writable_root: bool,

    /// When to pull images: Always, IfNotPresent, Never
    #[arg(long, value_name = "POLICY", default_value = "IfNotPresent")]
    image_pull_policy: Pull,

    /// Runtime of images: auto, krm, bubblewrap, docker, podman, nerdctl or grpc://HOST:PORT [default: $KRM_FN_RUNTIME, or auto: the first that works]
    #[arg(long, value_name = "RUNTIME")]
    runtime: Option<String>,

    #[command(flatten)]
    pub(super) lock: LockFlag,

    /// Compat: Wasm modules need no permission
    #[arg(long, hide = true)]
    allow_alpha_wasm: bool,

    #[command(flatten)]
    schemas: SchemaFlags,

    #[command(flatten)]
    images: Images,

    #[command(flatten)]
    pub(super) limits: LimitFlags,

    #[command(flatten)]
    pub(super) cache: CacheFlags,
}

impl PermissionFlags {
    /// Whether functions may use the network of the host.
    pub(super) fn has_network(&self) -> bool {
        self.network
    }

    /// A flag on the command line that only applies to containers.
    pub(super) fn container_flag(&self) -> Option<&'static str> {
        let flags = [
            (self.network, "--network"),
            (!self.mount.is_empty(), "--mount"),
            (self.as_current_user, "--as-current-user"),
            (self.writable_root, "--writable-root"),
            (self.runtime.is_some(), "--runtime"),
        ];
        flags.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
    }

    /// The factory of runtimes with these permissions, for functions that run on the package in `dir`.
    pub(super) fn factory(&self, dir: &str) -> Result<RuntimeFactory, Failure> {
        let working_directory = env::current_dir()?;
        let mounts = self.mount.iter().map(|text| Mount::parse(text, &working_directory));
        let mounts = mounts.collect::<Result<Vec<_>, _>>().map_err(|reason| {
            Failure::usage(Diagnostic::error(PermissionKind::InvalidMount { reason }))
        })?;
        let permissions = Permissions {
            allow_exec: self.allow_exec,
            allow_network: self.network,
            mounts,
            variables: self.env.clone(),
            user: if self.as_current_user { User::Current } else { User::Nobody },
            writable_root: self.writable_root,
        };
        let mut resolution = self.images.resolution()?;
        resolution.lock = self.lock.images(dir)?;
        Ok(RuntimeFactory {
            resolution,
            permissions,
            pull: self.image_pull_policy,
            engine: self.runtime.clone(),
            sandbox: package_source::sandbox(interpreter::program()),
            working_directory,
            environment: env::vars_os().collect(),
            interpreter: interpreter::program(),
            schemas: self.schemas.settings()?,
            cache: self.cache.open(self.images.cache_server()?.as_deref())?,
            remote: remote::evaluator(self.runtime.as_deref())?,
        })
    }
}

/// The directory of a package: the argument, or the parent of a file. Standard input has none, and a directory that does not exist
/// is reported when the package is opened.
pub(super) fn package_directory(dir: &str) -> Option<PathBuf> {
    let path = (dir != disk::STDIN).then(|| fs::canonicalize(dir).ok()).flatten()?;
    match path.is_dir() {
        true => Some(path),
        false => path.parent().map(Path::to_owned),
    }
}

/// Checks the syntax of a mount; its directory is resolved later.
fn mount(text: &str) -> Result<String, String> {
    Mount::parse(text, Path::new("/")).map(|_| text.to_owned())
}
