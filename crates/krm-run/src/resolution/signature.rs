//! Signatures of images: `cosign verify` is called for the images that `krm.lock` has a policy for.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::{Environment, ExecutionEnd, Interrupt, Invocation, Limits, RunKind, process};

/// cosign asks a registry and perhaps a transparency log.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Who must have signed images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignaturePolicy {
    /// A repository, or the beginning of repositories if it ends with `*`.
    pub images: String,
    /// The public key: a file, or an address of a key management service.
    pub key: Option<OsString>,
    /// Without a key: the identity in the certificate of the signature, and who vouches for it.
    pub identity: Option<(String, String)>,
}

impl SignaturePolicy {
    fn applies_to(&self, repository: &str) -> bool {
        match self.images.strip_suffix('*') {
            Some(prefix) => repository.starts_with(prefix),
            None => repository == self.images,
        }
    }

    /// The arguments of cosign.
    fn arguments(&self, image: &str) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["verify".into()];
        if let Some(key) = &self.key {
            arguments.extend(["--key".into(), key.clone()]);
        }
        if let Some((identity, issuer)) = &self.identity {
            arguments.extend(["--certificate-identity".into(), identity.into()]);
            arguments.extend(["--certificate-oidc-issuer".into(), issuer.into()]);
        }
        arguments.push(image.into());
        arguments
    }
}

/// All policies, and which images were verified. Clones share what was verified.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signatures {
    policies: Vec<SignaturePolicy>,
    verified: Arc<Mutex<BTreeSet<String>>>,
}

impl PartialEq for Signatures {
    fn eq(&self, other: &Self) -> bool {
        self.policies == other.policies
    }
}

impl Eq for Signatures {}

impl Signatures {
    pub(crate) fn new(policies: Vec<SignaturePolicy>) -> Self {
        Self { policies, verified: Arc::default() }
    }

    /// Verifies an image with a digest, once. An image without a policy needs no signature; with several policies all must agree.
    ///
    /// # Errors
    /// If cosign is missing, or refuses the image.
    pub(crate) fn verify(&self, image: &str, environment: &Environment) -> Result<(), RunKind> {
        let repository = image.split('@').next().unwrap_or(image);
        let policies: Vec<_> =
            self.policies.iter().filter(|it| it.applies_to(repository)).collect();
        let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if policies.is_empty() || verified.contains(image) {
            return Ok(());
        }
        for policy in policies {
            call_cosign(&policy.arguments(image), environment)?;
        }
        verified.insert(image.to_owned());
        Ok(())
    }
}

fn call_cosign(arguments: &[OsString], environment: &Environment) -> Result<(), RunKind> {
    let mut programs = environment.search_path().into_iter().map(|it| it.join("cosign"));
    let is_program =
        |path: &std::path::PathBuf| path.metadata().is_ok_and(|it| process::is_executable(&it));
    let program = programs.find(is_program).ok_or(RunKind::CosignMissing)?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(environment.iter());
    let limits = Limits { time: TIMEOUT, ..Limits::default() };
    let mut invocation = Invocation { limits, interrupt: Interrupt::new(), ..Invocation::new(b"") };
    let refused = |reason: String| RunKind::SignatureNotVerified { reason };
    let execution =
        process::run(command, &mut invocation).map_err(|error| refused(error.to_string()))?;
    match execution.end {
        ExecutionEnd::Exited(0) => Ok(()),
        ExecutionEnd::Exited(code) => {
            let last = execution.stderr.last_lines(1).pop().unwrap_or_default();
            Err(refused(format!("cosign exited with code {code}: {last}")))
        }
        ExecutionEnd::Signaled(_) | ExecutionEnd::Stopped(_) => {
            Err(refused("cosign did not finish".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_apply_to_repositories_or_their_beginning() {
        let policy = |images: &str| SignaturePolicy {
            images: images.to_owned(),
            ..SignaturePolicy::default()
        };
        assert!(policy("a.io/x").applies_to("a.io/x"));
        assert!(!policy("a.io/x").applies_to("a.io/xy"));
        assert!(policy("a.io/*").applies_to("a.io/x/y"));
        assert!(!policy("a.io/*").applies_to("b.io/x"));
    }
}
