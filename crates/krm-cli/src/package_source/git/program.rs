//! Runs the system's git, in a repository of the cache, so that nothing but git itself, credential helpers and ssh can run.
//!
//! Configuration of the user and of the system can name programs: hooks, filters, the file system monitor, remote helpers. So
//! git gets none of it, except for keys of an allow list, which are read first and passed on through the environment: without
//! credential helpers, ssh and proxies users could not reach their repositories. Credentials are passed in the environment as well, as
//! arguments are visible to every process of the machine.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use krm_core::Diagnostic;

use super::super::SourceKind;
use super::super::address::without_credentials;
use crate::disk::io_reason;

/// The oldest version that has `GIT_CONFIG_GLOBAL`.
const OLDEST: (u32, u32) = (2, 32);

/// Variables of git that are passed on: how to reach a server. All others could redirect git to other files or programs.
const VARIABLES: [&str; 12] = [
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_ASKPASS",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
    "GIT_HTTP_PROXY_AUTHMETHOD",
    "GIT_HTTP_LOW_SPEED_LIMIT",
    "GIT_HTTP_LOW_SPEED_TIME",
];

/// Configuration that is passed on: credential helpers, ssh, proxies and certificates, and replaced URLs.
fn is_allowed(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let sections = ["credential.", "http.", "url."];
    sections.iter().any(|it| key.starts_with(it))
        || ["core.sshcommand", "core.askpass", "ssh.variant", "safe.directory"].contains(&&*key)
}

/// Fixed configuration: no hooks, no submodules, no background work.
const FIXED: [(&str, &str); 8] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.autocrlf", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("protocol.version", "2"),
];

/// The outcome of a run that was started.
pub(super) struct GitOutput {
    pub(super) is_success: bool,
    pub(super) stdout: Vec<u8>,
    /// The last lines of standard error, without credentials.
    pub(super) reason: String,
}

/// git for one repository.
#[derive(Debug)]
pub(super) struct Git {
    /// The URL with credentials.
    url: String,
    directory: PathBuf,
    config: Vec<(String, String)>,
}

impl Git {
    /// git for the remote `url`, in the repository `directory` of the cache.
    pub(super) fn new(url: &str, directory: &Path) -> Result<Self, Diagnostic> {
        check_version()?;
        let config = user_config()?;
        Ok(Self { url: url.to_owned(), directory: directory.to_owned(), config })
    }

    /// The same remote, in another repository of the cache.
    pub(super) fn at(&self, directory: &Path) -> Self {
        let (url, config) = (self.url.clone(), self.config.clone());
        Self { url, directory: directory.to_owned(), config }
    }

    /// The URL as messages show it.
    pub(super) fn public_url(&self) -> String {
        without_credentials(&self.url)
    }

    /// Runs git on the objects of the cache alone.
    pub(super) fn local(&self, arguments: &[&str], input: &[u8]) -> Result<GitOutput, Diagnostic> {
        // Without the URL of the remote, git cannot download objects that are missing.
        self.run(arguments, input, &[])
    }

    /// Runs git with the remote `origin`.
    pub(super) fn remote(&self, arguments: &[&str], input: &[u8]) -> Result<GitOutput, Diagnostic> {
        self.run(arguments, input, &[("remote.origin.url", &self.url)])
    }

    fn run(
        &self,
        arguments: &[&str],
        input: &[u8],
        more: &[(&str, &str)],
    ) -> Result<GitOutput, Diagnostic> {
        let mut command = command();
        command.env("GIT_DIR", &self.directory);
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", NULL_DEVICE);
        command.env("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh");
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_LITERAL_PATHSPECS", "1");
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_NO_REPLACE_OBJECTS", "1");
        let is_set = |name: &str| std::env::var_os(name).is_some();
        let has_ssh_command = self.config.iter().any(|(key, _)| key == "core.sshcommand");
        if !is_set("GIT_SSH")
            && !is_set("GIT_SSH_COMMAND")
            && !has_ssh_command
            && !std::io::stdin().is_terminal()
        {
            // A job without a terminal must fail, not wait for a password.
            command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
        }
        let own = self.config.iter().map(|(key, value)| (&**key, &**value));
        let config: Vec<(&str, &str)> = own.chain(FIXED).chain(more.iter().copied()).collect();
        command.env("GIT_CONFIG_COUNT", config.len().to_string());
        for (at, (key, value)) in config.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        let output = output(command.args(arguments), input)?;
        let reason = self.reason(&output.stderr);
        Ok(GitOutput { is_success: output.status.success(), stdout: output.stdout, reason })
    }

    /// Why git failed, in one line, without the credentials of the URL.
    fn reason(&self, stderr: &[u8]) -> String {
        let text = last_lines(&String::from_utf8_lossy(stderr));
        redact(&text.replace(&self.url, &self.public_url()))
    }
}

/// The last lines that say something about the failure. What git adds to each failure of ssh would leave no room for the reason.
fn last_lines(stderr: &str) -> String {
    let is_advice = |line: &&str| {
        line.starts_with("hint:")
            || line.starts_with("warning:")
            || line.starts_with("Please make sure you have the correct access rights")
            || *line == "and the repository exists."
    };
    let lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.filter(|line| !is_advice(line)).collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}

const NULL_DEVICE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// Removes user names and passwords from the URLs in a text: git prints them in some messages.
fn redact(text: &str) -> String {
    let word = |word: &str| match word.find("://") {
        Some(at) => {
            let start = word[..at]
                .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '+')
                .map_or(0, |it| it + 1);
            format!("{}{}", &word[..start], without_credentials(&word[start..]))
        }
        None => word.to_owned(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// git with the environment of the user, but without the variables that redirect it.
fn command() -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("GIT_") && !VARIABLES.contains(&&*name) {
            command.env_remove(&name);
        }
    }
    command.env("LC_ALL", "C").env("GIT_FLUSH", "0");
    command
}

/// Runs a command with an input, which is written while the output is read, so that neither pipe fills up.
fn output(command: &mut Command, input: &[u8]) -> Result<std::process::Output, Diagnostic> {
    let failed = |error: std::io::Error| {
        let reason = io_reason(&error);
        Diagnostic::error(SourceKind::GitNotFound { reason })
    };
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let pipe = child.stdin.take();
    std::thread::scope(|scope| {
        if let Some(mut pipe) = pipe {
            // A git that fails early does not read its input; its exit code tells why.
            scope.spawn(move || _ = pipe.write_all(input));
        }
        child.wait_with_output().map_err(failed)
    })
}

/// Fails if git is missing or too old. Checked once per process.
fn check_version() -> Result<(), Diagnostic> {
    static CHECKED: OnceLock<Result<(), Diagnostic>> = OnceLock::new();
    CHECKED
        .get_or_init(|| {
            let output = output(command().arg("version"), &[])?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let version =
                text.split_whitespace().nth(2).unwrap_or("of an unknown version").to_owned();
            let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
            let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
            match found < OLDEST {
                true => Err(Diagnostic::error(SourceKind::GitTooOld { version })),
                false => Ok(()),
            }
        })
        .clone()
}

/// The configuration of user and system that is passed on. Reading it runs nothing.
fn user_config() -> Result<Vec<(String, String)>, Diagnostic> {
    static CONFIG: OnceLock<Result<Vec<(String, String)>, Diagnostic>> = OnceLock::new();
    CONFIG
        .get_or_init(|| {
            let mut command = command();
            // Also configuration in variables, which CI systems use.
            for (name, value) in std::env::vars_os() {
                let name = name.to_string_lossy().into_owned();
                if name.starts_with("GIT_CONFIG") {
                    command.env(name, value);
                }
            }
            // No repository: that of the current directory has no say.
            command.env("GIT_DIR", NULL_DEVICE);
            let output = output(command.args(["config", "--null", "--list"]), &[])?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let entry = |entry: &str| {
                let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
                (key.to_owned(), value.to_owned())
            };
            let entries = text.split('\0').filter(|it| !it.is_empty()).map(entry);
            Ok(entries.filter(|(key, _)| is_allowed(key)).collect())
        })
        .clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_configuration_to_reach_servers_is_passed_on() {
        for key in [
            "credential.helper",
            "credential.https://x.io.helper",
            "http.proxy",
            "core.sshcommand",
            "url.x.insteadof",
        ] {
            assert!(is_allowed(key), "{key}");
        }
        for key in [
            "core.hookspath",
            "core.fsmonitor",
            "filter.lfs.smudge",
            "remote.origin.uploadpack",
            "alias.x",
            "core.gitproxy",
            "protocol.ext.allow",
            "core.editor",
        ] {
            assert!(!is_allowed(key), "{key}");
        }
    }

    #[test]
    fn reason_of_ssh_is_reported() {
        let stderr = "ssh: connect to host x.io port 22: Connection refused\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n";
        assert_eq!(
            last_lines(stderr),
            "ssh: connect to host x.io port 22: Connection refused; fatal: Could not read from remote repository."
        );
    }

    #[test]
    fn credentials_are_removed_from_messages() {
        assert_eq!(
            redact("fatal: Authentication failed for 'https://me:secret@x.io/a.git/'"),
            "fatal: Authentication failed for 'https://x.io/a.git/'"
        );
        assert_eq!(redact("ssh://git@x.io/a"), "ssh://git@x.io/a");
    }
}
