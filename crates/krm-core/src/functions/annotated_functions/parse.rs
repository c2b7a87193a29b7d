//! A declaration read from its annotation; what is wrong is told with its place in the file.

use std::borrow::Cow;

use krm_yaml::{File, NodeRef, ScalarStyle, Span};

use super::{AnnotatedRuntime, FunctionDeclaration};
use crate::diagnostics::closest_name;
use crate::model::resource::{field, is_null, scalar_text};
use crate::{Diagnostic, Resource};

/// The annotations that declare a function, the first that is there counts. Compat: the second is older.
const NAMES: [&str; 2] = ["config.kubernetes.io/function", "config.k8s.io/function"];
/// Compat: an image and nothing else.
const IMAGE: &str = "config.kubernetes.io/container";

pub(super) fn declaration(
    resource: Resource<'_>,
) -> Option<Result<FunctionDeclaration, Diagnostic>> {
    let metadata = field(resource.node, "metadata")?;
    let annotations = field(metadata, "annotations");
    let annotation = |name: &str| field(annotations?, name).filter(|node| !is_null(*node));
    if let Some(node) = NAMES.into_iter().find_map(annotation) {
        return Some(of_annotation(node));
    }
    // Compat: the declaration once was a field of its own.
    if let Some(node) = field(metadata, "configFn").filter(|node| node.as_mapping().is_some()) {
        return Some(Reader { told: Told::Itself }.declaration(node));
    }
    let image = scalar_text(annotation(IMAGE)?)?.into_owned();
    let runtime =
        AnnotatedRuntime::Container { image, network: false, mounts: Vec::new(), envs: Vec::new() };
    Some(Ok(FunctionDeclaration { runtime, defer_failure: false }))
}

fn of_annotation(node: NodeRef<'_>) -> Result<FunctionDeclaration, Diagnostic> {
    let (told, outer) = (Told::Annotation(node), node.document().file());
    let Some(text) = scalar_text(node) else {
        let words = "a function is declared as text; write `|` behind the annotation's name";
        return Err(at(node, words));
    };
    let file = File::parse(text.into_owned()).map_err(|error| at(node, error.to_string()))?;
    if let Some(error) = file.errors().next() {
        return Err(
            Diagnostic::from_syntax(error, &file).at(outer, outside(node, &file, error.span))
        );
    }
    match file.documents().find_map(|document| document.root()) {
        Some(root) => Reader { told }.declaration(root),
        None => Err(at(node, "a function is declared, and nothing is said about it")),
    }
}

fn at(node: NodeRef<'_>, words: impl Into<String>) -> Diagnostic {
    Diagnostic::untyped_error(words).at(node.document().file(), node.span())
}

/// Where the places of a declaration are told.
#[derive(Clone, Copy)]
enum Told<'a> {
    /// In the file that it was read from.
    Itself,
    /// In the annotation whose text it is.
    Annotation(NodeRef<'a>),
}

impl Told<'_> {
    fn place(self, file: &File, span: Span, words: &str) -> Diagnostic {
        match self {
            Self::Itself => Diagnostic::untyped_error(words).at(file, span),
            Self::Annotation(node) => {
                let outer = node.document().file();
                Diagnostic::untyped_error(words).at(outer, outside(node, file, span))
            }
        }
    }
}

/// The place of a part of an annotation's text in the file. In a `|` text every line stands as it is.
fn outside(node: NodeRef<'_>, inner: &File, span: Span) -> Span {
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

struct Reader<'a> {
    told: Told<'a>,
}

impl Reader<'_> {
    fn wrong(&self, node: NodeRef<'_>, words: impl Into<String>) -> Diagnostic {
        self.told.place(node.document().file(), node.span(), &words.into())
    }

    fn declaration(&self, node: NodeRef<'_>) -> Result<FunctionDeclaration, Diagnostic> {
        let known = ["container", "exec", "starlark", "wasm", "deferFailure"];
        self.only(node, &known, "a function")?;
        let kinds: Vec<(&str, NodeRef<'_>)> = known[..4]
            .iter()
            .filter_map(|name| Some((*name, field(node, name).filter(|it| !is_null(*it))?)))
            .collect();
        let (kind, body) = match kinds[..] {
            [one] => one,
            [] => {
                let words = "a function says what runs: container, exec, starlark or wasm";
                return Err(self.wrong(node, words));
            }
            [(first, _), (second, body), ..] => {
                let words = format!("a function is one thing, and this is {first} and {second}");
                return Err(self.wrong(body, words));
            }
        };
        let runtime = match kind {
            "container" => self.container(body)?,
            "exec" => self.exec(body)?,
            "starlark" => self.starlark(body)?,
            _ => {
                self.only(body, &["path"], "wasm")?;
                AnnotatedRuntime::Wasm { path: self.text(body, "path")? }
            }
        };
        Ok(FunctionDeclaration { runtime, defer_failure: self.flag(node, "deferFailure")? })
    }

    fn container(&self, node: NodeRef<'_>) -> Result<AnnotatedRuntime, Diagnostic> {
        self.only(node, &["image", "network", "mounts", "envs", "env"], "container")?;
        let mounts = field(node, "mounts").map_or(Ok(Vec::new()), |it| self.mounts(it))?;
        let network = match field(node, "network") {
            // Compat: `{required: true}` is what older documents show.
            Some(network) if network.as_mapping().is_some() => self.flag(network, "required")?,
            _ => self.flag(node, "network")?,
        };
        let image = self.text(node, "image")?;
        Ok(AnnotatedRuntime::Container { image, network, mounts, envs: self.envs(node)? })
    }

    fn exec(&self, node: NodeRef<'_>) -> Result<AnnotatedRuntime, Diagnostic> {
        self.only(node, &["path", "args", "envs", "env"], "exec")?;
        let args = field(node, "args").map_or(Ok(Vec::new()), |it| self.texts(it))?;
        Ok(AnnotatedRuntime::Exec { path: self.text(node, "path")?, args, envs: self.envs(node)? })
    }

    fn starlark(&self, node: NodeRef<'_>) -> Result<AnnotatedRuntime, Diagnostic> {
        self.only(node, &["name", "path", "url"], "starlark")?;
        if let Some(url) = field(node, "url").filter(|url| !is_null(*url)) {
            let words = "scripts are not fetched from elsewhere";
            return Err(self
                .wrong(url, words)
                .hint("keep the script in the package, and name it as `path`"));
        }
        let name = field(node, "name").and_then(scalar_text).map(Cow::into_owned);
        Ok(AnnotatedRuntime::Starlark { name, path: self.text(node, "path")? })
    }

    /// Every field is known: one that is misspelled would otherwise be one that was never said.
    fn only(&self, node: NodeRef<'_>, known: &[&str], what: &str) -> Result<(), Diagnostic> {
        let Some(mapping) = node.as_mapping() else {
            return Err(
                self.wrong(node, format!("{what} is declared by fields: {}", known.join(", ")))
            );
        };
        for entry in mapping.entries() {
            let name = scalar_text(entry.key).unwrap_or_default();
            if !known.contains(&&*name) {
                let told = self.wrong(entry.key, format!("{what} has no field `{name}`"));
                return Err(match closest_name(known.iter().copied(), &name) {
                    Some(near) => told.hint(format!("did you mean `{near}`?")),
                    None => told.hint(format!("there are {}", known.join(", "))),
                });
            }
        }
        Ok(())
    }

    fn text(&self, node: NodeRef<'_>, name: &str) -> Result<String, Diagnostic> {
        let text = field(node, name).and_then(scalar_text).filter(|text| !text.trim().is_empty());
        text.map(Cow::into_owned).ok_or_else(|| {
            let place = field(node, name).unwrap_or(node);
            self.wrong(place, format!("`{name}` is missing"))
        })
    }

    fn flag(&self, node: NodeRef<'_>, name: &str) -> Result<bool, Diagnostic> {
        let Some(value) = field(node, name).filter(|node| !is_null(*node)) else {
            return Ok(false);
        };
        match scalar_text(value).as_deref() {
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            _ => Err(self.wrong(value, format!("`{name}` is true or false"))),
        }
    }

    fn texts(&self, node: NodeRef<'_>) -> Result<Vec<String>, Diagnostic> {
        let Some(list) = node.as_sequence() else {
            return Err(self.wrong(node, "a list of texts is wanted"));
        };
        let text = |item: NodeRef<'_>| {
            let text = scalar_text(item).map(Cow::into_owned);
            text.ok_or_else(|| self.wrong(item, "a text is wanted"))
        };
        list.items().map(text).collect()
    }

    fn envs(&self, node: NodeRef<'_>) -> Result<Vec<String>, Diagnostic> {
        let envs = field(node, "envs").or_else(|| field(node, "env"));
        envs.map_or(Ok(Vec::new()), |envs| self.texts(envs))
    }

    /// Mounts in the spelling of the command line.
    fn mounts(&self, node: NodeRef<'_>) -> Result<Vec<String>, Diagnostic> {
        let Some(list) = node.as_sequence() else {
            return Err(self.wrong(node, "`mounts` is no list"));
        };
        let mount = |item: NodeRef<'_>| {
            let item = item.resolve();
            self.only(item, &["type", "src", "dst", "rw"], "a mount")?;
            let mut parts = Vec::new();
            for name in ["type", "src", "dst", "rw"] {
                let text = field(item, name).and_then(scalar_text);
                parts.extend(text.map(|text| format!("{name}={text}")));
            }
            match parts.iter().find(|part| part.contains(',')) {
                Some(_) => Err(self.wrong(item, "a mount has no commas")),
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
    fn every_runtime_is_read_with_what_it_asks_for() {
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
    fn what_is_wrong_is_told_with_its_line_in_the_file() {
        for (text, message, marked) in [
            ("container:\n  imag: a", "container has no field `imag`", "8:9 imag"),
            ("container: {}", "`image` is missing", "7:18 {}"),
            (
                "exec: {path: x}\nwasm: {path: y}",
                "a function is one thing, and this is exec and wasm",
                "8:13 {path: y}",
            ),
            (
                "deferFailure: maybe\nexec: {path: x}",
                "`deferFailure` is true or false",
                "7:21 maybe",
            ),
            (
                "deferFailure: true",
                "a function says what runs: container, exec, starlark or wasm",
                "7:7 deferFailure: true",
            ),
            ("exec: [", "unclosed `[`", "7:13 ["),
            (
                "hello",
                "a function is declared by fields: container, exec, starlark, wasm, deferFailure",
                "7:7 hello",
            ),
            (
                "starlark: {url: http://x}",
                "scripts are not fetched from elsewhere",
                "7:23 http://x",
            ),
        ] {
            let told = read(text).unwrap_err();
            let place = told.location.as_ref().unwrap();
            let shown =
                format!("{}:{} {}", place.line, place.column, &place.text[place.marked.clone()]);
            assert_eq!((told.message(), shown.as_str()), (message, marked), "{text}");
        }
    }

    #[test]
    fn older_forms_are_read() {
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
