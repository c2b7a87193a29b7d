//! `--resource-list-version`: the version of the list that functions receive.

use krm_core::functions::resource_list::Version;

/// The flag.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct VersionFlag {
    /// Version of the ResourceList that functions receive: v1alpha1, v1beta1, v1 or v2alpha1 [default: v1]
    #[arg(long, value_name = "VERSION", value_parser = version)]
    resource_list_version: Option<Version>,
}

impl VersionFlag {
    /// The version for functions that declare none.
    pub(super) fn version(self) -> Version {
        self.resource_list_version.unwrap_or_default()
    }
}

fn version(text: &str) -> Result<Version, String> {
    Version::named(text).ok_or_else(|| {
        let names: Vec<&str> = Version::ALL.iter().map(|version| version.name()).collect();
        format!("expected {}", names.join(", "))
    })
}
