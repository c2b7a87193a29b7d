//! A finding: a diagnostic with its rule, its fingerprint and the change that would resolve it.

use std::collections::HashMap;
use std::hash::Hasher;

use krm_core::Diagnostic;
use krm_core::functions::resource_list::FunctionResult;
use siphasher::sip128::{Hasher128, SipHasher13};

use super::fix::Fix;
use super::package_directories::PackageDirectories;

/// A finding.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The id of the diagnostic, or the function and the tag of its result.
    pub(crate) rule: String,
    pub(crate) diagnostic: Diagnostic,
    /// The edit that resolves it.
    pub(crate) fix: Option<Fix>,
    /// The same for the same finding in another run, even if lines move.
    pub(crate) fingerprint: String,
}

/// Which function reported a result, and what it proposes.
#[derive(Clone, Debug)]
pub(crate) struct FunctionFinding<'a> {
    /// The name: an image, a command or a file.
    pub(crate) function: &'a str,
    pub(crate) result: &'a FunctionResult,
    pub(crate) fix: Option<Fix>,
}

impl Finding {
    pub(crate) fn of(diagnostic: Diagnostic) -> Self {
        let rule = diagnostic.id().to_owned();
        Self { rule, diagnostic, fix: None, fingerprint: String::new() }
    }

    pub(crate) fn of_function(diagnostic: Diagnostic, source: FunctionFinding<'_>) -> Self {
        let name = source.function.rsplit('/').next().unwrap_or_default();
        let name = name.split(['@', ':', ' ']).next().unwrap_or_default();
        let tag = source.result.tags.first().map(|(_, value)| format!("/{value}"));
        let rule = format!("{name}{}", tag.unwrap_or_default());
        Self { rule, diagnostic, fix: source.fix, fingerprint: String::new() }
    }

    /// The file; none for standard input and for findings about no file.
    pub(crate) fn file(&self) -> Option<&str> {
        let name = crate::disk::display_name(crate::disk::STDIN);
        self.diagnostic.file.as_deref().filter(|file| *file != name)
    }

    /// The line, from one.
    pub(crate) fn line(&self) -> Option<u32> {
        self.diagnostic.location.as_ref().map(|location| location.line)
    }

    /// The message with its notes and hints, one per line.
    pub(crate) fn text(&self) -> String {
        let diagnostic = &self.diagnostic;
        let notes = diagnostic.notes().iter().map(|note| format!("\nnote: {note}"));
        let hints = diagnostic.hints.iter().map(|hint| format!("\nhelp: {hint}"));
        format!("{}{}", diagnostic.message(), notes.chain(hints).collect::<String>())
    }

    /// What the finding is about: the resource and the field, as far as they are known.
    pub(crate) fn subject(&self) -> String {
        let diagnostic = &self.diagnostic;
        let parts = [diagnostic.resource.as_deref(), diagnostic.field.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// The rule, the package, the resource and the field, so that a resource can move inside its package. Without a resource, the file.
    fn place(&self, packages: &mut PackageDirectories) -> String {
        let file = self.file().unwrap_or_default();
        let diagnostic = &self.diagnostic;
        let place = match &diagnostic.resource {
            Some(resource) => format!("{}\n{resource}", packages.of(file)),
            None => file.to_owned(),
        };
        format!("{}\n{place}\n{}", self.rule, diagnostic.field.as_deref().unwrap_or_default())
    }
}

/// Sorts findings by location and gives each its fingerprint.
pub(super) fn order(findings: &mut [Finding]) {
    let column = |it: &Finding| it.diagnostic.location.as_ref().map(|location| location.column);
    findings.sort_by(|a, b| {
        let key = |it: &Finding| (it.file().map(str::to_owned), it.line(), column(it));
        key(a).cmp(&key(b))
    });
    let mut seen: HashMap<String, u32> = HashMap::new();
    let mut packages = PackageDirectories::default();
    for finding in findings {
        let place = finding.place(&mut packages);
        let ordinal = seen.entry(place.clone()).and_modify(|count| *count += 1).or_insert(0);
        let mut hasher = SipHasher13::new();
        hasher.write(format!("{place}\n{ordinal}").as_bytes());
        let hash = hasher.finish128();
        finding.fingerprint = format!("{:016x}{:016x}", hash.h1, hash.h2);
    }
}
