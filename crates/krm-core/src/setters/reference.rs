//! References in comments: which setter or substitution a field follows, in the form that its author chose.

use std::ops::Range;

use super::json_object::members;
use super::pattern::Pattern;

/// What the definition of a setter is called, before its name.
pub const SETTER_PREFIX: &str = "io.k8s.cli.setters.";
/// What the definition of a substitution is called, before its name.
pub const SUBSTITUTION_PREFIX: &str = "io.k8s.cli.substitutions.";
/// What a reference to a definition begins with.
const POINTER: &str = "#/definitions/";
const PATTERN_WORD: &str = "kpt-set:";

/// How a reference is written.
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
    /// `{"$imagepolicy": "namespace:name:tag"}`: another tool sets it.
    ImagePolicy,
}

/// What a reference names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceTarget {
    /// A setter.
    Setter(String),
    /// A substitution.
    Substitution(String),
    /// A setter, or where there is none of this name a substitution.
    Named(String),
    /// Setters, by a pattern of its own.
    Pattern(Pattern),
    /// What another tool knows.
    Foreign(String),
}

/// A reference in a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// How it is written.
    pub form: ReferenceSyntax,
    /// What it names.
    pub target: ReferenceTarget,
    /// The bytes of the comment that are the reference; what stands around them is a person's words.
    pub range: Range<usize>,
}

/// What a comment holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParsedComment {
    /// No reference.
    None,
    /// One.
    Reference(Reference),
    /// What looks like one and is none, and why.
    Invalid(String),
}

/// Whether a text can hold references at all; most texts hold none, and this is quick.
pub(super) fn may_hold(text: &str) -> bool {
    text.contains("\"$") || text.contains("{$") || text.contains(PATTERN_WORD)
}

/// Reads a comment, with or without its `#`.
///
/// ```
/// use krm_core::setters::{ReferenceSyntax, ParsedComment, ReferenceTarget, parse_reference};
///
/// let ParsedComment::Reference(found) = parse_reference(r##"# {"$ref": "#/definitions/io.k8s.cli.setters.replicas"}"##) else {
///     panic!("it is one");
/// };
/// assert_eq!((found.form, found.target), (ReferenceSyntax::Ref, ReferenceTarget::Setter("replicas".to_owned())));
/// ```
pub fn parse(comment: &str) -> ParsedComment {
    if !may_hold(comment) {
        return ParsedComment::None;
    }
    let mut own = Vec::new();
    let mut foreign = None;
    let mut at = 0;
    while let Some(start) = comment[at..].find('{').map(|found| at + found) {
        at = start + 1;
        if comment[..start].ends_with('$') {
            continue;
        }
        match object(comment, start) {
            Ok(None) => {}
            Ok(Some(reference)) => {
                at = reference.range.end;
                match reference.target {
                    ReferenceTarget::Foreign(_) => foreign = Some(reference),
                    _ => own.push(reference),
                }
            }
            Err(reason) => return ParsedComment::Invalid(reason),
        }
    }
    match pattern(comment) {
        Ok(found) => own.extend(found),
        Err(reason) => return ParsedComment::Invalid(reason),
    }
    if own.len() > 1 {
        return ParsedComment::Invalid(
            "the comment holds two references, and a field can follow one".into(),
        );
    }
    own.pop().or(foreign).map_or(ParsedComment::None, ParsedComment::Reference)
}

/// `kpt-set: …`, to the end of the comment.
fn pattern(comment: &str) -> Result<Option<Reference>, String> {
    let Some(start) = comment.find(PATTERN_WORD) else { return Ok(None) };
    let before = comment[..start].chars().next_back();
    if before.is_some_and(|c| c != '#' && !c.is_whitespace()) {
        return Ok(None);
    }
    let text = comment[start + PATTERN_WORD.len()..].trim();
    let pattern = Pattern::with_names(text).map_err(|error| error.to_string())?;
    if pattern.markers().is_empty() {
        return Err("`kpt-set:` names no setter: write it as ${name}".to_owned());
    }
    let range = start..comment.trim_end().len();
    Ok(Some(Reference {
        form: ReferenceSyntax::Pattern,
        target: ReferenceTarget::Pattern(pattern),
        range,
    }))
}

/// The reference that a JSON object at `start` is; none where it is no reference.
fn object(comment: &str, start: usize) -> Result<Option<Reference>, String> {
    let inside = comment[start + 1..].trim_start();
    let looks = ["$openapi", "$kpt-set", "$imagepolicy", "$ref"];
    let looks =
        looks.iter().find(|word| inside.trim_start_matches(['"', '\'']).starts_with(**word));
    let members = members(comment, start);
    let (members, end) = match (members, looks) {
        (Some(members), _) => members,
        (None, Some(word)) => {
            return Err(format!(
                "this looks like a reference, but is no JSON: write {{\"{word}\":\"…\"}}"
            ));
        }
        (None, None) => return Ok(None),
    };
    let named = members.iter().find_map(|(key, value)| Some((form(key)?, key, value)));
    let Some((form, key, value)) = named else { return Ok(None) };
    let Some(value) = value else { return Err(format!("`{key}` wants a name in quotes")) };
    if value.is_empty() {
        return Err(format!("`{key}` names nothing"));
    }
    let Some(target) = target(form, value)? else { return Ok(None) };
    Ok(Some(Reference { form, target, range: start..end }))
}

fn form(key: &str) -> Option<ReferenceSyntax> {
    match key {
        "$ref" => Some(ReferenceSyntax::Ref),
        "$openapi" => Some(ReferenceSyntax::OpenApi),
        "$kpt-set" => Some(ReferenceSyntax::KptSet),
        "$imagepolicy" => Some(ReferenceSyntax::ImagePolicy),
        _ => None,
    }
}

/// What a name in this form means; none for the schema of something else.
fn target(form: ReferenceSyntax, name: &str) -> Result<Option<ReferenceTarget>, String> {
    Ok(Some(match form {
        ReferenceSyntax::ImagePolicy => ReferenceTarget::Foreign(name.to_owned()),
        ReferenceSyntax::Ref => match definition(name) {
            Some(target) => target,
            None if name.contains("io.k8s.cli.") => {
                return Err(format!(
                    "`{name}` names no definition: it begins with {POINTER}{SETTER_PREFIX} or {POINTER}{SUBSTITUTION_PREFIX}"
                ));
            }
            None => return Ok(None),
        },
        _ => ReferenceTarget::Named(name.to_owned()),
    }))
}

/// What `#/definitions/io.k8s.cli.setters.x` names.
pub(super) fn definition(pointer: &str) -> Option<ReferenceTarget> {
    let key = pointer.strip_prefix(POINTER)?;
    let name = |prefix: &str| key.strip_prefix(prefix).filter(|name| !name.is_empty());
    let setter = name(SETTER_PREFIX).map(|name| ReferenceTarget::Setter(name.to_owned()));
    setter.or_else(|| {
        name(SUBSTITUTION_PREFIX).map(|name| ReferenceTarget::Substitution(name.to_owned()))
    })
}

/// `#/definitions/` and the key of a definition.
pub(super) fn pointer(key: &str) -> String {
    format!("{POINTER}{key}")
}

impl Reference {
    /// The setter or substitution that is named, where there is one name.
    pub fn name(&self) -> Option<&str> {
        match &self.target {
            ReferenceTarget::Setter(name)
            | ReferenceTarget::Substitution(name)
            | ReferenceTarget::Named(name) => Some(name),
            ReferenceTarget::Pattern(pattern) => pattern.only_marker(),
            ReferenceTarget::Foreign(_) => None,
        }
    }

    /// The reference with another name in place of this one, in the same form; none where it is not named.
    pub(super) fn renamed(&self, comment: &str, from: &str, to: &str) -> Option<String> {
        let old = &comment[self.range.clone()];
        let (old_word, new_word) = match (&self.target, self.form) {
            (ReferenceTarget::Pattern(pattern), _) if pattern.markers().contains(&from) => {
                (format!("${{{from}}}"), format!("${{{to}}}"))
            }
            (ReferenceTarget::Setter(name), _) if name == from => {
                (format!("{SETTER_PREFIX}{from}\""), format!("{SETTER_PREFIX}{to}\""))
            }
            (ReferenceTarget::Named(name), _) if name == from => {
                (format!("\"{from}\""), format!("\"{to}\""))
            }
            _ => return None,
        };
        let new = old.replace(&old_word, &new_word);
        // A name that is written with escapes is not found as it stands.
        if new == old {
            Some(write(self.form, &format!("{SETTER_PREFIX}{to}"), to, ""))
        } else {
            Some(new)
        }
    }
}

/// How a new reference to a setter or substitution is written; a pattern where the form is one.
pub(super) fn write(form: ReferenceSyntax, key: &str, name: &str, pattern: &str) -> String {
    match form {
        ReferenceSyntax::Ref => format!("{{\"$ref\":\"{}\"}}", pointer(key)),
        ReferenceSyntax::OpenApi => format!("{{\"$openapi\":\"{name}\"}}"),
        ReferenceSyntax::KptSet => format!("{{\"$kpt-set\":\"{name}\"}}"),
        ReferenceSyntax::Pattern => format!("{PATTERN_WORD} {pattern}"),
        ReferenceSyntax::ImagePolicy => format!("{{\"$imagepolicy\": \"{name}\"}}"),
    }
}

/// The comment with a reference behind the words that stand there.
pub(super) fn join(comment: Option<&str>, reference: &str) -> String {
    match comment.map(str::trim_end) {
        None | Some("" | "#") => format!("# {reference}"),
        Some(words) => format!("{words} {reference}"),
    }
}

/// The comment without the reference; none where nothing is left.
pub(super) fn without(comment: &str, range: &Range<usize>) -> Option<String> {
    let before = comment[..range.start].trim_end();
    let behind = comment[range.end..].trim_end();
    let words = match before {
        "" | "#" if behind.trim().is_empty() => return None,
        "" | "#" => format!("#{behind}"),
        _ => format!("{before}{behind}"),
    };
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(comment: &str) -> String {
        match parse(comment) {
            ParsedComment::None => "nothing".to_owned(),
            ParsedComment::Invalid(reason) => format!("broken: {reason}"),
            ParsedComment::Reference(it) => {
                format!("{:?} {:?} {}", it.form, it.target, &comment[it.range])
            }
        }
    }

    #[test]
    fn every_form_is_read_with_its_place() {
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
    fn what_looks_like_a_reference_and_is_none_is_told() {
        for comment in [
            r#"# {"$openapi":"x""#,
            r#"# {"$openapi":x}"#,
            r#"# {$openapi: x}"#,
            r#"# {"$openapi":""}"#,
            r#"# {"$openapi":5}"#,
            r#"# {"$openapi":"x"} {"$openapi":"y"}"#,
            r##"# {"$ref":"#/definition/io.k8s.cli.setters.x"}"##,
            "# kpt-set: ${x",
            "# kpt-set: x",
            "# kpt-set:",
        ] {
            assert!(read(comment).starts_with("broken: "), "{comment}: {}", read(comment));
        }
    }

    #[test]
    fn a_reference_joins_and_leaves_the_words_of_a_person() {
        for words in [None, Some("# at most"), Some("#no blank")] {
            let joined = join(words, r#"{"$openapi":"x"}"#);
            let ParsedComment::Reference(it) = parse(&joined) else { panic!("{joined}") };
            assert_eq!(without(&joined, &it.range).as_deref(), words);
        }
    }
}
