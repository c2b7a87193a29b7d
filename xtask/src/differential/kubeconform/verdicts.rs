//! The verdicts of both validators about manifests, in a form that can be compared.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::PathBuf;

use krm_catalog::kubeconform::{self, Judgement};
use krm_catalog::{NamedBy, SchemaFiles};
use krm_core::Diagnostic;
use krm_sdk::{Resource, ResourceList, Severity};

use super::json::Json;
use super::manifests::DEFINITION;
use crate::{TaskResult, shell};

/// Kinds that are not validated, and kinds that are not allowed.
const SKIPPED: &str = "NetworkPolicy,v1/Secret";
const REJECTED: &str = "Role";

/// The verdict about a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) status: &'static str,
    /// Fields and messages.
    pub(super) problems: BTreeSet<(String, String)>,
}

/// Which schemas krm uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Schemas {
    BuiltIn,
    /// The files that kubeconform reads.
    Files,
}

/// Manifests that are validated in the same way.
pub(super) struct Group<'a> {
    pub(super) version: &'a str,
    pub(super) strict: bool,
    pub(super) schemas: Schemas,
    pub(super) directory: PathBuf,
    pub(super) program: PathBuf,
}

impl fmt::Debug for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strict = if self.strict { ", strict" } else { "" };
        write!(f, "{}{strict}, schemas {:?}", self.version, self.schemas)
    }
}

impl Group<'_> {
    fn locations(&self) -> [String; 2] {
        let path = |name: &str| self.directory.join(name).display().to_string();
        [path("schemas"), path("custom/{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json")]
    }

    /// The verdicts of krm.
    pub(super) fn ours(&self, texts: &[String]) -> TaskResult<Vec<Verdict>> {
        let items = texts.iter().map(Resource::parse).collect::<Result<_, _>>();
        let mut data = vec![
            ("kubernetes_version", self.version),
            ("skip_kinds", SKIPPED),
            ("reject_kinds", REJECTED),
            ("ignore_missing_schemas", "false"),
            ("strict", if self.strict { "true" } else { "false" }),
        ];
        let locations = self.locations().join(",");
        if self.schemas == Schemas::Files {
            data.push(("schema_location", &locations));
        }
        let data = data.iter().map(|(key, it)| ((*key).to_owned(), Json::string(it))).collect();
        let data = Json::Object(data);
        let config =
            format!("{{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"data\": {data}}}");
        let list = ResourceList {
            items: items.map_err(|error| format!("{error:?}"))?,
            function_config: Some(Resource::parse(&config).map_err(|error| format!("{error:?}"))?),
            ..ResourceList::default()
        };
        let definitions = vec![("definition.json".to_owned(), DEFINITION.to_owned())];
        let judged = kubeconform::judge(&list, &Files(definitions));
        Ok(judged.map_err(|error| format!("{error:?}"))?.iter().map(ours).collect())
    }

    /// The verdicts of kubeconform.
    pub(super) fn theirs(&self, texts: &[String]) -> TaskResult<Vec<Verdict>> {
        let directory = self.directory.join("manifests");
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir_all(&directory)?;
        for (number, text) in texts.iter().enumerate() {
            fs::write(directory.join(format!("{number}.json")), text)?;
        }
        let mut command = shell::program(&self.program);
        command.args(["-output", "json", "-verbose", "-skip", SKIPPED, "-reject", REJECTED]);
        command.args(["-kubernetes-version", self.version.trim_start_matches('v')]);
        for location in self.locations() {
            command.args(["-schema-location", &location]);
        }
        if self.strict {
            command.arg("-strict");
        }
        // The exit code says only that something is invalid.
        let output = command.arg(&directory).output()?;
        let answer = Json::parse(&String::from_utf8(output.stdout)?)?;
        let mut verdicts = vec![None; texts.len()];
        for resource in answer.get("resources").map_or(&[][..], Json::items) {
            let text = |key| resource.get(key).and_then(Json::text).unwrap_or_default();
            let name = text("filename").rsplit('/').next().unwrap_or_default();
            let number: usize = name.trim_end_matches(".json").parse()?;
            verdicts[number] = Some(theirs(text("status"), text("msg")));
        }
        let missing = || format!("no verdict: {}", String::from_utf8_lossy(&output.stderr));
        let all: Option<Vec<Verdict>> = verdicts.into_iter().collect();
        Ok(all.ok_or_else(missing)?)
    }
}

/// The files of the comparison, which krm may all read.
struct Files(Vec<(String, String)>);

impl SchemaFiles for Files {
    fn definitions(&self) -> &[(String, String)] {
        &self.0
    }

    fn read(&self, path: &str, _: NamedBy) -> Result<Option<String>, Diagnostic> {
        Ok(fs::read_to_string(path).ok())
    }
}

fn ours(judgement: &Judgement) -> Verdict {
    let status = match judgement.verdict {
        kubeconform::Verdict::Valid => "valid",
        kubeconform::Verdict::Invalid => "invalid",
        kubeconform::Verdict::Skipped => "skipped",
        kubeconform::Verdict::Error => "error",
    };
    let results = judgement.results.iter().filter(|it| it.severity == Severity::Error);
    let problem = |it: &krm_sdk::FunctionResult| {
        let path = it.field.as_ref().map_or("", |field| field.path.as_str());
        (path.replace(['"', ']'], "").replace(['[', '/'], "."), normalized(&it.message))
    };
    let problems =
        if status == "invalid" { results.map(problem).collect() } else { BTreeSet::new() };
    Verdict { status, problems }
}

/// The message of kubeconform has all violations, of which the list in its output has only those at the top.
fn theirs(status: &str, message: &str) -> Verdict {
    let status = match status {
        "statusValid" => "valid",
        "statusInvalid" => "invalid",
        "statusSkipped" => "skipped",
        _ => "error",
    };
    let mut problems: BTreeSet<(String, String)> = BTreeSet::new();
    let mut combined: Option<String> = None;
    for part in message.split("- at '").skip(1).filter(|_| status == "invalid") {
        let (path, message) = part.split_once("': ").unwrap_or((part, ""));
        let path = path.replace("~1", "/").replace("~0", "~");
        let path = path.trim_start_matches('/').replace('/', ".");
        // What follows a combination is why its parts do not match.
        if combined.as_ref().is_some_and(|of| path == *of || path.starts_with(&format!("{of}."))) {
            continue;
        }
        combined = is_combination(message).then(|| path.clone());
        if message.trim() != "validation failed" {
            problems.insert((path, normalized(message.trim())));
        }
    }
    Verdict { status, problems }
}

fn is_combination(message: &str) -> bool {
    ["'oneOf'", "'anyOf'", "'allOf'"].iter().any(|it| message.starts_with(it))
}

/// A message without what the tools say differently on purpose.
fn normalized(message: &str) -> String {
    let names = |message: &str| {
        let mut names: Vec<&str> = message.split('\'').skip(1).step_by(2).collect();
        names.sort_unstable();
        names.join(" ")
    };
    match message {
        _ if message.starts_with("missing propert") => format!("missing {}", names(message)),
        _ if message.starts_with("additional propert") => format!("additional {}", names(message)),
        // krm names both types of an IntOrString instead of a combination.
        _ if message.ends_with("integer or string") || message.ends_with("number or string") => {
            "'oneOf' failed, none matched".to_owned()
        }
        // krm gives no reason.
        _ if message.contains(" is not valid ") => {
            let at = message.find(" is not valid ").unwrap_or(0) + " is not valid ".len();
            let end = message[at..].find(':').map_or(message.len(), |end| at + end);
            message[..end].to_owned()
        }
        _ => message.to_owned(),
    }
}
