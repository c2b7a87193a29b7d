//! The environment that was passed in, and the variables that a function receives.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// Variables by name. The environment of the process is never read.
///
/// ```
/// use krm_run::Environment;
///
/// let environment = Environment::from_iter([("PATH", "/bin"), ("HOME", "/home/me")]);
/// assert_eq!(environment.get("HOME").and_then(|home| home.to_str()), Some("/home/me"));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// All variables, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The directories of PATH.
    pub(crate) fn search_path(&self) -> Vec<PathBuf> {
        let directories =
            self.get("PATH").map(|path| std::env::split_paths(path).collect::<Vec<_>>());
        // An empty entry means the current directory to a shell. Relative entries are skipped, because they would let a
        // package provide its own `docker`.
        directories.unwrap_or_default().into_iter().filter(|dir| dir.is_absolute()).collect()
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { variables: variables.collect() }
    }
}

/// Values are often secrets, so only names are printed.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

/// A variable for a function: with a value, or by name to be passed on.
///
/// ```
/// use krm_run::Variable;
///
/// assert_eq!("A=b=c".parse(), Ok(Variable::Set("A".into(), "b=c".into())));
/// assert_eq!("TOKEN".parse(), Ok(Variable::Pass("TOKEN".into())));
/// assert!("=x".parse::<Variable>().is_err());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum Variable {
    /// This name with this value.
    Set(Box<str>, Box<str>),
    /// The variable of this name in the [`Environment`], if it is set.
    Pass(Box<str>),
}

impl Variable {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Set(name, _) | Self::Pass(name) => name,
        }
    }
}

impl std::str::FromStr for Variable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        if name.is_empty() || text.contains('\0') || name.contains(char::is_whitespace) {
            return Err(format!("expected NAME=VALUE or NAME, found `{}`", name.escape_debug()));
        }
        Ok(match value {
            Some(value) => Self::Set(name.into(), value.into()),
            None => Self::Pass(name.into()),
        })
    }
}

/// Values are often secrets, so only names are printed.
impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_not_printed() {
        let environment = Environment::from_iter([("TOKEN", "hush")]);
        assert_eq!(format!("{environment:?}"), r#"{"TOKEN"}"#);
        assert_eq!(format!("{:?}", "TOKEN=hush".parse::<Variable>().unwrap()), "TOKEN");
    }

    #[test]
    fn relative_path_entries_are_skipped() {
        let environment = Environment::from_iter([("PATH", "/a::.:/b:c")]);
        let directories = environment.search_path();
        assert_eq!(directories, [PathBuf::from("/a"), PathBuf::from("/b")]);
    }

    #[test]
    fn invalid_variables_are_rejected() {
        for text in ["", "=", "=a", "a b=c", "a\0=b", "a=\0"] {
            assert!(text.parse::<Variable>().is_err(), "{text:?}");
        }
    }
}
