//! Field patterns of `by-path`: `a.*.c`, `a.**.c`, `a.b[0]`, `a.b[*]` and `a.b[name=x]`.

use krm_sdk::yaml::{NodeRef, Path, Segment};

/// A pattern for the paths of fields.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A key, or with the names beside it a key with dots in it.
    Name(String),
    /// `*`: one key, and an item of the list that it may have.
    Any,
    /// `**`: all that may come between.
    Deep,
    Index(usize),
    AnyIndex,
    /// The item whose field has this value.
    Match(String, String),
}

/// A step of the way to a field.
pub(super) enum Way<'a> {
    Key(String),
    Item(usize, NodeRef<'a>),
}

impl PathPattern {
    /// Reads a pattern; the error says what is wrong with it.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        let mut rest = text;
        loop {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, mut behind) = rest.split_at(end);
            match name {
                "**" => steps.push(Step::Deep),
                "*" => steps.push(Step::Any),
                "" if behind.starts_with('[') => {}
                "" => return Err("a name is missing".to_owned()),
                name => steps.push(Step::Name(name.to_owned())),
            }
            while let Some(inside) = behind.strip_prefix('[') {
                let (index, more) = inside.split_once(']').ok_or("a `[` is never closed")?;
                steps.push(item(index)?);
                behind = more;
            }
            match behind.strip_prefix('.') {
                Some(more) => rest = more,
                None if behind.is_empty() => return Ok(Self { steps }),
                None => return Err(format!("a dot is wanted before `{behind}`")),
            }
        }
    }

    /// The path, where it is plain: names and nothing else.
    pub(super) fn plain(&self) -> Option<Vec<&str>> {
        let name = |step: &'_ Step| match step {
            Step::Name(_) => Some(()),
            _ => None,
        };
        self.steps.iter().map(name).collect::<Option<Vec<()>>>()?;
        Some(self.steps.iter().filter_map(|step| step.name()).collect())
    }

    /// Whether a way fits. Each step of it meets each step of the pattern once.
    pub(super) fn matches(&self, way: &[Way<'_>]) -> bool {
        let width = self.steps.len() + 1;
        let mut fits = vec![false; (way.len() + 1) * width];
        fits[0] = true;
        for (j, step) in self.steps.iter().enumerate() {
            fits[j + 1] = *step == Step::Deep && fits[j];
        }
        for (i, at) in way.iter().enumerate() {
            for j in 0..self.steps.len() {
                let before = |back: usize| fits[i * width + j + 1 - back];
                fits[(i + 1) * width + j + 1] = match (&self.steps[j], at) {
                    (Step::Deep, _) => fits[(i + 1) * width + j] || before(0),
                    (Step::Any, Way::Key(_)) => before(1),
                    // Compat: `*` is a key together with its item.
                    (Step::Any, Way::Item(..)) => before(0) && i > 0,
                    (Step::Name(_), Way::Key(key)) => (1..=j + 1)
                        .any(|back| before(back) && self.is_key(j + 1 - back, j + 1, key)),
                    (Step::Index(index), Way::Item(at, _)) => index == at && before(1),
                    (Step::AnyIndex, Way::Item(..)) => before(1),
                    (Step::Match(key, value), Way::Item(_, item)) => {
                        let field = item.step(&Segment::Key(key.clone()));
                        let scalar = field.and_then(|it| it.resolve().as_scalar());
                        before(1) && scalar.is_some_and(|it| it.is(value))
                    }
                    _ => false,
                };
            }
        }
        fits[fits.len() - 1]
    }

    /// Whether these names are one key.
    fn is_key(&self, from: usize, to: usize, key: &str) -> bool {
        let names: Option<Vec<&str>> = self.steps[from..to].iter().map(Step::name).collect();
        names.is_some_and(|names| names.join(".") == key)
    }
}

impl Step {
    fn name(&self) -> Option<&str> {
        match self {
            Step::Name(name) => Some(name),
            _ => None,
        }
    }
}

fn item(index: &str) -> Result<Step, String> {
    if index == "*" {
        return Ok(Step::AnyIndex);
    }
    if let Some((key, value)) = index.split_once('=') {
        return Ok(Step::Match(key.to_owned(), value.to_owned()));
    }
    let wrong = |_| format!("`[{index}]` is no item: write [0], [*] or [name=value]");
    index.parse().map(Step::Index).map_err(wrong)
}

/// Where a plain path leads in a resource, also one that is not there: keys with dots are taken as they are, and what is below
/// annotations and labels is one key.
pub(super) fn resolve(root: NodeRef<'_>, names: &[&str]) -> Path {
    let mut path = Path::default();
    let (mut node, mut at) = (Some(root), 0);
    while at < names.len() {
        let mapping = node.and_then(|node| node.resolve().as_mapping());
        let there = (at + 1..=names.len()).rev().find_map(|to| {
            let key = names[at..to].join(".");
            Some((to, mapping?.get(&key)?, key))
        });
        let key = match there {
            Some((to, value, key)) => {
                (node, at) = (Some(value), to);
                key
            }
            None => {
                let is_map = at > 1 && names[at - 2] == "metadata";
                let is_map = is_map && matches!(names[at - 1], "annotations" | "labels");
                let to = if is_map { names.len() } else { at + 1 };
                let key = names[at..to].join(".");
                (node, at) = (None, to);
                key
            }
        };
        path.push(Segment::Key(key));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_sdk::yaml::File;

    /// The paths of all scalars that a pattern fits.
    fn found(pattern: &str, text: &str) -> String {
        fn visit<'a>(
            node: NodeRef<'a>,
            way: &mut Vec<Way<'a>>,
            fit: &mut dyn FnMut(NodeRef<'a>, &[Way<'a>]),
        ) {
            for (at, item) in node.as_sequence().into_iter().flat_map(|it| it.items()).enumerate() {
                way.push(Way::Item(at, item));
                visit(item, way, fit);
                way.pop();
            }
            for entry in node.as_mapping().into_iter().flat_map(|it| it.entries()) {
                way.push(Way::Key(entry.key.text().to_owned()));
                visit(entry.value, way, fit);
                way.pop();
            }
            if node.as_scalar().is_some() {
                fit(node, way);
            }
        }
        let pattern = PathPattern::new(pattern).unwrap();
        let file = File::parse(text.to_owned()).unwrap();
        let mut out = Vec::new();
        let root = file.document(0).unwrap().root().unwrap();
        visit(root, &mut Vec::new(), &mut |node, way| {
            out.extend(pattern.matches(way).then(|| node.text().to_owned()));
        });
        out.join(" ")
    }

    #[test]
    fn every_kind_of_step_fits_what_it_should() {
        let text = "a:\n  b: 1\n  c.d/e: 2\n  l:\n  - c: 3\n    n: x\n  - c: 4\n    n: y.z\n  - [5, 6]\n  m:\n    deep:\n    - c: 7\n    c: 8\n";
        for (pattern, expected) in [
            ("a.b", "1"),
            ("a.c.d/e", "2"),
            ("a.*", "1 2 5 6"),
            ("*.b", "1"),
            ("a.l[0].c", "3"),
            ("a.l[*].c", "3 4"),
            ("a.*[1].c", "4"),
            ("a.l[n=y.z].c", "4"),
            ("a.l[2][1]", "6"),
            ("a.l[*][*]", "5 6"),
            ("a.*.c", "3 4 8"),
            ("a.**.c", "3 4 7 8"),
            ("**.c", "3 4 7 8"),
            ("a.l.c", ""),
            ("a.l[9].c", ""),
            ("a", ""),
            ("b", ""),
        ] {
            assert_eq!(found(pattern, text), expected, "{pattern}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        for pattern in ["", "a..b", "a.", ".a", "a[x]", "a[0", "a[0]b"] {
            assert!(PathPattern::new(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_plain_path_finds_keys_with_dots() {
        let file = File::parse("metadata:\n  labels:\n    a.b: 1\nx.y: {}\n".to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        for (path, expected) in [
            ("metadata.labels.a.b", r#"metadata.labels."a.b""#),
            ("metadata.labels.c.d/e", r#"metadata.labels."c.d/e""#),
            ("metadata.annotations.c.d/e", r#"metadata.annotations."c.d/e""#),
            ("x.y.z.a", r#""x.y".z.a"#),
            ("spec.replicas", "spec.replicas"),
        ] {
            let names: Vec<&str> = path.split('.').collect();
            assert_eq!(resolve(root, &names).to_string(), expected, "{path}");
        }
    }
}
