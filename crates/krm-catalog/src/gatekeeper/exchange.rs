//! The request and the response of policies, which may cross a process boundary.

use crate::interpreter::{Message, MessageReader};

/// Policies, and what to check with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Request<'a> {
    pub(super) policies: Vec<PolicySource<'a>>,
    pub(super) documents: Vec<Document<'a>>,
    /// The parameters of constraints, as JSON.
    pub(super) parameters: Vec<&'a str>,
    pub(super) checks: Vec<Check>,
}

/// The source of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PolicySource<'a> {
    /// The policy and its libraries.
    Rego {
        is_v1: bool,
        scripts: Vec<&'a str>,
    },
    Cel(CelSource<'a>),
}

/// The expressions of a policy. Each has a number, by which errors are located: first those of variables, then conditions,
/// validations and messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CelSource<'a> {
    /// Whether a resource on which an expression fails is accepted.
    pub(super) ignores_failure: bool,
    /// Names and expressions.
    pub(super) variables: Vec<(&'a str, &'a str)>,
    /// All of them are true for a resource to which the policy applies.
    pub(super) conditions: Vec<&'a str>,
    pub(super) validations: Vec<Validation<'a>>,
}

/// An expression that is true for a resource without violation; the strings are empty if they are not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Validation<'a> {
    pub(super) expression: &'a str,
    pub(super) message: &'a str,
    pub(super) message_expression: &'a str,
}

/// A resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document<'a> {
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// The resource as JSON.
    pub(super) object: &'a str,
}

/// One policy on one resource. The fields are indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) policy: usize,
    pub(super) document: usize,
    pub(super) parameters: usize,
}

/// The messages of all violations of each check, or the first error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) violations: Result<Vec<Vec<String>>, PolicyError>,
}

/// Why policies cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PolicyError {
    /// A policy failed; the report of the interpreter.
    Failed { policy: usize, report: String },
    /// An expression of a policy is invalid, or cannot be evaluated.
    Expression { policy: usize, expression: usize, reason: String },
    /// A violation has no message.
    NoMessage { policy: usize },
    /// A resource is not JSON to the interpreter.
    Data { reason: String },
}

impl<'a> Request<'a> {
    pub(super) fn write(&self) -> String {
        let mut message = Message::default();
        message.number(self.policies.len());
        for policy in &self.policies {
            policy.write(&mut message);
        }
        message.number(self.documents.len());
        for it in &self.documents {
            message.text(it.api_version).text(it.kind).text(it.namespace).text(it.name);
            message.text(it.object);
        }
        message.list(&self.parameters).number(self.checks.len());
        for check in &self.checks {
            message.number(check.policy).number(check.document).number(check.parameters);
        }
        message.into_string()
    }

    pub(super) fn read(reader: &mut MessageReader<'a>) -> Option<Self> {
        let document = |reader: &mut MessageReader<'a>| {
            Some(Document {
                api_version: reader.text()?,
                kind: reader.text()?,
                namespace: reader.text()?,
                name: reader.text()?,
                object: reader.text()?,
            })
        };
        let check = |reader: &mut MessageReader<'a>| {
            Some(Check {
                policy: reader.number()?,
                document: reader.number()?,
                parameters: reader.number()?,
            })
        };
        Some(Self {
            policies: all(reader, PolicySource::read)?,
            documents: all(reader, document)?,
            parameters: reader.list()?,
            checks: all(reader, check)?,
        })
    }
}

impl<'a> PolicySource<'a> {
    fn write(&self, message: &mut Message) {
        match self {
            Self::Rego { is_v1, scripts } => {
                message.text("rego").number((*is_v1).into()).list(scripts);
            }
            Self::Cel(source) => {
                message.text("cel").number(source.ignores_failure.into());
                message.list(source.variables.iter().map(|(name, _)| name));
                message.list(source.variables.iter().map(|(_, expression)| expression));
                message.list(&source.conditions).number(source.validations.len());
                for it in &source.validations {
                    message.text(it.expression).text(it.message).text(it.message_expression);
                }
            }
        }
    }

    fn read(reader: &mut MessageReader<'a>) -> Option<Self> {
        if reader.text()? == "rego" {
            return Some(Self::Rego { is_v1: reader.number()? == 1, scripts: reader.list()? });
        }
        let validation = |reader: &mut MessageReader<'a>| {
            Some(Validation {
                expression: reader.text()?,
                message: reader.text()?,
                message_expression: reader.text()?,
            })
        };
        Some(Self::Cel(CelSource {
            ignores_failure: reader.number()? == 1,
            variables: reader.list()?.into_iter().zip(reader.list()?).collect(),
            conditions: reader.list()?,
            validations: all(reader, validation)?,
        }))
    }
}

/// Reads a count, and as many values.
fn all<'a, T>(
    reader: &mut MessageReader<'a>,
    read: impl Fn(&mut MessageReader<'a>) -> Option<T>,
) -> Option<Vec<T>> {
    (0..reader.number()?).map(|_| read(reader)).collect()
}

impl From<Result<Vec<Vec<String>>, PolicyError>> for Outcome {
    fn from(violations: Result<Vec<Vec<String>>, PolicyError>) -> Self {
        Self { violations }
    }
}

impl Outcome {
    pub(super) fn write(&self) -> String {
        let mut message = Message::default();
        match &self.violations {
            Ok(violations) => {
                message.text("violations").number(violations.len());
                violations.iter().for_each(|messages| _ = message.list(messages));
            }
            Err(PolicyError::Failed { policy, report }) => {
                message.text("failed").number(*policy).text(report);
            }
            Err(PolicyError::Expression { policy, expression, reason }) => {
                message.text("expression").number(*policy).number(*expression).text(reason);
            }
            Err(PolicyError::NoMessage { policy }) => {
                message.text("no-message").number(*policy);
            }
            Err(PolicyError::Data { reason }) => _ = message.text("data").text(reason),
        }
        message.into_string()
    }

    pub(super) fn read(reader: &mut MessageReader<'_>) -> Option<Self> {
        let violations = match reader.text()? {
            "violations" => Ok(all(reader, |reader| {
                Some(reader.list()?.into_iter().map(str::to_owned).collect())
            })?),
            "failed" => Err(PolicyError::Failed {
                policy: reader.number()?,
                report: reader.text()?.to_owned(),
            }),
            "expression" => Err(PolicyError::Expression {
                policy: reader.number()?,
                expression: reader.number()?,
                reason: reader.text()?.to_owned(),
            }),
            "no-message" => Err(PolicyError::NoMessage { policy: reader.number()? }),
            _ => Err(PolicyError::Data { reason: reader.text()?.to_owned() }),
        };
        Some(Self { violations })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written() {
        let document =
            Document { api_version: "v1", kind: "Pod", namespace: "", name: "a", object: "{}" };
        let request = Request {
            policies: vec![
                PolicySource::Rego { is_v1: true, scripts: vec!["package a\n", ""] },
                PolicySource::Cel(CelSource {
                    ignores_failure: true,
                    variables: vec![("a", "1"), ("b", "variables.a")],
                    conditions: vec!["true"],
                    validations: vec![Validation {
                        expression: "false",
                        message: "m",
                        message_expression: "",
                    }],
                }),
            ],
            documents: vec![document.clone(), document],
            parameters: vec!["1", "{}"],
            checks: vec![Check { policy: 0, document: 1, parameters: 1 }],
        };
        let text = request.write();
        assert_eq!(Request::read(&mut MessageReader::new(&text)), Some(request));
        for violations in [
            Ok(vec![vec!["a\nb".to_owned()], Vec::new()]),
            Err(PolicyError::Failed { policy: 1, report: "x: y".to_owned() }),
            Err(PolicyError::Expression { policy: 1, expression: 2, reason: "x".to_owned() }),
            Err(PolicyError::NoMessage { policy: 1 }),
            Err(PolicyError::Data { reason: String::new() }),
        ] {
            let text = Outcome { violations: violations.clone() }.write();
            assert_eq!(Outcome::read(&mut MessageReader::new(&text)), Some(Outcome { violations }));
        }
    }
}
