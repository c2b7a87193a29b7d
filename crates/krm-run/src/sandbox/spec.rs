//! The description of a sandbox, passed from krm to its stages in environment variables.
//!
//! Not in arguments, which other users can read, and not in a file, which would have to be removed.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The variable with the description.
const SPEC: &str = "KRM_SANDBOX";
/// The prefix of the variables of the function: each is `NAME=VALUE` in a variable of its own.
const VARIABLE: &str = "KRM_SANDBOX_VARIABLE_";

/// A sandbox to build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spec {
    /// The root of the image.
    pub(super) root: PathBuf,
    pub(super) is_root_writable: bool,
    pub(super) mounts: Vec<SpecMount>,
    /// Whether the network is that of the host.
    pub(super) has_network: bool,
    /// The identity of the function, inside and, for root, outside.
    pub(super) user: u32,
    pub(super) group: u32,
    pub(super) working_directory: OsString,
    /// The program and its arguments.
    pub(super) command: Vec<OsString>,
    /// Bytes of memory per process; zero if a control group limits them.
    pub(super) memory: u64,
    /// Processes and threads; zero if a control group limits them.
    pub(super) processes: u64,
    /// Files of control groups that the function joins.
    pub(super) cgroup_files: Vec<PathBuf>,
    /// Marks messages of stages: the function does not know it.
    pub(super) token: String,
    /// The process that starts the first stage.
    pub(super) parent: u32,
    /// Whether the sandbox is only built, and no program runs.
    pub(super) is_check: bool,
    /// The program `bwrap`, if it builds the sandbox.
    pub(super) bubblewrap: PathBuf,
    /// The variables of the function, `NAME=VALUE`.
    pub(super) variables: Vec<OsString>,
}

/// A mount of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpecMount {
    /// None for a tmpfs.
    pub(super) source: Option<PathBuf>,
    pub(super) target: PathBuf,
    pub(super) is_writable: bool,
}

impl Spec {
    /// The environment of a stage.
    pub(super) fn to_environment(&self) -> Vec<(String, OsString)> {
        let mut lines = Vec::new();
        let mut add = |key: &str, value: &OsStr| {
            lines.extend_from_slice(key.as_bytes());
            lines.push(b' ');
            for byte in value.as_bytes() {
                match byte {
                    b'\n' => lines.extend_from_slice(b"\\n"),
                    b'\\' => lines.extend_from_slice(b"\\\\"),
                    byte => lines.push(*byte),
                }
            }
            lines.push(b'\n');
        };
        let flag = |is_set: bool| OsStr::new(if is_set { "true" } else { "false" });
        add("root", self.root.as_os_str());
        add("writable", flag(self.is_root_writable));
        add("network", flag(self.has_network));
        add("check", flag(self.is_check));
        for (key, number) in [
            ("user", u64::from(self.user)),
            ("group", self.group.into()),
            ("memory", self.memory),
            ("processes", self.processes),
            ("parent", self.parent.into()),
        ] {
            add(key, number.to_string().as_ref());
        }
        add("token", self.token.as_ref());
        add("directory", &self.working_directory);
        add("bubblewrap", self.bubblewrap.as_os_str());
        self.command.iter().for_each(|it| add("command", it));
        self.cgroup_files.iter().for_each(|it| add("cgroup", it.as_os_str()));
        for mount in &self.mounts {
            let source = mount.source.as_ref().map_or(OsStr::new(""), |it| it.as_os_str());
            add("mount", source);
            add("target", mount.target.as_os_str());
            add("rw", flag(mount.is_writable));
        }
        let variables = self.variables.iter().enumerate();
        let variables = variables.map(|(at, it)| (format!("{VARIABLE}{at}"), it.clone()));
        [(SPEC.to_owned(), OsString::from_vec(lines))].into_iter().chain(variables).collect()
    }

    /// Reads the environment of a stage. None if it is not that of a stage.
    pub(super) fn from_environment(get: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let text = get(SPEC)?.into_vec();
        let mut spec = Self::default();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let at = line.iter().position(|byte| *byte == b' ')?;
            let value = unescaped(&line[at + 1..]);
            let number = || value.to_str()?.parse::<u64>().ok();
            let small = || u32::try_from(number()?).ok();
            let flag = value == "true";
            match &line[..at] {
                b"root" => spec.root = value.into(),
                b"writable" => spec.is_root_writable = flag,
                b"network" => spec.has_network = flag,
                b"check" => spec.is_check = flag,
                b"user" => spec.user = small()?,
                b"group" => spec.group = small()?,
                b"memory" => spec.memory = number()?,
                b"processes" => spec.processes = number()?,
                b"parent" => spec.parent = small()?,
                b"token" => spec.token = value.into_string().ok()?,
                b"directory" => spec.working_directory = value,
                b"bubblewrap" => spec.bubblewrap = value.into(),
                b"command" => spec.command.push(value),
                b"cgroup" => spec.cgroup_files.push(value.into()),
                b"mount" => spec.mounts.push(SpecMount {
                    source: (!value.is_empty()).then(|| value.into()),
                    target: PathBuf::new(),
                    is_writable: false,
                }),
                b"target" => spec.mounts.last_mut()?.target = value.into(),
                b"rw" => spec.mounts.last_mut()?.is_writable = flag,
                _ => return None,
            }
        }
        spec.variables = (0..).map_while(|at| get(&format!("{VARIABLE}{at}"))).collect();
        Some(spec)
    }
}

fn unescaped(value: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' if rest.next() == Some(&b'n') => b'\n',
            byte => *byte,
        });
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_is_read_back_whatever_it_contains() {
        let hostile = OsString::from_vec(b"a\nuser 0\\n\\\xff b".to_vec());
        let spec = Spec {
            root: hostile.clone().into(),
            user: 65534,
            working_directory: "/".into(),
            command: vec![hostile.clone(), OsString::new()],
            memory: u64::MAX,
            cgroup_files: vec!["/a".into()],
            token: "0123".to_owned(),
            mounts: vec![
                SpecMount { source: None, target: "/t".into(), is_writable: true },
                SpecMount { source: Some(hostile.into()), target: "/u".into(), is_writable: false },
            ],
            variables: vec!["LD_PRELOAD=/x.so".into(), "B=\nc".into()],
            ..Spec::default()
        };
        let environment = spec.to_environment();
        let get = |name: &str| environment.iter().find(|it| it.0 == name).map(|it| it.1.clone());
        assert_eq!(Spec::from_environment(get), Some(spec));
        assert!(environment.iter().all(|it| it.0.starts_with("KRM_SANDBOX")));
        assert_eq!(Spec::from_environment(|_| None), None);
    }
}
