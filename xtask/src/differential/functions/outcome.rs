//! The output of a function by meaning, and the differences between two outputs.

use std::collections::BTreeMap;
use std::fmt;

use krm_yaml::{CommentPosition, File, NodeRef, ScalarType};

use super::catalog::Function;

/// A value by meaning, as Kubernetes reads it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Map(BTreeMap<String, Node>),
    List(Vec<Node>),
    /// The type, and the text; equal numbers have equal texts.
    Scalar(&'static str, String),
}

/// What a function returned.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Whether it failed: by its exit code, or by a result of severity error.
    pub(super) failed: bool,
    /// The resources without the annotations of the orchestrator.
    pub(super) items: Vec<Node>,
    /// The file of each resource, empty without one.
    pub(super) files: Vec<String>,
    pub(super) results: Vec<ResultText>,
    /// The references to setters, by the path of their field.
    pub(super) comments: BTreeMap<String, String>,
}

/// A result of a function.
#[derive(Clone, Debug)]
pub(super) struct ResultText {
    /// The severity and the message.
    pub(super) text: String,
    is_error: bool,
    /// The path of the field, which is not compared.
    pub(super) field: String,
}

/// Annotations that tell the orchestrator where a resource belongs.
const PLACEMENT: [&str; 7] = [
    "config.kubernetes.io/path",
    "config.kubernetes.io/index",
    "config.k8s.io/id",
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/seqindent",
];

impl Outcome {
    /// Reads the output of a function whose input had resources in these files; none if it is not a ResourceList.
    pub(super) fn read(exit_code_is_zero: bool, text: &str, inputs: &[String]) -> Option<Self> {
        let file = File::parse(text.to_owned()).ok()?;
        if file.errors().next().is_some() {
            return None;
        }
        let root = file.document(0)?.root()?;
        let mut comments = BTreeMap::new();
        for comment in file.document(0)?.comments() {
            let owner = comment.owner.filter(|_| comment.position == CommentPosition::Line);
            let Some(owner) = owner.filter(|_| comment.text.contains("kpt-set:")) else { continue };
            let value = owner.value_of_key().unwrap_or(owner);
            if value
                .key()
                .is_some_and(|key| PLACEMENT.contains(&&*key.as_str().unwrap_or_default()))
            {
                continue;
            }
            // A folded comment is as good as one with a space more.
            let text = comment.text.trim_start_matches(['#', ' ']).trim_end().to_owned();
            comments.insert(path_of(value), text);
        }
        let Node::Map(mut list) = node_of(root) else { return None };
        let items = match list.remove("items") {
            Some(Node::List(items)) => items,
            _ => Vec::new(),
        };
        let files = items.iter().map(|it| file_of(it, inputs)).collect();
        let items = items.into_iter().map(without_placement).collect();
        let results = results(list.remove("results"));
        let has_error = results.iter().any(|it| it.is_error);
        Some(Self { failed: !exit_code_is_zero || has_error, items, files, results, comments })
    }

    /// The outcome of a function that printed nothing.
    pub(super) fn failure() -> Self {
        Self {
            failed: true,
            items: Vec::new(),
            files: Vec::new(),
            results: Vec::new(),
            comments: BTreeMap::new(),
        }
    }

    /// Puts the resources of both outcomes in the same order.
    ///
    /// Compat: functions of Go's SDK return the resources in another order, and some drop or change their files. What pairs them is the
    /// first property that has the same values on both sides: file and kind, kind and name, or kind. Otherwise the order counts.
    pub(super) fn align(&mut self, other: &mut Self) {
        let properties: [fn(&Node, &str) -> [String; 3]; 3] = [
            |item, file| [file.to_owned(), text_at(item, &["kind"]), String::new()],
            |item, _| {
                let [namespace, name] =
                    ["namespace", "name"].map(|key| text_at(item, &["metadata", key]));
                [text_at(item, &["apiVersion"]) + &text_at(item, &["kind"]), name, namespace]
            },
            |item, _| [text_at(item, &["kind"]), String::new(), String::new()],
        ];
        let values = |outcome: &Self, property: fn(&Node, &str) -> [String; 3]| {
            let both = outcome.items.iter().zip(&outcome.files);
            let mut values: Vec<_> = both.map(|(item, file)| property(item, file)).collect();
            values.sort();
            values
        };
        let same = properties.into_iter().find(|it| values(self, *it) == values(other, *it));
        let Some(property) = same else { return };
        for outcome in [self, other] {
            let items = std::mem::take(&mut outcome.items);
            let mut both: Vec<(Node, String)> =
                items.into_iter().zip(std::mem::take(&mut outcome.files)).collect();
            // New resources may have no file, and are identified by their name.
            both.sort_by_cached_key(|(item, file)| {
                (property(item, file), text_at(item, &["metadata", "name"]))
            });
            (outcome.items, outcome.files) = both.into_iter().unzip();
        }
    }
}

fn text_at(item: &Node, keys: &[&str]) -> String {
    item.get(keys).and_then(Node::text).unwrap_or_default().to_owned()
}

/// The file of a resource.
///
/// Compat: older functions know only one of the two annotations. The orchestrator takes the one that the function changed.
fn file_of(item: &Node, inputs: &[String]) -> String {
    let annotation = |key: &str| text_at(item, &["metadata", "annotations", key]);
    let (legacy, current) = (annotation(PLACEMENT[0]), annotation(PLACEMENT[3]));
    let is_changed = !legacy.is_empty() && !inputs.contains(&legacy);
    if current.is_empty() || is_changed { legacy } else { current }
}

fn path_of(node: NodeRef<'_>) -> String {
    node.path().to_string()
}

/// Compat: older functions return one result with `items`, and results without a severity.
fn results(node: Option<Node>) -> Vec<ResultText> {
    let list = match node {
        Some(Node::Map(mut map)) => map.remove("items"),
        other => other,
    };
    let Some(Node::List(list)) = list else { return Vec::new() };
    let result = |node: Node| {
        let text = |keys: &[&str]| node.get(keys).and_then(Node::text);
        // Compat: the SDK for TypeScript calls a warning `warn`.
        let severity = match text(&["severity"]) {
            Some("warn") => "warning",
            severity => severity.unwrap_or("info"),
        };
        ResultText {
            text: format!("{severity}: {}", text(&["message"]).unwrap_or_default()),
            is_error: severity == "error",
            field: text(&["field", "path"]).unwrap_or_default().to_owned(),
        }
    };
    list.into_iter().map(result).collect()
}

fn without_placement(mut item: Node) -> Node {
    let Node::Map(fields) = &mut item else { return item };
    let Some(Node::Map(metadata)) = fields.get_mut("metadata") else { return item };
    let Some(Node::Map(annotations)) = metadata.get_mut("annotations") else { return item };
    annotations.retain(|key, _| !PLACEMENT.contains(&key.as_str()));
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    item
}

/// The meaning of a node.
pub(super) fn node_of(node: NodeRef<'_>) -> Node {
    let node = node.resolve();
    if let Some(mapping) = node.as_mapping() {
        let key = |key: NodeRef<'_>| match key.resolve().as_scalar() {
            Some(scalar) => scalar.value().into_owned(),
            None => key.text().to_owned(),
        };
        return Node::Map(mapping.entries().map(|it| (key(it.key), node_of(it.value))).collect());
    }
    if let Some(list) = node.as_sequence() {
        return Node::List(list.items().map(node_of).collect());
    }
    let Some(scalar) = node.as_scalar() else {
        return Node::Scalar("alias", node.text().to_owned());
    };
    match scalar.resolve_1_1() {
        ScalarType::Null => Node::Scalar("null", String::new()),
        ScalarType::Bool(value) => Node::Scalar("bool", value.to_string()),
        ScalarType::Int(Some(value)) => Node::Scalar("number", value.to_string()),
        ScalarType::Int(None) => Node::Scalar("number", scalar.value().into_owned()),
        ScalarType::Float(value) => Node::Scalar("number", value.to_string()),
        ScalarType::String => Node::Scalar("string", scalar.value().into_owned()),
    }
}

impl Node {
    /// The node at keys; elements of lists have their index as key.
    pub(super) fn get(&self, keys: &[&str]) -> Option<&Self> {
        let Some((first, rest)) = keys.split_first() else { return Some(self) };
        match self {
            Self::Map(map) => map.get(*first)?.get(rest),
            Self::List(list) => list.get(first.parse::<usize>().ok()?)?.get(rest),
            Self::Scalar(..) => None,
        }
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Scalar(_, text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_type(&self, name: &str) -> bool {
        matches!(self, Self::Scalar(kind, _) if *kind == name)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(kind, text) => write!(f, "{kind} {text:?}"),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Self::Map(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                write!(f, "{{{}}}", entries.join(", "))
            }
        }
    }
}

/// One difference between the outputs for the same input.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    pub(super) part: Part,
    /// The keys and indices in the resource; for a comment or a result, the path of the field as text.
    pub(super) path: Vec<String>,
    pub(super) ours: Option<Node>,
    pub(super) theirs: Option<Node>,
}

/// Which part of the output differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    /// One of the two fails. The path is `krm` or `original`, whichever fails.
    Failure,
    /// The number of resources.
    Count,
    /// A field of the resource at this position.
    Item(usize),
    /// The file of the resource at this position.
    File(usize),
    /// A comment with a reference to a setter.
    Comment,
    /// A result, compared only if everything else is equal.
    Result,
}

impl Difference {
    /// Both values, for messages.
    pub(super) fn values(&self) -> String {
        let text = |node: &Option<Node>| match node {
            Some(node) => node.to_string(),
            None => "nothing".to_owned(),
        };
        format!("krm has {}, the original {}", text(&self.ours), text(&self.theirs))
    }

    /// The path with dots, without the indices of lists.
    pub(super) fn shape(&self) -> String {
        if self.part == Part::Result {
            return "result".to_owned();
        }
        let parts = self.path.iter().map(|it| match it.parse::<usize>() {
            Ok(_) if self.part != Part::Comment => "[]",
            _ => it.as_str(),
        });
        let part = match self.part {
            Part::Item(_) => "item",
            Part::File(_) => "file",
            Part::Failure => "failure of",
            Part::Count => "number of items",
            Part::Comment => "comment",
            Part::Result => unreachable!("results have no path"),
        };
        format!("{part} {}", parts.collect::<Vec<_>>().join("."))
    }
}

/// All differences between two outputs.
pub(super) fn differences(
    ours: &Outcome,
    theirs: &Outcome,
    function: &Function,
) -> Vec<Difference> {
    let with_comments = function.compares_comments;
    let mut found = Vec::new();
    let simple = |part, path: &str| Difference {
        part,
        path: vec![path.to_owned()],
        ours: None,
        theirs: None,
    };
    if ours.failed != theirs.failed {
        return vec![simple(Part::Failure, if ours.failed { "krm" } else { "original" })];
    }
    // What a failed function leaves behind is not used.
    if !ours.failed {
        if ours.items.len() != theirs.items.len() {
            return vec![simple(Part::Count, "")];
        }
        for (at, (a, b)) in ours.items.iter().zip(&theirs.items).enumerate() {
            compare(Some(a), Some(b), &mut Vec::new(), &mut |path, a, b| {
                let (ours, theirs) = (a.cloned(), b.cloned());
                found.push(Difference { part: Part::Item(at), path: path.to_vec(), ours, theirs });
            });
            let (our_file, their_file) = (&ours.files[at], &theirs.files[at]);
            if function.compares_files && our_file != their_file {
                let node = |file: &String| Some(Node::Scalar("file", file.clone()));
                found.push(Difference {
                    part: Part::File(at),
                    path: Vec::new(),
                    ours: node(our_file),
                    theirs: node(their_file),
                });
            }
        }
    }
    if with_comments && !ours.failed {
        let paths = ours
            .comments
            .keys()
            .chain(theirs.comments.keys().filter(|it| !ours.comments.contains_key(*it)));
        for path in paths {
            let comment = |outcome: &Outcome| {
                outcome.comments.get(path).map(|it| Node::Scalar("comment", it.clone()))
            };
            let (ours, theirs) = (comment(ours), comment(theirs));
            if ours != theirs {
                found.push(Difference {
                    part: Part::Comment,
                    path: vec![path.clone()],
                    ours,
                    theirs,
                });
            }
        }
    }
    // Results repeat what differs above.
    if found.is_empty() && (!ours.failed || function.is_validator) {
        let (mut extra, mut missing) = (Vec::new(), theirs.results.clone());
        for result in &ours.results {
            match missing.iter().position(|it| it.text == result.text) {
                Some(at) => _ = missing.remove(at),
                None => extra.push(result),
            }
        }
        let node = |it: &ResultText| Some(Node::Scalar("result", it.text.clone()));
        let difference = |it: &ResultText, ours, theirs| Difference {
            part: Part::Result,
            path: vec![it.field.clone()],
            ours,
            theirs,
        };
        found.extend(extra.into_iter().map(|it| difference(it, node(it), None)));
        found.extend(missing.iter().map(|it| difference(it, None, node(it))));
    }
    found
}

type Visit<'a> = &'a mut dyn FnMut(&[String], Option<&Node>, Option<&Node>);

/// Calls a function for each pair of different values, as deep as possible.
fn compare(a: Option<&Node>, b: Option<&Node>, path: &mut Vec<String>, visit: Visit<'_>) {
    match (a, b) {
        (Some(Node::Map(a)), Some(Node::Map(b))) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                path.push(key.clone());
                compare(a.get(key), b.get(key), path, visit);
                path.pop();
            }
        }
        (Some(Node::List(a)), Some(Node::List(b))) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                path.push(at.to_string());
                compare(Some(a), Some(b), path, visit);
                path.pop();
            }
        }
        (a, b) if a == b => {}
        (a, b) => visit(path, a, b),
    }
}
