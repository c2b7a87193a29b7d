//! The command line of a function.

use krm_core::PackagePath;
use krm_yaml::Value;

use super::file_error;
use crate::{Error, Resource};

/// Information to print instead of running the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Help,
    Doc,
    Schema,
}

/// The parsed command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) request: Option<Request>,
    /// The file of the functionConfig.
    pub(super) config_file: Option<String>,
    /// The data of a functionConfig of kind ConfigMap.
    pub(super) data: Vec<(String, String)>,
    pub(super) dry_run: bool,
    /// Files and directories; stdin if empty.
    pub(super) files: Vec<String>,
}

impl Arguments {
    pub(super) fn parse(all: &[String]) -> Result<Self, String> {
        let mut parsed = Self::default();
        let mut all = all.iter();
        while let Some(argument) = all.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (argument.as_str(), None),
            };
            let mut value = |name_of_value: &str| {
                let value = value.clone().or_else(|| all.next().cloned());
                value.ok_or_else(|| format!("`{name}` requires {name_of_value}"))
            };
            match name {
                "--help" | "-h" => parsed.request = Some(Request::Help),
                "--doc" => parsed.request = Some(Request::Doc),
                "--schema" => parsed.request = Some(Request::Schema),
                "--dry-run" => parsed.dry_run = true,
                "--config" => parsed.config_file = Some(value("a file")?),
                "-d" | "--data" => parsed.data.push(pair(&value("KEY=VALUE")?)?),
                "--" => parsed.files.extend(all.by_ref().cloned()),
                "-" => {}
                other if other.starts_with('-') => return Err(format!("unknown option `{other}`")),
                file => parsed.files.push(file.to_owned()),
            }
        }
        if parsed.config_file.is_some() && !parsed.data.is_empty() {
            return Err("`--config` cannot be used with `-d`".to_owned());
        }
        Ok(parsed)
    }

    /// The functionConfig of the command line.
    pub(super) fn config(&self) -> Result<Option<Resource>, Error> {
        if let Some(path) = &self.config_file {
            let cannot_read = |error: &dyn std::error::Error| file_error("read", path, error);
            let bytes = std::fs::read(path).map_err(|error| cannot_read(&error))?;
            let text = krm_yaml::decode(bytes).map_err(|error| cannot_read(&error))?;
            let mut config = Resource::parse(text).map_err(|error| error.in_file(path))?;
            // Diagnostics name the file. A path outside the package is shortened to the file name.
            let name = path.rsplit('/').next().unwrap_or(path);
            if let Ok(path) = PackagePath::new(path).or_else(|_| PackagePath::new(name)) {
                config.move_to(path);
            }
            return Ok(Some(config));
        }
        if self.data.is_empty() {
            return Ok(None);
        }
        let mut config =
            Resource::parse("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n")?;
        let string = |text: &String| Value::String(text.clone().into());
        let data = self.data.iter().map(|(key, value)| (string(key), string(value)));
        config.set("data", Value::Mapping(data.collect()))?;
        Ok(Some(config))
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = pair.ok_or_else(|| format!("expected KEY=VALUE, found `{text}`"))?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Arguments, String> {
        Arguments::parse(&arguments.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_and_files_are_accepted_in_any_order() {
        let parsed = parse(&["dir", "--config=c.yaml", "--dry-run", "--", "--x"]).unwrap();
        assert_eq!(parsed.files, ["dir", "--x"]);
        assert_eq!((parsed.config_file.as_deref(), parsed.dry_run), (Some("c.yaml"), true));
        assert_eq!(parse(&["-"]).unwrap(), Arguments::default());
        let config = parse(&["-d", "a=1", "--data=b=c=d"]).unwrap().config().unwrap().unwrap();
        assert!(config.text().ends_with("data:\n  a: \"1\"\n  b: c=d\n"), "{}", config.text());
    }

    #[test]
    fn invalid_arguments_are_errors() {
        for (arguments, message) in [
            (&["--confg"][..], "unknown option `--confg`"),
            (&["--config"], "`--config` requires a file"),
            (&["-d", "a"], "expected KEY=VALUE, found `a`"),
            (&["-d", "a=b", "--config", "c"], "`--config` cannot be used with `-d`"),
        ] {
            assert_eq!(parse(arguments).unwrap_err(), message);
        }
    }
}
