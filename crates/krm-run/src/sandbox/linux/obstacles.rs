//! Settings of a system that forbid namespaces to users, and how to change them.

use std::fs;

use rustix::process::getuid;

/// A profile that allows namespaces to krm only, for systems on which AppArmor forbids them.
const PROFILE: &str = "abi <abi/4.0>, include <tunables/global> profile krm /usr/{,local/}bin/krm flags=(unconfined) { userns, }";

/// Settings that forbid the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Obstacle {
    NoUserNamespaces,
    OnlyRoot,
    AppArmor,
}

impl Obstacle {
    /// The setting that applies to this user; none if there is no such setting.
    fn find() -> Option<Self> {
        if is("/proc/sys/user/max_user_namespaces", "0") {
            return Some(Self::NoUserNamespaces);
        }
        if getuid().is_root() {
            return None;
        }
        if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
            return Some(Self::OnlyRoot);
        }
        let restriction = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
        is(restriction, "1").then_some(Self::AppArmor)
    }

    fn description(self) -> &'static str {
        match self {
            Self::NoUserNamespaces => "user.max_user_namespaces is 0",
            Self::OnlyRoot => "kernel.unprivileged_userns_clone is 0",
            Self::AppArmor => "kernel.apparmor_restrict_unprivileged_userns is 1",
        }
    }

    fn remedy(self) -> String {
        match self {
            Self::NoUserNamespaces => "run `sysctl -w user.max_user_namespaces=15000`".to_owned(),
            Self::OnlyRoot => "run `sysctl -w kernel.unprivileged_userns_clone=1`".to_owned(),
            Self::AppArmor => format!(
                "write `{PROFILE}` to /etc/apparmor.d/krm and run `apparmor_parser -r /etc/apparmor.d/krm`, or run `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`"
            ),
        }
    }
}

/// The setting that probably forbids the sandbox.
pub(crate) fn obstacle() -> Option<&'static str> {
    Obstacle::find().map(Obstacle::description)
}

/// What to change so that the sandbox can be built.
pub(crate) fn remedy() -> Option<String> {
    let container = "this process runs under a seccomp filter, as in a container: start the container with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`";
    let filtered = || is_filtered().then(|| container.to_owned());
    Obstacle::find().map(Obstacle::remedy).or_else(filtered)
}

fn is(file: &str, value: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.trim() == value)
}

fn is_filtered() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.strip_prefix("Seccomp:").is_some_and(|it| it.trim() == "2"))
}
