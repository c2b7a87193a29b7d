//! Docker's credential helpers: programs that print the credential of a registry.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::credentials::Credential;
use crate::{Control, OciKind};

/// A helper may ask the user to unlock a key ring.
const TIMEOUT: Duration = Duration::from_secs(60);
const MAX_OUTPUT: u64 = 1 << 20;
/// Spec: what helpers print if they do not know the registry.
const NOT_FOUND: &str = "credentials not found";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Response {
    username: String,
    secret: String,
}

/// Asks `docker-credential-NAME`; none if it does not know the registry.
pub(super) fn get(
    name: &str,
    server: &str,
    search_path: &[PathBuf],
    environment: &[(OsString, OsString)],
    control: &Control,
) -> Result<Option<Credential>, OciKind> {
    let failed = |reason: &str| OciKind::CredentialHelper {
        helper: crate::digest::shown(name),
        reason: reason.to_owned(),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(failed("expected a name without slashes"));
    }
    let file = format!("docker-credential-{name}");
    let program = search_path.iter().map(|it| it.join(&file)).find(|it| it.is_file());
    let program = program.ok_or_else(|| failed("the program is not on PATH"))?;
    let mut command = Command::new(program);
    command.arg("get").env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    // Its errors go to the user: they say how to log in.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let child = command.spawn().map_err(|error| failed(&error.to_string()))?;
    let talked = talk(child, server, control);
    control.check()?;
    let (output, is_success) = talked.map_err(|error| failed(&error.to_string()))?;
    if !is_success {
        return match output.contains(NOT_FOUND) {
            true => Ok(None),
            // Its output could contain a secret.
            false => Err(failed("it exited with an error")),
        };
    }
    let response: Response =
        serde_json::from_str(&output).map_err(|_| failed("its output is not valid JSON"))?;
    Ok(Some(match response {
        Response { username, secret } if username == "<token>" => Credential::IdentityToken(secret),
        Response { username: user, secret: password } => Credential::Password { user, password },
    }))
}

/// Sends the name of the server and reads the output. A helper that does not end in time, or is stopped, is killed.
fn talk(mut child: Child, server: &str, control: &Control) -> std::io::Result<(String, bool)> {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    if let Some(mut stdin) = stdin {
        // A helper that does not read its input decides by its exit code whether it failed.
        let _ = stdin.write_all(format!("{server}\n").as_bytes());
    }
    let reader = std::thread::spawn(move || {
        let mut output = Vec::new();
        let read = stdout.map(|it| it.take(MAX_OUTPUT).read_to_end(&mut output));
        read.transpose().map(|_| output)
    });
    let start = Instant::now();
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if start.elapsed() >= TIMEOUT || control.check().is_err() => {
                child.kill()?;
                child.wait()?;
                return Err(std::io::ErrorKind::TimedOut.into());
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let output = reader.join().unwrap_or_else(|_| Ok(Vec::new()))?;
    Ok((String::from_utf8_lossy(&output).into_owned(), status.success()))
}
