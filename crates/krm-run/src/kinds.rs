//! Kinds of diagnostics: why a function did not run or failed, what was not permitted, and what an image resolves to.

use std::time::Duration;

use krm_yaml::{Excerpt, diagnostic_kinds};

diagnostic_kinds! {
    /// Why a function was not started, or why its run failed.
    pub enum RunKind {
        /// Exec functions are disabled.
        ExecNotAllowed = "exec-not-allowed": "exec functions are not allowed", hint "use --allow-exec if you trust this package";
        /// The function needs a network, which is disabled.
        NetworkNotAllowed = "network-not-allowed": "network access is not allowed", hint "use --allow-network if you trust this function";
        /// The declaration or the settings of the function are invalid.
        InvalidSettings { reason: String } = "invalid-function-settings": "{reason}";
        /// The command does not exist.
        CommandNotFound { searched: String } = "command-not-found": "command not found {searched}";
        /// The command is a directory.
        CommandIsDirectory { path: String } = "command-is-directory": "`{path}` is a directory";
        /// The command is a file without an execute permission.
        CommandNotExecutable { path: String } = "command-not-executable": "`{path}` is not executable", hint "run `chmod +x {path}`";
        /// The operating system did not start the process.
        CannotStart { reason: String } = "cannot-start-function": "{reason}";
        /// The condition of a function cannot be evaluated.
        InvalidCondition { reason: String } = "invalid-condition": "cannot evaluate `condition`: {reason}";
        /// A file of the function, such as a module or a script, is not readable.
        CannotReadFile { path: String, reason: String } = "cannot-read-function-file": "cannot read `{path}`: {reason}";
        /// A package names a file of a function by an absolute path, or outside of itself.
        FileOutsidePackage { path: String } = "function-file-outside-package": "`{path}` is outside the package",
            hint "use a relative path to a file of the package; commands on PATH are named without a slash";
        /// The process exited with an error.
        ExitCode { code: i32 } = "function-exit-code": "exited with code {code}";
        /// The process was killed by a signal.
        Signal { number: i32 } = "function-signal": "killed by signal {}" (signal_name(*number));
        /// The function exceeded its time limit.
        Timeout { limit: Duration } = "function-timeout": "timed out after {}" (seconds(*limit)), hint "use --timeout to allow more time";
        /// The user interrupted krm.
        Interrupted = "function-interrupted": "interrupted";
        /// The function exited with 0 without any output.
        EmptyOutput = "function-empty-output": "exited with code 0 but wrote nothing to stdout", hint "write a ResourceList to stdout";
        /// The output is not UTF-8.
        OutputNotUtf8 { offset: usize } = "function-output-not-utf8": "stdout is not valid UTF-8 at byte {offset}";
        /// The function exceeded its output limit.
        OutputTooLarge { limit: usize } = "function-output-too-large": "wrote more than {} to stdout" (bytes(*limit as u64)), hint "check whether it writes without end";
        /// No container engine is installed or running; the reason is printed as a note.
        NoEngine { reason: String } = "no-container-engine": "no container engine is available", hint "install and start docker, podman or nerdctl, or choose one with --runtime";
        /// No runtime of images can be used; the reasons are printed as notes.
        NoRuntime { reasons: Vec<String> } = "no-image-runtime": "images cannot run on this machine", hint "run `krm fn doctor` for what to change";
        /// The runtime that the user chose is not supported.
        UnknownEngine { name: String } = "unknown-container-engine": "unknown runtime `{name}`: expected auto, krm, bubblewrap, docker, podman, nerdctl or grpc://HOST:PORT";
        /// The container engine reported an error of its own.
        EngineFailed { engine: &'static str, code: i32 } = "container-engine-failed": "{engine} exited with code {code}";
        /// The image is not present, and pulling is disabled.
        PullDisabled = "image-pull-disabled": "the image is not present and the pull policy is Never", hint "pull the image, or use another --image-pull-policy";
        /// The engine did not pull the image.
        PullFailed { engine: &'static str, code: i32 } = "image-pull-failed": "cannot pull the image: {engine} exited with code {code}";
        /// krm itself did not get the image.
        ImageUnavailable { reason: String, advice: String } = "image-unavailable": "cannot get the image: {reason}", hint if (!advice.is_empty()) "{advice}";
        /// cosign does not accept the signature of the image.
        SignatureNotVerified { reason: String } = "image-signature-not-verified": "the signature of the image is not verified: {reason}";
        /// krm.lock asks for signatures, and cosign is not installed.
        CosignMissing = "cosign-missing": "krm.lock asks for a signature, and cosign is not on PATH", hint "install cosign";
        /// No server of the remote runtime can be reached.
        RemoteUnreachable { reason: String } = "remote-runtime-unreachable": "cannot reach a server of the remote runtime: {reason}", hint "check that the servers of --runtime are running, and that the address begins with `grpcs://` if they use TLS";
        /// The server does not have the function.
        RemoteNotFound { message: String } = "remote-function-not-found": "the server does not have the function: {message}";
        /// The server reported a failure.
        RemoteFailed { code: String, message: String } = "remote-function-failed": "the server reported {code}: {message}";
        /// The function needs something of this machine.
        RemoteUnsupported { what: &'static str } = "remote-runtime-unsupported": "a function on a server cannot have {what}", hint "run this function on this machine, without `--runtime grpc://…`";
        /// The file is not a module that can run.
        InvalidModule { reason: String } = "invalid-wasm-module": "{reason}";
        /// The module or the built-in function ended abnormally.
        Crashed { reason: String } = "function-crashed": "crashed: {reason}";
        /// The module exceeded its limit of instructions.
        StepLimit { limit: u64 } = "wasm-step-limit": "exceeded the limit of {limit} interpreter steps";
        /// The function exceeded its memory limit.
        MemoryLimit { limit: u64 } = "function-memory-limit": "exceeded the memory limit of {}" (bytes(*limit)), hint "use --memory to allow more memory";
        /// A built-in function panicked.
        Panicked { message: String } = "builtin-panicked": "panicked: {message}", hint "report this bug in krm with the function and its configuration";
        /// The function reported errors among its results.
        ErrorResults { count: usize } = "function-error-results": "reported {}" (count_of(*count, "error"));
        /// The function reported results that `--fail-on` counts as a failure.
        FailOn { severity: &'static str } = "function-fail-on": "reported results of severity {severity} or higher";
        /// A function returned another result for the same input.
        ImpureFunction = "impure-function": "returned another output than the cached one for the same input", hint "use `--cache off` for this function, or make its output depend on its input only";
        /// The shared cache has another result for the same input.
        SharedResultDiffers = "shared-result-differs": "returned another output than the shared cache has for the same input", hint "find out who wrote to the cache if the function depends on its input only";
        /// A validator returned other resources than it received.
        ValidatorChangedResources = "validator-changed-resources": "a validator cannot change resources; its changes are dropped", hint "declare it as a mutator to apply its changes";
    }
}

impl RunKind {
    /// Whether the function did not run at all.
    pub fn prevents_start(&self) -> bool {
        matches!(
            self,
            Self::ExecNotAllowed
                | Self::NetworkNotAllowed
                | Self::InvalidSettings { .. }
                | Self::CommandNotFound { .. }
                | Self::CommandIsDirectory { .. }
                | Self::CommandNotExecutable { .. }
                | Self::CannotStart { .. }
                | Self::CannotReadFile { .. }
                | Self::FileOutsidePackage { .. }
                | Self::NoEngine { .. }
                | Self::UnknownEngine { .. }
                | Self::EngineFailed { .. }
                | Self::PullDisabled
                | Self::PullFailed { .. }
                | Self::NoRuntime { .. }
                | Self::SignatureNotVerified { .. }
                | Self::CosignMissing
                | Self::ImageUnavailable { .. }
                | Self::RemoteUnreachable { .. }
                | Self::RemoteNotFound { .. }
                | Self::RemoteUnsupported { .. }
                | Self::InvalidModule { .. }
        )
    }
}

diagnostic_kinds! {
    /// What a function asks for that the user did not allow.
    pub enum PermissionKind {
        /// A mount of something outside the package, or a writable one.
        MountNotAllowed { source: String } = "mount-not-allowed": "mounting `{source}` is not allowed: it is outside the package or writable", hint "pass the same mount with --mount if you trust this function";
        /// A variable of the user's environment.
        VariableNotAllowed { name: String } = "variable-not-allowed": "reading the environment variable `{name}` is not allowed", hint "use `--env {name}` if you trust this function";
        /// A mount that cannot be parsed.
        InvalidMount { reason: String } = "invalid-mount": "invalid mount: {reason}";
        /// An environment variable that cannot be parsed.
        InvalidVariable { reason: String } = "invalid-variable": "invalid environment variable: {reason}";
    }
}

diagnostic_kinds! {
    /// Why an image does not resolve to a function, and what is wrong with the user's configuration of images.
    pub enum ResolutionKind {
        /// The name of an image is invalid.
        InvalidImage { reason: Excerpt } = "invalid-image": "{reason}";
        /// Only built-in functions may run, and this one is not.
        NotBuiltIn { function: String } = "function-not-built-in": "not a built-in function, and only built-in functions are allowed";
        /// The configuration maps an image to a built-in function that does not exist.
        UnknownBuiltin { name: String, image: String } = "unknown-builtin": "no built-in function `{name}`, to which the configuration maps `{image}`", hint "run `krm fn list` for the built-in functions";
        /// No known release satisfies the version constraint.
        NoMatchingRelease { image: String, constraint: String } = "no-matching-release": "no known release of `{image}` matches `{constraint}`";
        /// The tag of an image names no known release of a built-in function.
        UnknownTag { name: &'static str, release: String } = "unknown-function-tag": "not a known release of `{name}`; the newest one before it is {release}";
        /// `--locked`, and the lock does not have the image.
        NotLocked { image: String } = "image-not-locked": "`{image}` is not in krm.lock", hint "run `krm pkg vendor` to add it";
        /// The value of `builtin` is invalid.
        InvalidBuiltinMode = "invalid-builtin-mode": "expected `fitting`, `never` or `only`";
    }
}

/// The signal with its name, where every system gives it the same number.
pub(crate) fn signal_name(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return number.to_string(),
    };
    format!("{number} ({name})")
}

fn seconds(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (1, 0) => "1 second".to_owned(),
        (seconds, 0) => format!("{seconds} seconds"),
        _ => format!("{} seconds", time.as_secs_f64()),
    }
}

/// A number of bytes in the largest unit that divides it.
fn bytes(count: u64) -> String {
    for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if count >= size && count.is_multiple_of(size) {
            return format!("{} {unit}", count / size);
        }
    }
    format!("{count} bytes")
}

fn count_of(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_use_the_largest_exact_unit() {
        assert_eq!(bytes(2 << 30), "2 GiB");
        assert_eq!(bytes(1536), "1536 bytes");
        assert_eq!(bytes(64 << 20), "64 MiB");
        assert_eq!(seconds(Duration::from_secs(300)), "300 seconds");
        assert_eq!(seconds(Duration::from_millis(1500)), "1.5 seconds");
    }

    #[test]
    fn kinds_are_small_enough_to_be_returned_as_errors() {
        assert!(size_of::<RunKind>() <= 64, "{}", size_of::<RunKind>());
    }
}
