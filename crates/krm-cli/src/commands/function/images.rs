//! Flags that say what runs for an image, and the user's configuration, which says it for all packages.

use std::path::{Path, PathBuf};

use krm_core::Diagnostic;
use krm_run::{Configuration, Resolution, UseBuiltin};
use krm_yaml::ReadOptions;

use crate::{Exit, Failure, disk};

/// Compat: kpt's variable for `--image-prefix`.
const PREFIX_VARIABLE: &str = "KPT_IMAGE_PREFIX";

/// What runs for an image.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Images")]
pub(crate) struct Images {
    /// Run images in containers, also where the function is built in
    #[arg(long, conflicts_with = "only_builtin")]
    no_builtin: bool,

    /// Refuse every function that is not built in
    #[arg(long)]
    only_builtin: bool,

    /// What stands before the name of an image that has none [default: ghcr.io/kptdev/krm-functions-catalog]
    #[arg(long, value_name = "PREFIX")]
    image_prefix: Option<String>,

    /// The user's configuration [default: krm/config.yaml in the system's folder for configurations]
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

impl Images {
    /// Everything that decides what runs: flags, then the environment, then the configuration.
    pub(crate) fn resolution(&self) -> Result<Resolution, Failure> {
        let settled = self.configuration()?;
        let default = Resolution::default();
        let variable = std::env::var(PREFIX_VARIABLE).ok().filter(|it| !it.is_empty());
        let builtin = match (self.no_builtin, self.only_builtin) {
            (true, _) => UseBuiltin::Never,
            (_, true) => UseBuiltin::Only,
            _ => settled.builtin.unwrap_or_default(),
        };
        let prefix = self.image_prefix.clone().or(variable).or(settled.prefix);
        Ok(Resolution {
            builtin,
            prefix: prefix.unwrap_or(default.prefix),
            mapping: settled.images,
        })
    }

    /// Only a file that somebody named must be there.
    fn configuration(&self) -> Result<Configuration, Failure> {
        let name = match &self.config {
            Some(name) => name.clone(),
            None => match own_file().filter(|path| path.is_file()) {
                Some(path) => path.to_string_lossy().into_owned(),
                None => return Ok(Configuration::default()),
            },
        };
        let file = disk::parse(&name, ReadOptions::default()).map_err(Failure::input)?;
        Configuration::read(&file).map_err(|told| {
            let told = told.into_iter().map(|it: Diagnostic| it.in_file(disk::display_name(&name)));
            Failure::Diagnostics(Exit::Input, told.collect())
        })
    }
}

/// Where the system wants a user's configuration to be.
fn own_file() -> Option<PathBuf> {
    let folder =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let home = || folder("HOME");
    let base = if cfg!(windows) {
        folder("APPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else {
        folder("XDG_CONFIG_HOME").or_else(|| home().map(|home| home.join(".config")))
    };
    base.map(|base| base.join(Path::new("krm").join("config.yaml")))
}
