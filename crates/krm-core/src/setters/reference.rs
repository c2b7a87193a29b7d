//! References in comments: which setter or substitution a field follows, in one of several syntaxes.

use std::fmt;
use std::ops::Range;

use super::json_object::members;
use super::kinds::ReferenceKind;
use super::pattern::{Pattern, PatternError};
use crate::diagnostics::Kind;

/// The key of a setter's definition is this prefix and the name.
pub(super) const SETTER_PREFIX: &str = "io.k8s.cli.setters.";
/// The key of a substitution's definition is this prefix and the name.
pub(super) const SUBSTITUTION_PREFIX: &str = "io.k8s.cli.substitutions.";
/// A JSON pointer to a definition is this prefix and its key.
const DEFINITIONS_POINTER: &str = "#/definitions/";
const KPT_SET: &str = "kpt-set:";

/// The syntax of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceSyntax {
    /// `{"$ref":"#/definitions/io.k8s.cli.setters.x"}`
    Ref,
    /// `{"$openapi":"x"}`
    OpenApi,
    /// `{"$kpt-set":"x"}`
    KptSet,
    /// `kpt-set: ${x}-suffix`
    Pattern,
    /// `{"$imagepolicy": "namespace:name:tag"}`, which Flux reads.
    ImagePolicy,
}

/// What a reference names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceTarget {
    /// A setter.
    Setter(String),
    /// A substitution.
    Substitution(String),
    /// A setter of this name, or else a substitution.
    Named(String),
    /// The setters that are the markers of a pattern.
    Pattern(Pattern),
    /// Something that another tool sets.
    Foreign(String),
}

impl ReferenceTarget {
    /// The name, or the pattern.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Setter(name)
            | Self::Substitution(name)
            | Self::Named(name)
            | Self::Foreign(name) => name,
            Self::Pattern(pattern) => pattern.as_str(),
        }
    }
}

impl fmt::Display for ReferenceTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setter(name) => write!(f, "setter `{name}`"),
            Self::Substitution(name) => write!(f, "substitution `{name}`"),
            Self::Named(name) | Self::Foreign(name) => write!(f, "`{name}`"),
            Self::Pattern(pattern) => write!(f, "`{pattern}`"),
        }
    }
}

/// A reference in a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its syntax.
    pub syntax: ReferenceSyntax,
    /// What it names.
    pub target: ReferenceTarget,
    /// The bytes of the comment that are the reference; the text around them is for people.
    pub range: Range<usize>,
}

/// What a comment contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParsedComment {
    /// No reference.
    None,
    /// A reference.
    Reference(Reference),
    /// Something that looks like a reference but is invalid: a [`ReferenceKind`] or a [`PatternError`].
    Invalid(Kind),
}

/// Whether a text can contain references at all. Most files contain none, and this check is fast.
pub(super) fn may_contain(text: &str) -> bool {
    text.contains("\"$") || text.contains("{$") || text.contains(KPT_SET)
}

/// Parses a comment, with or without its `#`.
///
/// ```
/// use krm_core::setters::{ParsedComment, ReferenceSyntax, ReferenceTarget, parse_reference};
///
/// let comment = r##"# {"$ref": "#/definitions/io.k8s.cli.setters.replicas"}"##;
/// let ParsedComment::Reference(found) = parse_reference(comment) else { panic!("a reference") };
/// assert_eq!(found.syntax, ReferenceSyntax::Ref);
/// assert_eq!(found.target, ReferenceTarget::Setter("replicas".to_owned()));
/// ```
pub fn parse(comment: &str) -> ParsedComment {
    if !may_contain(comment) {
        return ParsedComment::None;
    }
    match find(comment) {
        Ok(Some(reference)) => ParsedComment::Reference(reference),
        Ok(None) => ParsedComment::None,
        Err(kind) => ParsedComment::Invalid(kind),
    }
}

fn find(comment: &str) -> Result<Option<Reference>, Kind> {
    let mut own = Vec::new();
    let mut foreign = None;
    let mut at = 0;
    while let Some(start) = comment[at..].find('{').map(|found| at + found) {
        at = start + 1;
        // `${name}` is a marker of a pattern.
        if comment[..start].ends_with('$') {
            continue;
        }
        if let Some(reference) = parse_object(comment, start)? {
            at = reference.range.end;
            match reference.target {
                ReferenceTarget::Foreign(_) => foreign = Some(reference),
                _ => own.push(reference),
            }
        }
    }
    own.extend(parse_pattern(comment)?);
    if own.len() > 1 {
        return Err(ReferenceKind::Multiple.into());
    }
    Ok(own.pop().or(foreign))
}

/// `kpt-set: …`, to the end of the comment.
fn parse_pattern(comment: &str) -> Result<Option<Reference>, PatternError> {
    let Some(start) = comment.find(KPT_SET) else { return Ok(None) };
    let before = comment[..start].chars().next_back();
    if before.is_some_and(|c| c != '#' && !c.is_whitespace()) {
        return Ok(None);
    }
    let pattern = Pattern::with_names(comment[start + KPT_SET.len()..].trim())?;
    if pattern.markers().is_empty() {
        return Err(PatternError::NoMarker);
    }
    let (syntax, target) = (ReferenceSyntax::Pattern, ReferenceTarget::Pattern(pattern));
    Ok(Some(Reference { syntax, target, range: start..comment.trim_end().len() }))
}

/// The JSON object at `start`, if it is a reference.
fn parse_object(comment: &str, start: usize) -> Result<Option<Reference>, ReferenceKind> {
    let Some((members, end)) = members(comment, start) else {
        let inside = comment[start + 1..].trim_start().trim_start_matches(['"', '\'']);
        let keys = ["$openapi", "$kpt-set", "$imagepolicy", "$ref"];
        return match keys.into_iter().find(|key| inside.starts_with(key)) {
            Some(key) => Err(ReferenceKind::NotJson { key }),
            None => Ok(None),
        };
    };
    let found = members.iter().find_map(|(key, value)| Some((syntax_of(key)?, key, value)));
    let Some((syntax, key, value)) = found else { return Ok(None) };
    let Some(name) = value.as_ref().filter(|name| !name.is_empty()) else {
        return Err(ReferenceKind::MissingName { key: key.to_string() });
    };
    let target = match syntax {
        ReferenceSyntax::ImagePolicy => ReferenceTarget::Foreign(name.to_string()),
        ReferenceSyntax::Ref => match parse_pointer(name) {
            Some(target) => target,
            None if name.contains("io.k8s.cli.") => {
                return Err(ReferenceKind::UnknownDefinition { pointer: name.to_string() });
            }
            // A reference to the schema of a resource type.
            None => return Ok(None),
        },
        _ => ReferenceTarget::Named(name.to_string()),
    };
    Ok(Some(Reference { syntax, target, range: start..end }))
}

fn syntax_of(key: &str) -> Option<ReferenceSyntax> {
    match key {
        "$ref" => Some(ReferenceSyntax::Ref),
        "$openapi" => Some(ReferenceSyntax::OpenApi),
        "$kpt-set" => Some(ReferenceSyntax::KptSet),
        "$imagepolicy" => Some(ReferenceSyntax::ImagePolicy),
        _ => None,
    }
}

/// The target of `#/definitions/io.k8s.cli.setters.x`.
pub(super) fn parse_pointer(pointer: &str) -> Option<ReferenceTarget> {
    let key = pointer.strip_prefix(DEFINITIONS_POINTER)?;
    let name = |prefix: &str| key.strip_prefix(prefix).filter(|name| !name.is_empty());
    let setter = name(SETTER_PREFIX).map(|name| ReferenceTarget::Setter(name.to_owned()));
    setter.or_else(|| {
        name(SUBSTITUTION_PREFIX).map(|name| ReferenceTarget::Substitution(name.to_owned()))
    })
}

/// The JSON pointer to the definition with this key.
pub(super) fn pointer(key: &str) -> String {
    format!("{DEFINITIONS_POINTER}{key}")
}

impl Reference {
    /// The name of the setter or substitution, if there is exactly one.
    pub fn name(&self) -> Option<&str> {
        match &self.target {
            ReferenceTarget::Setter(name)
            | ReferenceTarget::Substitution(name)
            | ReferenceTarget::Named(name) => Some(name),
            ReferenceTarget::Pattern(pattern) => pattern.only_marker(),
            ReferenceTarget::Foreign(_) => None,
        }
    }

    /// The reference with a setter renamed, in the same syntax; none if it does not name the setter.
    pub(super) fn renamed(&self, comment: &str, from: &str, to: &str) -> Option<String> {
        let old = &comment[self.range.clone()];
        let (old_name, new_name) = match &self.target {
            ReferenceTarget::Pattern(pattern) if pattern.markers().contains(&from) => {
                (format!("${{{from}}}"), format!("${{{to}}}"))
            }
            ReferenceTarget::Setter(name) if name == from => {
                (format!("{SETTER_PREFIX}{from}\""), format!("{SETTER_PREFIX}{to}\""))
            }
            ReferenceTarget::Named(name) if name == from => {
                (format!("\"{from}\""), format!("\"{to}\""))
            }
            _ => return None,
        };
        let new = old.replace(&old_name, &new_name);
        // A name that is written with JSON escapes is not found literally.
        if new == old {
            Some(write(self.syntax, &format!("{SETTER_PREFIX}{to}"), to, ""))
        } else {
            Some(new)
        }
    }
}

/// A new reference. `key` is the key of the definition; `pattern` is used by [`ReferenceSyntax::Pattern`] only.
pub(super) fn write(syntax: ReferenceSyntax, key: &str, name: &str, pattern: &str) -> String {
    match syntax {
        ReferenceSyntax::Ref => format!("{{\"$ref\":\"{}\"}}", pointer(key)),
        ReferenceSyntax::OpenApi => format!("{{\"$openapi\":\"{name}\"}}"),
        ReferenceSyntax::KptSet => format!("{{\"$kpt-set\":\"{name}\"}}"),
        ReferenceSyntax::Pattern => format!("{KPT_SET} {pattern}"),
        ReferenceSyntax::ImagePolicy => format!("{{\"$imagepolicy\": \"{name}\"}}"),
    }
}

/// Appends a reference to a comment.
pub(super) fn append(comment: Option<&str>, reference: &str) -> String {
    match comment.map(str::trim_end) {
        None | Some("" | "#") => format!("# {reference}"),
        Some(text) => format!("{text} {reference}"),
    }
}

/// The comment without its reference; none if nothing else is in it.
pub(super) fn remove(comment: &str, range: &Range<usize>) -> Option<String> {
    let before = comment[..range.start].trim_end();
    let after = comment[range.end..].trim_end();
    match before {
        "" | "#" if after.trim().is_empty() => None,
        "" | "#" => Some(format!("#{after}")),
        _ => Some(format!("{before}{after}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Diagnostic;

    fn read(comment: &str) -> String {
        match parse(comment) {
            ParsedComment::None => "nothing".to_owned(),
            ParsedComment::Invalid(kind) => format!("invalid: {}", Diagnostic::error(kind).id()),
            ParsedComment::Reference(it) => {
                format!("{:?} {:?} {}", it.syntax, it.target, &comment[it.range])
            }
        }
    }

    #[test]
    fn every_syntax_is_parsed_with_its_range() {
        for (comment, expected) in [
            (r#"# {"$openapi":"x"}"#, r#"OpenApi Named("x") {"$openapi":"x"}"#),
            (r#"#{ "$kpt-set" : "x" }"#, r#"KptSet Named("x") { "$kpt-set" : "x" }"#),
            (
                r##"# {"type":"array","items":{"a":[1,"}"]},"$ref":"#/definitions/io.k8s.cli.substitutions.x.y"}"##,
                r##"Ref Substitution("x.y") {"type":"array","items":{"a":[1,"}"]},"$ref":"#/definitions/io.k8s.cli.substitutions.x.y"}"##,
            ),
            (r#"# at most {"$openapi":"x"} of them"#, r#"OpenApi Named("x") {"$openapi":"x"}"#),
            (r#"# {"$openapi":"\u0078"}"#, r#"OpenApi Named("x") {"$openapi":"\u0078"}"#),
            (
                r#"# {"$imagepolicy": "a:b:tag"}"#,
                r#"ImagePolicy Foreign("a:b:tag") {"$imagepolicy": "a:b:tag"}"#,
            ),
            (r##"# {"$ref":"#/definitions/io.k8s.api.core.v1.Pod"}"##, "nothing"),
            (r#"# {"type":"integer","x-kustomize":{"setter":{"name":"x"}}}"#, "nothing"),
            ("# costs $5 {each}", "nothing"),
            ("# see akpt-set: ${x}", "nothing"),
        ] {
            assert_eq!(read(comment), expected, "{comment}");
        }
        let ParsedComment::Reference(it) = parse("# note kpt-set: ${a}-${b} ") else {
            panic!("it is one")
        };
        assert_eq!(&"# note kpt-set: ${a}-${b} "[it.range], "kpt-set: ${a}-${b}");
    }

    #[test]
    fn invalid_references_are_reported() {
        for (comment, id) in [
            (r#"# {"$openapi":"x""#, "reference-not-json"),
            (r#"# {"$openapi":x}"#, "reference-missing-name"),
            (r#"# {$openapi: x}"#, "reference-not-json"),
            (r#"# {"$openapi":""}"#, "reference-missing-name"),
            (r#"# {"$openapi":5}"#, "reference-missing-name"),
            (r#"# {"$openapi":"x"} {"$openapi":"y"}"#, "reference-multiple"),
            (r##"# {"$ref":"#/definition/io.k8s.cli.setters.x"}"##, "reference-unknown-definition"),
            ("# kpt-set: ${x", "pattern-unclosed-marker"),
            ("# kpt-set: x", "pattern-no-marker"),
            ("# kpt-set:", "pattern-no-marker"),
        ] {
            assert_eq!(read(comment), format!("invalid: {id}"), "{comment}");
        }
    }

    #[test]
    fn appending_and_removing_a_reference_keeps_other_text() {
        for text in [None, Some("# at most"), Some("#no space")] {
            let comment = append(text, r#"{"$openapi":"x"}"#);
            let ParsedComment::Reference(it) = parse(&comment) else { panic!("{comment}") };
            assert_eq!(remove(&comment, &it.range).as_deref(), text);
        }
    }
}
