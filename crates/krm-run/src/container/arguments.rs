//! The arguments of `docker run`: everything is denied except what was granted.

use std::ffi::OsString;
use std::path::Path;

use super::{Container, ContainerSettings, Mount, Network, User};
use crate::{Limits, Variable};

/// The `/tmp` of a container; its content counts as memory.
const TMP: &str = "/tmp:rw,noexec,nosuid,nodev,size=256m,mode=1777";

/// Seconds after krm's own timeout at which the engine stops the container.
const ENGINE_TIMEOUT_MARGIN: u64 = 10;

/// Rejects values that the engine could mistake for flags.
pub(super) fn check(image: &str, settings: &ContainerSettings) -> Result<(), String> {
    let starts_well = image.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !starts_well || image.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("an image name begins with a letter or digit and has no spaces".to_owned());
    }
    if let Some(local) = settings.local.as_ref().filter(|local| !local.is_absolute()) {
        return Err(format!(
            "the directory for /local must be absolute, found {}",
            local.display()
        ));
    }
    if let Network::Named(name) = &settings.network
        && (name.is_empty() || name.starts_with('-'))
    {
        return Err(format!("invalid network name `{name}`"));
    }
    Ok(())
}

/// All arguments of the client.
pub(super) fn run_arguments(container: &Container, name: &str, limits: &Limits) -> Vec<OsString> {
    let settings = &container.settings;
    let mut args: Vec<OsString> =
        ["run", "--rm", "--interactive", "--pull=never"].map(Into::into).into();
    let mut add = |arg: String| args.push(arg.into());
    add(format!("--name={name}"));
    // Spec: the container environment of the functions specification.
    add(format!("--network={}", network(&settings.network)));
    add(format!("--user={}", user(settings.user)));
    add("--security-opt=no-new-privileges".to_owned());
    // The following flags are stricter than the specification.
    add("--cap-drop=ALL".to_owned());
    if !settings.writable_root {
        add("--read-only".to_owned());
    }
    add(format!("--tmpfs={TMP}"));
    add(format!("--memory={}", limits.memory));
    add(format!("--pids-limit={}", limits.processes));
    // The engine's copy of the output is never read, and would fill the disk.
    if container.engine.has_log_drivers() {
        add("--log-driver=none".to_owned());
    }
    // Only needed when krm itself is killed; otherwise krm has stopped the container before.
    if container.engine.has_timeouts() {
        add(format!("--timeout={}", limits.time.as_secs().saturating_add(ENGINE_TIMEOUT_MARGIN)));
    }
    let local = settings.local.as_deref().map(local);
    args.extend(local.iter().chain(&settings.mounts).map(|mount| {
        let mut arg = OsString::from("--mount=");
        arg.push(mount.argument());
        arg
    }));
    args.extend(settings.variables.iter().map(|variable| variable_argument(variable).into()));
    args.push((&*container.image).into());
    args.extend(settings.args.iter().map(Into::into));
    args
}

/// Spec: the directory of the functionConfig is mounted read-only as `/local`.
pub(super) fn local(directory: &Path) -> Mount {
    Mount::bind(directory, "/local")
}

fn network(network: &Network) -> &str {
    match network {
        Network::None => "none",
        Network::Host => "host",
        Network::Named(name) => name,
    }
}

#[cfg(unix)]
pub(super) fn user(user: User) -> String {
    use rustix::process::{getgid, getuid};
    match user {
        User::Nobody => "65534:65534".to_owned(),
        User::Current => format!("{}:{}", getuid().as_raw(), getgid().as_raw()),
    }
}

#[cfg(not(unix))]
pub(super) fn user(_: User) -> String {
    "65534:65534".to_owned()
}

/// A variable that is passed on is given by name only, because other users can read the arguments of a process.
fn variable_argument(variable: &Variable) -> String {
    match variable {
        Variable::Set(name, value) => format!("--env={name}={value}"),
        Variable::Pass(name) => format!("--env={name}"),
    }
}
