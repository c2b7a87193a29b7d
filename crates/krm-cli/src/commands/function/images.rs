//! Flags and the user's configuration that decide what an image resolves to.

use std::path::{Path, PathBuf};

use krm_core::Diagnostic;
use krm_run::{BuiltinPolicy, Configuration, Resolution};
use krm_yaml::ReadOptions;

use crate::{Exit, Failure, disk};

/// Compat: kpt's variable for `--image-prefix`.
const PREFIX_VARIABLE: &str = "KPT_IMAGE_PREFIX";

/// What an image resolves to.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Images")]
pub(crate) struct Images {
    /// Run all images as containers, even if the function is built in
    #[arg(long, conflicts_with = "only_builtin")]
    no_builtin: bool,

    /// Refuse functions that are not built in
    #[arg(long)]
    only_builtin: bool,

    /// Refuse tags that are not known releases of a built-in function, instead of a warning
    #[arg(long)]
    strict_tags: bool,

    /// Prefix of image names without a registry [default: ghcr.io/kptdev/krm-functions-catalog]
    #[arg(long, value_name = "PREFIX")]
    image_prefix: Option<String>,

    /// Configuration file of the user [default: krm/config.yaml in the configuration directory of the system]
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

impl Images {
    /// What decides: flags first, then the environment, then the configuration.
    pub(crate) fn resolution(&self) -> Result<Resolution, Failure> {
        let configuration = self.configuration()?;
        let default = Resolution::default();
        let variable = std::env::var(PREFIX_VARIABLE).ok().filter(|it| !it.is_empty());
        let builtin = match (self.no_builtin, self.only_builtin) {
            (true, _) => BuiltinPolicy::Never,
            (_, true) => BuiltinPolicy::Only,
            _ => configuration.builtin.unwrap_or_default(),
        };
        let prefix = self.image_prefix.clone().or(variable).or(configuration.prefix);
        Ok(Resolution {
            builtin,
            prefix: prefix.unwrap_or(default.prefix),
            mapping: configuration.images,
            strict_tags: self.strict_tags,
            lock: None,
        })
    }

    /// The address of the shared cache in the configuration of the user.
    pub(super) fn cache_server(&self) -> Result<Option<String>, Failure> {
        Ok(self.configuration()?.cache_server)
    }

    /// The files that decide, whether they exist or not.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.config.as_ref().map(PathBuf::from).or_else(default_file).into_iter()
    }

    /// Reads the configuration. Only a file that is named by a flag must exist.
    fn configuration(&self) -> Result<Configuration, Failure> {
        let name = match &self.config {
            Some(name) => name.clone(),
            None => match default_file().filter(|path| path.is_file()) {
                Some(path) => path.to_string_lossy().into_owned(),
                None => return Ok(Configuration::default()),
            },
        };
        let file = disk::parse(&name, ReadOptions::default()).map_err(Failure::input)?;
        Configuration::read(&file).map_err(|errors| {
            let errors =
                errors.into_iter().map(|it: Diagnostic| it.in_file(disk::display_name(&name)));
            Failure::Diagnostics(Exit::Input, errors.collect())
        })
    }
}

/// The configuration file in the directory that the system provides for it.
fn default_file() -> Option<PathBuf> {
    let directory =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let home = || directory("HOME");
    let base = if cfg!(windows) {
        directory("APPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else {
        directory("XDG_CONFIG_HOME").or_else(|| home().map(|home| home.join(".config")))
    };
    base.map(|base| base.join(Path::new("krm").join("config.yaml")))
}
