//! What the user sets for registries, in variables: they apply to every command and in CI alike.

use std::collections::BTreeMap;

use krm_core::Diagnostic;

use super::super::SourceKind;

/// Registries without TLS, separated by commas.
const INSECURE_VARIABLE: &str = "KRM_INSECURE_REGISTRIES";
/// Mirrors, separated by commas.
const MIRRORS_VARIABLE: &str = "KRM_REGISTRY_MIRRORS";

/// How registries are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// Registries without TLS.
    pub(super) insecure: Vec<String>,
    /// The mirrors of each registry.
    pub(super) mirrors: BTreeMap<String, Vec<String>>,
}

impl Settings {
    pub(super) fn from_environment() -> Result<Self, Diagnostic> {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let mirrors = mirrors(&variable(MIRRORS_VARIABLE)).map_err(|value| {
            let (name, expected) = (MIRRORS_VARIABLE, "REGISTRY=HOST[/PREFIX]");
            Diagnostic::error(SourceKind::InvalidVariable { name, expected, value })
        })?;
        let insecure = list(&variable(INSECURE_VARIABLE)).map(str::to_owned).collect();
        Ok(Self { insecure, mirrors })
    }
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|it| !it.is_empty())
}

/// The mirrors of each registry, or the part that is not one.
fn mirrors(text: &str) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut mirrors: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for part in list(text) {
        let is_host = |name: &str| !name.is_empty() && !name.contains("://");
        let pair = part.split_once('=').filter(|(from, to)| is_host(from) && is_host(to));
        let (registry, host) = pair.ok_or_else(|| part.to_owned())?;
        mirrors.entry(registry.to_owned()).or_default().push(host.to_owned());
    }
    Ok(mirrors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_belong_to_registries() {
        let found = mirrors("docker.io=a.io/hub, docker.io=b.io,ghcr.io=c.io,").unwrap();
        assert_eq!(found["docker.io"], ["a.io/hub", "b.io"]);
        assert_eq!(found["ghcr.io"], ["c.io"]);
        for text in ["a.io", "=a.io", "a.io=", "docker.io=https://a.io"] {
            assert_eq!(mirrors(text), Err(text.to_owned()));
        }
    }
}
