//! The command line of an engine: everything closed, and opened exactly as far as somebody asked.

use std::ffi::OsString;
use std::path::Path;

use super::{Container, ContainerSettings, Mount, Network, User};
use crate::{Limits, Variable};

/// What a container may keep in its `/tmp`; it counts as its memory.
const TMP: &str = "/tmp:rw,noexec,nosuid,nodev,size=256m,mode=1777";

/// Seconds between our end of a container's time and the engine's own.
const LATE: u64 = 10;

/// What the engine could take for something else is refused before it gets there.
pub(super) fn check(image: &str, settings: &ContainerSettings) -> Result<(), String> {
    let starts_well = image.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !starts_well || image.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("an image name starts with a letter or a digit and has no spaces".to_owned());
    }
    if let Some(local) = settings.local.as_ref().filter(|local| !local.is_absolute()) {
        return Err(format!("the folder for /local must be absolute: {}", local.display()));
    }
    if let Network::Named(name) = &settings.network
        && (name.is_empty() || name.starts_with('-'))
    {
        return Err(format!("`{name}` is no name of a network"));
    }
    Ok(())
}

/// All words after the program.
pub(super) fn run(container: &Container, name: &str, limits: &Limits) -> Vec<OsString> {
    let settings = &container.settings;
    let mut words: Vec<OsString> =
        ["run", "--rm", "--interactive", "--pull=never"].map(Into::into).into();
    let mut add = |word: String| words.push(word.into());
    add(format!("--name={name}"));
    // Spec: the container environment of the functions specification.
    add(format!("--network={}", network(&settings.network)));
    add(format!("--user={}", user(settings.user)));
    add("--security-opt=no-new-privileges".to_owned());
    // What follows is stricter than the specification.
    add("--cap-drop=ALL".to_owned());
    if !settings.writable_root {
        add("--read-only".to_owned());
    }
    add(format!("--tmpfs={TMP}"));
    add(format!("--memory={}", limits.memory));
    add(format!("--pids-limit={}", limits.processes));
    // Nobody reads the engine's copy of the output, and a function can write without end.
    if container.engine.has_log_drivers() {
        add("--log-driver=none".to_owned());
    }
    // Only for when krm is killed: it would have ended the container itself by then.
    if container.engine.has_timeouts() {
        add(format!("--timeout={}", limits.time.as_secs().saturating_add(LATE)));
    }
    let local = settings.local.as_deref().map(local);
    words.extend(local.iter().chain(&settings.mounts).map(|mount| {
        let mut word = OsString::from("--mount=");
        word.push(mount.argument());
        word
    }));
    words.extend(settings.variables.iter().map(|variable| variable_argument(variable).into()));
    words.push((&*container.image).into());
    words.extend(settings.args.iter().map(Into::into));
    words
}

/// Spec: the folder of the functionConfig is mounted under `/local`, read-only.
fn local(folder: &Path) -> Mount {
    Mount::bind(folder, "/local")
}

fn network(network: &Network) -> &str {
    match network {
        Network::None => "none",
        Network::Host => "host",
        Network::Named(name) => name,
    }
}

#[cfg(unix)]
fn user(user: User) -> String {
    use rustix::process::{getgid, getuid};
    match user {
        User::Nobody => "65534:65534".to_owned(),
        User::Current => format!("{}:{}", getuid().as_raw(), getgid().as_raw()),
    }
}

#[cfg(not(unix))]
fn user(_: User) -> String {
    "65534:65534".to_owned()
}

/// A variable that is passed on is only named: other people can read the arguments of a process.
fn variable_argument(variable: &Variable) -> String {
    match variable {
        Variable::Set(name, value) => format!("--env={name}={value}"),
        Variable::Pass(name) => format!("--env={name}"),
    }
}
