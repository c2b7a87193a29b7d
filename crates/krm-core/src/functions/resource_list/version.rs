//! Versions of the `ResourceList`.

/// The API group of the `ResourceList`.
const GROUP: &str = "config.kubernetes.io/";

/// A version of the `ResourceList`.
///
/// ```
/// use krm_core::functions::resource_list::Version;
///
/// assert_eq!(Version::of("config.kubernetes.io/v1beta1"), Some(Version::V1Beta1));
/// assert_eq!(Version::default().api_version(), "config.kubernetes.io/v1");
/// assert_eq!(Version::of("v1"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// `config.kubernetes.io/v1alpha1`
    V1Alpha1,
    /// `config.kubernetes.io/v1beta1`
    V1Beta1,
    /// `config.kubernetes.io/v1`, the default.
    #[default]
    V1,
    /// `config.kubernetes.io/v2alpha1`
    V2Alpha1,
}

impl Version {
    /// All versions, from the oldest.
    pub const ALL: [Self; 4] = [Self::V1Alpha1, Self::V1Beta1, Self::V1, Self::V2Alpha1];

    /// The version of an `apiVersion`; none if it is not one of the `ResourceList`.
    pub fn of(api_version: &str) -> Option<Self> {
        Self::named(api_version.strip_prefix(GROUP)?)
    }

    /// The version with this name, such as `v1beta1`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// The name, such as `v1beta1`.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1Alpha1 => "v1alpha1",
            Self::V1Beta1 => "v1beta1",
            Self::V1 => "v1",
            Self::V2Alpha1 => "v2alpha1",
        }
    }

    /// The `apiVersion`.
    pub fn api_version(self) -> String {
        format!("{GROUP}{}", self.name())
    }

    /// Whether results can propose several values. Spec: from version 2 on.
    pub(crate) fn has_many_proposals(self) -> bool {
        self >= Self::V2Alpha1
    }
}
