//! The arguments of a function's program.

use krm_core::PackagePath;
use krm_yaml::Value;

use crate::{Error, Resource};

/// What a person wants to know instead of running the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Help,
    Doc,
    Schema,
}

/// The arguments, read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) question: Option<Question>,
    /// The file of the functionConfig.
    pub(super) config_file: Option<String>,
    /// Fields of a functionConfig that is a ConfigMap.
    pub(super) data: Vec<(String, String)>,
    pub(super) dry_run: bool,
    /// Files and folders; none is stdin.
    pub(super) files: Vec<String>,
}

impl Arguments {
    pub(super) fn parse(all: &[String]) -> Result<Self, String> {
        let mut read = Self::default();
        let mut all = all.iter();
        while let Some(argument) = all.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (argument.as_str(), None),
            };
            let mut value = |what: &str| {
                let value = value.clone().or_else(|| all.next().cloned());
                value.ok_or_else(|| format!("`{name}` wants {what}"))
            };
            match name {
                "--help" | "-h" => read.question = Some(Question::Help),
                "--doc" => read.question = Some(Question::Doc),
                "--schema" => read.question = Some(Question::Schema),
                "--dry-run" => read.dry_run = true,
                "--config" => read.config_file = Some(value("a file")?),
                "-d" | "--data" => read.data.push(pair(&value("KEY=VALUE")?)?),
                "--" => read.files.extend(all.by_ref().cloned()),
                "-" => {}
                other if other.starts_with('-') => return Err(format!("`{other}` is no flag")),
                file => read.files.push(file.to_owned()),
            }
        }
        if read.config_file.is_some() && !read.data.is_empty() {
            return Err("`--config` and `-d` exclude each other".to_owned());
        }
        Ok(read)
    }

    /// The functionConfig that the arguments give.
    pub(super) fn config(&self) -> Result<Option<Resource>, Error> {
        if let Some(path) = &self.config_file {
            let bytes =
                std::fs::read(path).map_err(|error| Error::new(format!("{path}: {error}")))?;
            let text =
                krm_yaml::decode(bytes).map_err(|error| Error::new(format!("{path}: {error}")))?;
            let mut config = Resource::parse(text).map_err(|error| error.in_file(path))?;
            // What is said about it names it; a path that leads elsewhere is told by its last part.
            let name = path.rsplit('/').next().unwrap_or(path);
            if let Ok(place) = PackagePath::new(path).or_else(|_| PackagePath::new(name)) {
                config.move_to(place);
            }
            return Ok(Some(config));
        }
        if self.data.is_empty() {
            return Ok(None);
        }
        let mut config =
            Resource::parse("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n")?;
        let text = |text: &String| Value::String(text.clone().into());
        let data = self.data.iter().map(|(key, value)| (text(key), text(value)));
        config.set("data", Value::Mapping(data.collect()))?;
        Ok(Some(config))
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = pair.ok_or_else(|| format!("`{text}` is not KEY=VALUE"))?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Arguments, String> {
        Arguments::parse(&arguments.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn flags_and_files_may_stand_in_any_order() {
        let read = parse(&["dir", "--config=c.yaml", "--dry-run", "--", "--x"]).unwrap();
        assert_eq!(read.files, ["dir", "--x"]);
        assert_eq!((read.config_file.as_deref(), read.dry_run), (Some("c.yaml"), true));
        assert_eq!(parse(&["-"]).unwrap(), Arguments::default());
        let config = parse(&["-d", "a=1", "--data=b=c=d"]).unwrap().config().unwrap().unwrap();
        assert!(config.text().ends_with("data:\n  a: \"1\"\n  b: c=d\n"), "{}", config.text());
    }

    #[test]
    fn wrong_arguments_are_told() {
        for (arguments, message) in [
            (&["--confg"][..], "`--confg` is no flag"),
            (&["--config"], "`--config` wants a file"),
            (&["-d", "a"], "`a` is not KEY=VALUE"),
            (&["-d", "a=b", "--config", "c"], "`--config` and `-d` exclude each other"),
        ] {
            assert_eq!(parse(arguments).unwrap_err(), message);
        }
    }
}
