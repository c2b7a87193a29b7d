//! Starts the first stage of a sandbox.

mod group;
mod obstacles;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{getgid, getuid};

pub(super) use self::group::Group;
pub(super) use self::obstacles::{obstacle, remedy};
use super::function::Running;
use super::spec::{Spec, SpecMount};
use super::{Builder, Sandbox, UnpackedImage, stage};
use crate::process::{self, RunningChild};
use crate::{ContainerSettings, Environment, Limits, Network, User, Variable};

/// The exit code of a stage that failed.
pub(super) const FAILED: i32 = stage::FAILED as i32;
pub(super) use stage::PROGRAM_FAILED;

/// Compat: `nobody` of the container engines.
const NOBODY: u32 = 65534;
/// Variables of an image that does not set them. Compat: container engines do the same.
const DEFAULT_VARIABLES: [(&str, &str); 2] =
    [("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"), ("HOME", "/")];

/// What the sandbox is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Run,
    /// It is built, and nothing runs.
    Check,
}

/// Starts a sandbox.
///
/// # Errors
/// Why this builder cannot be used.
pub(super) fn start(
    (sandbox, builder): (&Sandbox, Builder),
    image: UnpackedImage,
    (settings, environment): (&ContainerSettings, &Environment),
    (limits, purpose): (&Limits, Purpose),
) -> Result<Running, String> {
    let bubblewrap = match builder {
        Builder::Krm => PathBuf::new(),
        Builder::Bubblewrap => bubblewrap(environment)?,
    };
    let group = Group::create(limits);
    let mut spec = Spec {
        root: image.root.clone(),
        is_root_writable: settings.writable_root,
        mounts: mounts(settings),
        has_network: settings.network == Network::Host,
        working_directory: working_directory(&image.working_directory),
        command: command(&image, settings),
        cgroup_files: group.as_ref().map(Group::files).unwrap_or_default(),
        token: token()?,
        parent: std::process::id(),
        bubblewrap,
        variables: variables(&image, settings, environment),
        ..Spec::default()
    };
    (spec.user, spec.group) = match settings.user {
        User::Nobody => (NOBODY, NOBODY),
        User::Current => (getuid().as_raw(), getgid().as_raw()),
    };
    if group.is_none() {
        spec.memory = limits.memory;
        spec.processes = u64::from(limits.processes) + counted_processes(builder);
    }
    spec.is_check = purpose == Purpose::Check;
    if spec.is_check && builder == Builder::Bubblewrap {
        run_true(&mut spec);
    }
    let stage = match builder {
        Builder::Krm => stage::ENTER,
        Builder::Bubblewrap => stage::BUBBLEWRAP,
    };
    let mut command = Command::new(&sandbox.program);
    command.args([stage::ARGUMENT, stage::VERSION, stage]).current_dir("/");
    command.env_clear().envs(spec.to_environment());
    let child = RunningChild::start(command).map_err(|error| error.to_string())?;
    Ok(Running { child, group, image, token: spec.token })
}

/// bwrap cannot start nothing: a check starts a program of the host that does nothing.
fn run_true(spec: &mut Spec) {
    let directories = ["/usr", "/bin", "/lib", "/lib64"].map(Path::new);
    let existing = directories.into_iter().filter(|it| it.is_dir());
    spec.mounts.extend(existing.map(|it| SpecMount {
        source: Some(it.to_owned()),
        target: it.to_owned(),
        is_writable: false,
    }));
    spec.command = vec!["/bin/true".into()];
}

/// The program `bwrap`. As root it would run functions as root, whatever it calls them.
fn bubblewrap(environment: &Environment) -> Result<PathBuf, String> {
    if getuid().is_root() {
        return Err("as root it cannot run functions as another user".to_owned());
    }
    find_bwrap(environment).ok_or_else(|| "bwrap is not on PATH".to_owned())
}

fn find_bwrap(environment: &Environment) -> Option<PathBuf> {
    let mut programs =
        environment.search_path().into_iter().map(|directory| directory.join("bwrap"));
    programs.find(|path| path.metadata().is_ok_and(|it| process::is_executable(&it)))
}

/// What to change so that `bwrap` can be used. Nothing helps root.
pub(crate) fn bubblewrap_remedy(environment: &Environment) -> Option<String> {
    let is_missing = !getuid().is_root() && find_bwrap(environment).is_none();
    is_missing.then(|| "install bubblewrap".to_owned())
}

fn mounts(settings: &ContainerSettings) -> Vec<SpecMount> {
    let local = settings.local.as_ref().map(|directory| SpecMount {
        source: Some(directory.clone()),
        target: "/local".into(),
        is_writable: false,
    });
    let others = settings.mounts.iter().map(|mount| SpecMount {
        source: (!mount.is_tmpfs()).then(|| mount.source_path().to_owned()),
        target: mount.target().into(),
        is_writable: mount.is_writable(),
    });
    local.into_iter().chain(others).collect()
}

/// Spec: OCI image configuration: arguments of the user replace `Cmd`, and follow `Entrypoint`.
fn command(image: &UnpackedImage, settings: &ContainerSettings) -> Vec<OsString> {
    let arguments = if settings.args.is_empty() { &image.arguments } else { &settings.args };
    image.entrypoint.iter().chain(arguments).map(Into::into).collect()
}

fn working_directory(directory: &str) -> OsString {
    let is_absolute = directory.starts_with('/');
    if is_absolute { directory.into() } else { format!("/{directory}").into() }
}

/// The variables of the image and of the user, each name once: the last value counts.
fn variables(
    image: &UnpackedImage,
    settings: &ContainerSettings,
    environment: &Environment,
) -> Vec<OsString> {
    let mut variables: Vec<(String, OsString)> = Vec::new();
    let mut set = |name: &str, value: OsString| {
        variables.retain(|it| it.0 != name);
        variables.push((name.to_owned(), value));
    };
    for (name, value) in DEFAULT_VARIABLES {
        set(name, value.into());
    }
    for (name, value) in image.variables.iter().filter_map(|it| it.split_once('=')) {
        set(name, value.into());
    }
    for variable in &settings.variables {
        match variable {
            Variable::Set(name, value) => set(name, (**value).into()),
            Variable::Pass(name) => {
                if let Some(value) = environment.get(&**name) {
                    set(name, value.to_owned());
                }
            }
        }
    }
    let join = |(name, value): (String, OsString)| {
        let mut variable = OsString::from(name);
        variable.push("=");
        variable.push(value);
        variable
    };
    let is_valid = |it: &(String, OsString)| !it.0.is_empty() && !it.0.contains('\0');
    variables.into_iter().filter(is_valid).map(join).collect()
}

/// The processes and threads that count towards the limit before the function starts: those of the user, on kernels before 5.14 and for
/// bwrap, which is limited before it enters its namespace. Since then each user namespace counts its own.
fn counted_processes(builder: Builder) -> u64 {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|it| it.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    if builder == Builder::Krm && version >= (5, 14) {
        return 0;
    }
    let own = format!("Uid:\t{}\t", getuid().as_raw());
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let threads = processes.filter_map(|entry| {
        let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
        let threads = status.lines().find_map(|line| line.strip_prefix("Threads:"))?;
        status.contains(&own).then(|| threads.trim().parse::<u64>().ok())?
    });
    threads.sum()
}

/// Something that a function cannot guess.
fn token() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
