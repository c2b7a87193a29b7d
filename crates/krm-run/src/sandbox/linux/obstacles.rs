//! Settings of a system that forbid namespaces to users, and how to change them.

use std::fs;

use rustix::process::getuid;

/// A profile that allows namespaces to krm only, for systems on which AppArmor forbids them.
const PROFILE: &str = "abi <abi/4.0>, include <tunables/global> profile krm /usr/{,local/}bin/krm flags=(unconfined) { userns, }";

/// The setting that most probably forbids the sandbox; none if there is no such setting.
pub(crate) fn obstacle() -> Option<&'static str> {
    if is("/proc/sys/user/max_user_namespaces", "0") {
        return Some("user.max_user_namespaces is 0");
    }
    if getuid().is_root() {
        return None;
    }
    if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        return Some("kernel.unprivileged_userns_clone is 0");
    }
    is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1")
        .then_some("kernel.apparmor_restrict_unprivileged_userns is 1")
}

/// What to change so that the sandbox can be built.
pub(crate) fn remedy() -> Option<String> {
    Some(match obstacle() {
        Some("user.max_user_namespaces is 0") => "run `sysctl -w user.max_user_namespaces=15000`".to_owned(),
        Some("kernel.unprivileged_userns_clone is 0") => {
            "run `sysctl -w kernel.unprivileged_userns_clone=1`".to_owned()
        }
        Some(_) => format!(
            "write `{PROFILE}` to /etc/apparmor.d/krm and run `apparmor_parser -r /etc/apparmor.d/krm`, or run `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`"
        ),
        None if is_filtered() => {
            "this process runs under a seccomp filter, as in a container: start the container with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`".to_owned()
        }
        None => return None,
    })
}

fn is(file: &str, value: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.trim() == value)
}

fn is_filtered() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.strip_prefix("Seccomp:").is_some_and(|it| it.trim() == "2"))
}
