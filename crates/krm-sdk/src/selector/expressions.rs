//! Expressions over labels, as in `matchExpressions` of Kubernetes.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use crate::Resource;

/// How the value of a label is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// The label is missing, or has none of the values.
    NotIn,
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
}

/// A requirement of a label, as in `matchExpressions` of Kubernetes.
///
/// ```
/// use krm_sdk::{Operator, Requirement, Resource};
///
/// let pod = Resource::parse("apiVersion: v1\nkind: Pod\nmetadata: {labels: {env: prod}}\n")?;
/// assert!(Requirement::new("env", Operator::In, ["prod", "test"]).matches(&pod));
/// assert!(!Requirement::new("env", Operator::DoesNotExist, [""; 0]).matches(&pod));
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

impl Requirement {
    /// A requirement of the label `key`. Only `In` and `NotIn` have values.
    pub fn new<V: Into<String>>(
        key: impl Into<String>,
        operator: Operator,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        Self { key: key.into(), operator, values }
    }

    /// Whether the labels of a resource meet the requirement.
    pub fn matches(&self, resource: &Resource) -> bool {
        let value = resource.label(&self.key);
        let is_listed = || value.as_ref().is_some_and(|value| self.values.contains(value));
        match self.operator {
            Operator::In => is_listed(),
            Operator::NotIn => !is_listed(),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

impl<'de> Deserialize<'de> for Requirement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            key: String,
            operator: Operator,
            #[serde(default)]
            values: Vec<String>,
        }
        let Fields { key, operator, values } = Fields::deserialize(deserializer)?;
        // Spec: as the API server validates a LabelSelectorRequirement.
        match (operator, values.is_empty()) {
            (Operator::In | Operator::NotIn, true) => {
                Err(D::Error::custom(format!("`{operator:?}` needs `values`")))
            }
            (Operator::Exists | Operator::DoesNotExist, false) => {
                Err(D::Error::custom(format!("`{operator:?}` must not have `values`")))
            }
            _ => Ok(Self { key, operator, values }),
        }
    }
}
