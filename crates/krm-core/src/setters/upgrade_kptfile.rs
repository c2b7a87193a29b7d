//! Upgrading a Kptfile of version v1alpha1 or v1alpha2 to v1, so that a package with kpt-set references can be rendered.

use krm_yaml::{Entry, NodeKind, NodeRef, Value};

use super::changes::{Changes, EditOp};
use super::definition::warning_at;
use super::kinds::SetterKind;
use super::migrate::{self, Dialect};
use super::new_definition::{KPT_V1, KPT_V1ALPHA1, entry, string};
use super::reference::{SETTER_PREFIX, SUBSTITUTION_PREFIX};
use super::{mapping_entries, root};
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, PackageFile};

/// Fields that both versions have.
const SAME: [&str; 5] = ["apiVersion", "kind", "metadata", "pipeline", "inventory"];

/// Fields of `packageMetadata` and their names in `info`.
const INFO: [(&str, &str); 6] = [
    ("shortDescription", "description"),
    ("url", "site"),
    ("email", "emails"),
    ("license", "license"),
    ("tags", "keywords"),
    ("man", "man"),
];

/// A version that already has a pipeline, and the same fields as v1.
const KPT_V1ALPHA2: &str = "kpt.dev/v1alpha2";

/// Whether a file is a Kptfile of a version before v1.
pub(super) fn is_old(file: &PackageFile) -> bool {
    has_version(file, KPT_V1ALPHA1) || has_version(file, KPT_V1ALPHA2)
}

fn has_version(file: &PackageFile, expected: &str) -> bool {
    let version = root(file).and_then(|root| field(root, "apiVersion")).and_then(scalar_text);
    file.path.name() == "Kptfile" && version.is_some_and(|it| it == expected)
}

/// The edits of an upgrade, and what version v1 cannot represent.
pub(super) struct Upgrade<'u, 'a> {
    pub(super) file: &'a PackageFile,
    pub(super) changes: &'u mut Changes<'a>,
    pub(super) losses: &'u mut Vec<Diagnostic>,
}

impl<'a> Upgrade<'_, 'a> {
    /// Upgrades the Kptfile, but for its setters and substitutions: their definitions are removed here and converted elsewhere.
    pub(super) fn run(&mut self) {
        let Some(root) = root(self.file) else { return };
        let is_recent = has_version(self.file, KPT_V1ALPHA2);
        for entry in mapping_entries(root) {
            let name = scalar_text(entry.key).unwrap_or_default();
            match &*name {
                _ if is_recent && name != "apiVersion" => {}
                "apiVersion" => self.add(entry, EditOp::Set(entry.value, string(KPT_V1))),
                "packageMetadata" => self.info(entry),
                "upstream" => self.upstream(root, entry),
                "openAPI" => {
                    report_definitions(self.file, entry.value, self.losses);
                    let (start, to) = (entry.key.start(), Dialect::KptSet);
                    migrate::report_comments(self.file, start, entry.value, to, self.losses);
                    self.add(entry, EditOp::Remove(entry.value));
                }
                name if SAME.contains(&name) => {}
                name => self.lose(entry, format!("`{name}` of a Kptfile before version 1")),
            }
        }
    }

    fn add(&mut self, entry: Entry<'a>, op: EditOp<'a>) {
        self.changes.add_at(self.file, entry.key, op);
    }

    /// Removes a field that version v1 does not have.
    fn lose(&mut self, entry: Entry<'a>, what: String) {
        let loss = Dialect::KptSet.loss(what);
        self.losses.push(warning_at(self.file, entry.key.full_span(), loss));
        self.add(entry, EditOp::Remove(entry.value));
    }

    fn info(&mut self, metadata: Entry<'a>) {
        let is_known = |entry: Entry<'_>| INFO.iter().any(|(old, _)| entry.is(old));
        if !mapping_entries(metadata.value).any(is_known) {
            return self.lose(metadata, "`packageMetadata`".to_owned());
        }
        for entry in mapping_entries(metadata.value) {
            let name = scalar_text(entry.key).unwrap_or_default();
            let Some((_, new)) = INFO.iter().find(|(old, _)| *old == name) else {
                self.lose(entry, format!("`{name}` of `packageMetadata`"));
                continue;
            };
            if *new != name {
                self.add(entry, EditOp::RenameKey(entry.key, (*new).to_owned()));
            }
            if let ("email", Some(email)) = (&*name, entry.value.as_str()) {
                let emails = Value::Sequence(vec![string(&email)]);
                self.add(entry, EditOp::Set(entry.value, emails));
            }
        }
        self.add(metadata, EditOp::RenameKey(metadata.key, "info".to_owned()));
    }

    /// Moves the commit of `upstream` to the new `upstreamLock`.
    fn upstream(&mut self, root: NodeRef<'a>, upstream: Entry<'a>) {
        let git = field(upstream.value, "git").filter(|it| it.kind() == NodeKind::Mapping);
        let Some(git) = git else {
            return self.lose(upstream, "an `upstream` other than git".to_owned());
        };
        let copy = |name: &str| Some(entry(name, string(&scalar_text(field(git, name)?)?)));
        let locked = ["repo", "directory", "ref", "commit"].into_iter().filter_map(copy);
        let lock =
            vec![entry("type", string("git")), entry("git", Value::Mapping(locked.collect()))];
        let insert =
            |mapping, key, value, after| EditOp::Insert { mapping, key, value, after, before: "" };
        let lock = insert(root, "upstreamLock", Value::Mapping(lock), &["upstream"][..]);
        self.add(upstream, lock);
        let strategy =
            insert(upstream.value, "updateStrategy", string("resource-merge"), &["type", "git"]);
        self.add(upstream, strategy);
        if let Some(commit) = field(git, "commit") {
            self.add(upstream, EditOp::Remove(commit));
        }
    }
}

/// Reports what `openAPI` has beside setters and substitutions.
fn report_definitions(file: &PackageFile, openapi: NodeRef<'_>, losses: &mut Vec<Diagnostic>) {
    let is_own = |entry: &Entry<'_>| {
        let key = scalar_text(entry.key).unwrap_or_default();
        key.starts_with(SETTER_PREFIX) || key.starts_with(SUBSTITUTION_PREFIX)
    };
    let others = mapping_entries(openapi).filter(|it| !it.is("definitions"));
    let definitions = field(openapi, "definitions").into_iter().flat_map(mapping_entries);
    for entry in others.chain(definitions.filter(|it| !is_own(it))) {
        let kind: SetterKind = Dialect::KptSet.loss(format!("`{}` of `openAPI`", entry.key.text()));
        losses.push(warning_at(file, entry.key.full_span(), kind));
    }
}
