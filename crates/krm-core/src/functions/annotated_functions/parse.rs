//! Parses the declaration of a function from an annotation. Errors have their location in the file that has the annotation.

use std::borrow::Cow;

use krm_yaml::{File, NodeRef, ScalarStyle, Span};

use super::{AnnotatedFunctionKind, AnnotatedRuntime, FunctionDeclaration};
use crate::diagnostics::{CommonKind, Kind, closest_name};
use crate::functions::resource_list::Version;
use crate::model::resource::{field, is_null, scalar_text};
use crate::{Diagnostic, Resource};

/// The annotations that declare a function; the first that exists is used. Compat: the second is older.
const ANNOTATIONS: [&str; 2] = ["config.kubernetes.io/function", "config.k8s.io/function"];
/// Compat: an annotation that has only an image.
const IMAGE_ANNOTATION: &str = "config.kubernetes.io/container";

pub(super) fn declaration(
    resource: Resource<'_>,
) -> Option<Result<FunctionDeclaration, Diagnostic>> {
    let metadata = field(resource.node, "metadata")?;
    let annotations = field(metadata, "annotations");
    let annotation = |name: &str| field(annotations?, name).filter(|node| !is_null(*node));
    if let Some(node) = ANNOTATIONS.into_iter().find_map(annotation) {
        return Some(parse_annotation(node));
    }
    // Compat: the oldest form is a field of the metadata.
    if let Some(node) = field(metadata, "configFn").filter(|node| node.as_mapping().is_some()) {
        return Some(Parser { source: DeclarationSource::Document }.declaration(node));
    }
    let image = scalar_text(annotation(IMAGE_ANNOTATION)?)?.into_owned();
    let runtime =
        AnnotatedRuntime::Container { image, network: false, mounts: Vec::new(), envs: Vec::new() };
    Some(Ok(FunctionDeclaration { runtime, defer_failure: false, version: None }))
}

fn parse_annotation(node: NodeRef<'_>) -> Result<FunctionDeclaration, Diagnostic> {
    let source = DeclarationSource::Annotation(node);
    let Some(text) = scalar_text(node) else {
        return Err(at(node, AnnotatedFunctionKind::NotAString));
    };
    let invalid = |reason: String| AnnotatedFunctionKind::InvalidYaml { reason };
    let file =
        File::parse(text.into_owned()).map_err(|error| at(node, invalid(error.to_string())))?;
    if let Some(error) = file.errors().next() {
        return Err(source.error(&file, error.span, error.kind.clone()));
    }
    match file.documents().find_map(|document| document.root()) {
        Some(root) => Parser { source }.declaration(root),
        None => Err(at(node, AnnotatedFunctionKind::Empty)),
    }
}

fn at(node: NodeRef<'_>, kind: impl Into<Kind>) -> Diagnostic {
    Diagnostic::error(kind).at(node.document().file(), node.span())
}

/// Where a declaration is parsed from.
#[derive(Clone, Copy)]
enum DeclarationSource<'a> {
    /// From nodes of the file itself.
    Document,
    /// From the string in an annotation, which is parsed as a file of its own.
    Annotation(NodeRef<'a>),
}

impl DeclarationSource<'_> {
    /// An error at a span of the parsed file, located in the file of the resource.
    fn error(self, file: &File, span: Span, kind: impl Into<Kind>) -> Diagnostic {
        match self {
            Self::Document => Diagnostic::error(kind).at(file, span),
            Self::Annotation(node) => {
                let outer = node.document().file();
                Diagnostic::error(kind).at(outer, outer_span(node, file, span))
            }
        }
    }
}

/// The span in the outer file of a part of an annotation's string. Only literal block scalars have their lines unchanged, so for any
/// other style this is the whole annotation.
fn outer_span(node: NodeRef<'_>, inner: &File, span: Span) -> Span {
    let outer = node.document().file();
    let is_literal = node.as_scalar().is_some_and(|it| it.style() == ScalarStyle::Literal);
    if !is_literal {
        return node.span();
    }
    let line = inner.line_at(span.start);
    let inner_line = line.of(inner.text());
    let number = inner.position(span.start).line as usize;
    let mut start = outer.line_at(node.start());
    for _ in 0..number {
        if start.end as usize >= outer.text().len() {
            return node.span();
        }
        let next = outer.text()[start.end as usize..].find('\n').map_or(0, |at| at + 1);
        start = outer.line_at(start.end + u32::try_from(next).unwrap_or(0));
    }
    let Some(shift) = start.of(outer.text()).find(inner_line) else { return node.span() };
    let from = start.start + u32::try_from(shift).unwrap_or(0) + (span.start - line.start);
    let length = span.end.min(line.end).saturating_sub(span.start);
    Span::new(from, from + length)
}

struct Parser<'a> {
    source: DeclarationSource<'a>,
}

impl Parser<'_> {
    fn error(&self, node: NodeRef<'_>, kind: impl Into<Kind>) -> Diagnostic {
        self.source.error(node.document().file(), node.span(), kind)
    }

    fn declaration(&self, node: NodeRef<'_>) -> Result<FunctionDeclaration, Diagnostic> {
        let known =
            ["container", "exec", "starlark", "wasm", "deferFailure", "resourceListVersion"];
        self.check_fields(node, &known, "a function")?;
        let kinds: Vec<(&str, NodeRef<'_>)> = known[..4]
            .iter()
            .filter_map(|name| Some((*name, field(node, name).filter(|it| !is_null(*it))?)))
            .collect();
        let (kind, body) = match kinds[..] {
            [one] => one,
            [] => return Err(self.error(node, AnnotatedFunctionKind::MissingRuntime)),
            [(first, _), (second, body), ..] => {
                let (first, second) = (first.to_owned(), second.to_owned());
                let kind = AnnotatedFunctionKind::SeveralRuntimes { first, second };
                return Err(self.error(body, kind));
            }
        };
        let runtime = match kind {
            "container" => self.container(body)?,
            "exec" => self.exec(body)?,
            "starlark" => self.starlark(body)?,
            _ => {
                self.check_fields(body, &["path"], "`wasm`")?;
                AnnotatedRuntime::Wasm { path: self.string(body, "path")? }
            }
        };
        let defer_failure = self.flag(node, "deferFailure")?;
        Ok(FunctionDeclaration { runtime, defer_failure, version: self.version(node)? })
    }

    fn version(&self, node: NodeRef<'_>) -> Result<Option<Version>, Diagnostic> {
        let Some(value) = field(node, "resourceListVersion").filter(|it| !is_null(*it)) else {
            return Ok(None);
        };
        match scalar_text(value).and_then(|name| Version::named(&name)) {
            Some(version) => Ok(Some(version)),
            None => Err(self.error(value, AnnotatedFunctionKind::UnknownVersion)),
        }
    }

    fn container(&self, node: NodeRef<'_>) -> Result<AnnotatedRuntime, Diagnostic> {
        self.check_fields(node, &["image", "network", "mounts", "envs", "env"], "`container`")?;
        let mounts = field(node, "mounts").map_or(Ok(Vec::new()), |it| self.mounts(it))?;
        let network = match field(node, "network") {
            // Compat: older documentation has `{required: true}`.
            Some(network) if network.as_mapping().is_some() => self.flag(network, "required")?,
            _ => self.flag(node, "network")?,
        };
        let image = self.string(node, "image")?;
        Ok(AnnotatedRuntime::Container { image, network, mounts, envs: self.envs(node)? })
    }

    fn exec(&self, node: NodeRef<'_>) -> Result<AnnotatedRuntime, Diagnostic> {
        self.check_fields(node, &["path", "args", "envs", "env"], "`exec`")?;
        let args = field(node, "args").map_or(Ok(Vec::new()), |it| self.strings(it))?;
        Ok(AnnotatedRuntime::Exec {
            path: self.string(node, "path")?,
            args,
            envs: self.envs(node)?,
        })
    }

    fn starlark(&self, node: NodeRef<'_>) -> Result<AnnotatedRuntime, Diagnostic> {
        self.check_fields(node, &["name", "path", "url"], "`starlark`")?;
        if let Some(url) = field(node, "url").filter(|url| !is_null(*url)) {
            return Err(self.error(url, AnnotatedFunctionKind::RemoteScript));
        }
        let name = field(node, "name").and_then(scalar_text).map(Cow::into_owned);
        Ok(AnnotatedRuntime::Starlark { name, path: self.string(node, "path")? })
    }

    /// Checks that all fields are known: a misspelled field would otherwise be ignored.
    fn check_fields(
        &self,
        node: NodeRef<'_>,
        known: &[&str],
        owner: &str,
    ) -> Result<(), Diagnostic> {
        let Some(mapping) = node.as_mapping() else {
            let expected = format!("a mapping for {owner}");
            return Err(self.error(node, CommonKind::wrong_type(expected, node)));
        };
        for entry in mapping.entries() {
            let name = scalar_text(entry.key).unwrap_or_default();
            if !known.contains(&&*name) {
                let hint = match closest_name(known.iter().copied(), &name) {
                    Some(similar) => format!("did you mean `{similar}`?"),
                    None => format!("expected {}", known.join(", ")),
                };
                let (field, owner) = (name.into_owned(), owner.to_owned());
                let kind = CommonKind::UnknownField { field, owner };
                return Err(self.error(entry.key, kind).hint(hint));
            }
        }
        Ok(())
    }

    fn string(&self, node: NodeRef<'_>, name: &str) -> Result<String, Diagnostic> {
        let text = field(node, name).and_then(scalar_text).filter(|text| !text.trim().is_empty());
        text.map(Cow::into_owned).ok_or_else(|| {
            let (field_name, owner) = (name.to_owned(), "a function".to_owned());
            let kind = CommonKind::MissingField { field: field_name, owner };
            self.error(field(node, name).unwrap_or(node), kind)
        })
    }

    fn flag(&self, node: NodeRef<'_>, name: &str) -> Result<bool, Diagnostic> {
        let Some(value) = field(node, name).filter(|node| !is_null(*node)) else {
            return Ok(false);
        };
        match scalar_text(value).as_deref() {
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            _ => {
                let expected = format!("`true` or `false` in `{name}`");
                Err(self.error(value, CommonKind::wrong_type(expected, value)))
            }
        }
    }

    fn strings(&self, node: NodeRef<'_>) -> Result<Vec<String>, Diagnostic> {
        let Some(list) = node.as_sequence() else {
            return Err(self.error(node, CommonKind::wrong_type("a sequence of strings", node)));
        };
        let string = |item: NodeRef<'_>| {
            let text = scalar_text(item).map(Cow::into_owned);
            text.ok_or_else(|| self.error(item, CommonKind::wrong_type("a string", item)))
        };
        list.items().map(string).collect()
    }

    fn envs(&self, node: NodeRef<'_>) -> Result<Vec<String>, Diagnostic> {
        let envs = field(node, "envs").or_else(|| field(node, "env"));
        envs.map_or(Ok(Vec::new()), |envs| self.strings(envs))
    }

    /// The mounts in the syntax of `--mount`.
    fn mounts(&self, node: NodeRef<'_>) -> Result<Vec<String>, Diagnostic> {
        let Some(list) = node.as_sequence() else {
            return Err(self.error(node, CommonKind::wrong_type("a sequence in `mounts`", node)));
        };
        let mount = |item: NodeRef<'_>| {
            let item = item.resolve();
            self.check_fields(item, &["type", "src", "dst", "rw"], "a mount")?;
            let mut parts = Vec::new();
            for name in ["type", "src", "dst", "rw"] {
                let text = field(item, name).and_then(scalar_text);
                parts.extend(text.map(|text| format!("{name}={text}")));
            }
            match parts.iter().find(|part| part.contains(',')) {
                Some(_) => Err(self.error(item, AnnotatedFunctionKind::CommaInMount)),
                None => Ok(parts.join(",")),
            }
        };
        list.items().map(mount).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::PackageFile;

    fn read(annotation: &str) -> Result<FunctionDeclaration, Diagnostic> {
        let lines: String = annotation.lines().map(|line| format!("      {line}\n")).collect();
        let text = format!(
            "apiVersion: v1\nkind: Check\nmetadata:\n  name: x\n  annotations:\n    config.kubernetes.io/function: |\n{lines}"
        );
        let file = PackageFile::from_text("a.yaml", text).unwrap();
        declaration(file.resources().next().unwrap()).unwrap()
    }

    #[test]
    fn every_runtime_is_parsed() {
        let container = read("container:\n  image: a:v1\n  network: {required: true}\n  mounts:\n  - {type: bind, src: x, dst: /x, rw: true}\n  envs: [A=b, C]\ndeferFailure: true\n").unwrap();
        let AnnotatedRuntime::Container { image, network, mounts, envs } = container.runtime else {
            panic!()
        };
        assert_eq!((image.as_str(), network, container.defer_failure), ("a:v1", true, true));
        assert_eq!(
            (mounts, envs),
            (
                vec!["type=bind,src=x,dst=/x,rw=true".to_owned()],
                vec!["A=b".to_owned(), "C".to_owned()]
            )
        );
        let exec = read("exec: {path: ./x.sh, args: [a, 'b c']}").unwrap();
        assert_eq!(
            exec.runtime,
            AnnotatedRuntime::Exec {
                path: "./x.sh".to_owned(),
                args: vec!["a".to_owned(), "b c".to_owned()],
                envs: Vec::new()
            }
        );
        assert_eq!(read("wasm: {path: x.wasm}").unwrap().runtime.name(), "x.wasm");
        assert_eq!(read("starlark: {path: x.star, name: mine}").unwrap().runtime.name(), "mine");
    }

    #[test]
    fn errors_have_the_line_of_the_file() {
        for (text, message, marked) in [
            ("container:\n  imag: a", "unknown field `imag` in `container`", "8:9 imag"),
            ("container: {}", "missing field `image` in a function", "7:18 {}"),
            (
                "exec: {path: x}\nwasm: {path: y}",
                "a function cannot use both `exec` and `wasm`",
                "8:13 {path: y}",
            ),
            (
                "deferFailure: maybe\nexec: {path: x}",
                "expected `true` or `false` in `deferFailure`, found a string",
                "7:21 maybe",
            ),
            (
                "deferFailure: true",
                "missing field `container`, `exec`, `starlark` or `wasm` in a function",
                "7:7 deferFailure: true",
            ),
            ("exec: [", "unclosed `[`", "7:13 ["),
            ("hello", "expected a mapping for a function, found a string", "7:7 hello"),
            ("starlark: {url: http://x}", "scripts cannot be loaded from a URL", "7:23 http://x"),
        ] {
            let error = read(text).unwrap_err();
            let place = error.location.as_ref().unwrap();
            let location =
                format!("{}:{} {}", place.line, place.column, &place.text[place.marked.clone()]);
            assert_eq!((error.message(), location.as_str()), (message, marked), "{text}");
        }
    }

    #[test]
    fn older_forms_are_parsed() {
        for metadata in [
            "annotations: {config.k8s.io/function: 'container: {image: a}'}",
            "annotations: {config.kubernetes.io/container: a}",
            "configFn: {container: {image: a}}",
        ] {
            let text = format!("apiVersion: v1\nkind: X\nmetadata: {{{metadata}}}\n");
            let file = PackageFile::from_text("a.yaml", text).unwrap();
            let read = declaration(file.resources().next().unwrap()).unwrap().unwrap();
            assert_eq!(read.runtime.name(), "a", "{metadata}");
        }
    }
}
