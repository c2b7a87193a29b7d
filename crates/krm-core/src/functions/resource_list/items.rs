//! The resources of a package as items, and the documents that are skipped because they are not resources.

use std::sync::{Arc, Mutex, PoisonError};

use krm_yaml::{File, NodeRef};

use super::{Item, ResourceListKind, serialize};
use crate::model::resource::{is_resource, is_written, resources};
use crate::print::source_text;
use crate::{Diagnostic, Package, PackageFile, PackageResource};

/// How many documents a diagnostic names.
const MAX_NAMED: usize = 5;

/// The resources of a package that a function gets.
///
/// ```
/// use krm_core::functions::resource_list::Items;
/// use krm_core::{Package, PackageFile};
///
/// let text = "apiVersion: v1\nkind: Pod\n---\n# no resource\na: 1\n---\napiVersion: v1\nkind: Job\n";
/// let package = Package::new(vec![PackageFile::from_text("a.yaml", text)?]);
/// let taken = Items::from_package(&package, |resource| resource.resource.kind() != "Pod").expect("the package is valid");
/// assert_eq!(taken.items.len(), 1);
/// assert_eq!(taken.items[0].text(), "apiVersion: v1\nkind: Job\n");
/// assert_eq!((taken.items[0].index, taken.items[0].origin), (Some(1), Some(1)));
/// assert_eq!(taken.skipped_diagnostic(false).unwrap().message(), "skipped 1 document that is not a resource: a.yaml:5");
/// # Ok::<(), krm_core::PackagePathError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// The selected resources, in the order of the package. [`Item::origin`] counts all resources of the package.
    pub items: Vec<Item>,
    /// Where the documents are that are not resources: `a.yaml:5`.
    pub skipped: Vec<String>,
}

impl Items {
    /// Takes the resources for which `select` is true. Fails if a file of the package cannot be read.
    pub fn from_package(
        package: &Package,
        select: impl Fn(PackageResource<'_>) -> bool,
    ) -> Result<Self, Vec<Diagnostic>> {
        let errors = package.errors();
        if !errors.is_empty() {
            return Err(errors);
        }
        Self::of_files(package.files().iter().map(|file| FileItems::of(file, &select)), 0)
    }

    /// Takes all resources, and releases the node tables of the package ([`Package::release_tables`]). Those of a file are released as soon
    /// as its items have their own, so that a large package never has two tables of every document.
    ///
    /// `for_each` computes the items of each of this many files, in order, and may do so in parallel.
    pub fn take_from(
        package: &mut Package,
        for_each: impl FnOnce(usize, &(dyn Fn(usize) -> FileItems + Sync)) -> Vec<FileItems>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let errors = package.errors();
        if !errors.is_empty() {
            return Err(errors);
        }
        let files: Vec<Mutex<&mut PackageFile>> =
            package.files_mut().iter_mut().map(Mutex::new).collect();
        let taken = for_each(files.len(), &|at| {
            let mut file = files[at].lock().unwrap_or_else(PoisonError::into_inner);
            let items = FileItems::of(&file, &|_| true);
            file.release_tables();
            items
        });
        let count = taken.iter().map(|file| file.items.len()).sum();
        Self::of_files(taken.into_iter(), count)
    }

    /// The items of files, of which there are about `count`.
    fn of_files(
        files: impl Iterator<Item = FileItems>,
        count: usize,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut taken = Self { items: Vec::with_capacity(count), skipped: Vec::new() };
        let (mut before, mut errors) = (0, Vec::new());
        for file in files {
            taken.items.extend(file.items.into_iter().map(|mut item| {
                item.origin = item.index.map(|index| before + index);
                item
            }));
            before += file.resources;
            taken.skipped.extend(file.skipped);
            errors.extend(file.error);
        }
        if errors.is_empty() { Ok(taken) } else { Err(errors) }
    }

    /// A diagnostic about the documents that were skipped: an error if `is_strict`, and a warning otherwise.
    pub fn skipped_diagnostic(&self, is_strict: bool) -> Option<Diagnostic> {
        let count = self.skipped.len();
        let named = self.skipped.iter().take(MAX_NAMED).map(String::as_str);
        let mut places = named.collect::<Vec<_>>().join(", ");
        match count {
            0 => return None,
            count if count > MAX_NAMED => {
                places.push_str(&format!(" and {} more", count - MAX_NAMED));
            }
            _ => {}
        }
        let kind = ResourceListKind::SkippedDocuments { count, places };
        Some(match is_strict {
            true => Diagnostic::error(kind)
                .hint("add `apiVersion` and `kind`, or list the files in .krmignore"),
            false => Diagnostic::warning(kind),
        })
    }
}

/// The items of one file, which do not have their origin yet.
#[derive(Debug, Default)]
pub struct FileItems {
    items: Vec<Item>,
    /// The number of resources in the file, selected or not.
    resources: usize,
    skipped: Vec<String>,
    error: Option<Diagnostic>,
}

impl FileItems {
    fn of(file: &PackageFile, select: &impl Fn(PackageResource<'_>) -> bool) -> Self {
        let mut taken = Self::default();
        let added = taken.add(file, select);
        taken.error = added.err().map(|error| error.in_file(&*file.display_path));
        taken
    }

    fn add(
        &mut self,
        file: &PackageFile,
        select: &impl Fn(PackageResource<'_>) -> bool,
    ) -> Result<(), Diagnostic> {
        let Ok(content) = &file.content else { return Ok(()) };
        self.items.reserve_exact(content.documents().len());
        let mut lines = LinesAbove::default();
        for document in content.documents() {
            let found = resources(document);
            if found.is_empty() {
                self.skipped.extend(skipped_document(document.root(), file));
                continue;
            }
            let first = self.resources;
            self.resources += found.len();
            let all = found.into_iter().enumerate();
            let all =
                all.map(|(at, resource)| PackageResource { file, index: first + at, resource });
            let all: Vec<PackageResource<'_>> = all.filter(|resource| select(*resource)).collect();
            let taken = items(content, &all, &mut lines)?;
            for (resource, mut item) in all.iter().zip(taken) {
                item.path = Some(file.path.clone());
                item.index = Some(resource.index);
                self.items.push(item);
            }
        }
        Ok(())
    }
}

/// The place of a document that is neither a resource nor a list of resources; none for an empty one.
fn skipped_document(root: Option<NodeRef<'_>>, file: &PackageFile) -> Option<String> {
    let root = root.filter(|it| is_written(*it))?;
    (!is_resource(root)).then(|| format!("{}:{}", file.display_path, root.position().line))
}

/// The number of lines above a document. Documents are asked for in order, so that each line is counted once.
#[derive(Default)]
struct LinesAbove {
    at: usize,
    lines: u32,
}

impl LinesAbove {
    fn of(&mut self, text: &str, at: u32) -> u32 {
        let between = text.get(self.at..at as usize).unwrap_or_default().as_bytes();
        self.lines += count(between, b'\n');
        // A lone carriage return is a line break, too.
        if between.contains(&b'\r') {
            let returns = count(between, b'\r');
            let pairs = between.windows(2).filter(|it| *it == b"\r\n").count() as u32;
            self.lines += returns - pairs;
        }
        self.at = at as usize;
        self.lines
    }
}

/// How often a byte occurs, eight bytes at a time: most bytes of a package are counted.
fn count(bytes: &[u8], byte: u8) -> u32 {
    const LOW: u64 = u64::MAX / 255;
    let pattern = LOW * u64::from(byte);
    let (words, rest) = bytes.as_chunks::<8>();
    let mut total = rest.iter().filter(|it| **it == byte).count() as u32;
    // The counts of each of eight positions, which are bytes themselves.
    for words in words.chunks(255) {
        let mut counts = 0;
        for word in words {
            let differences = u64::from_ne_bytes(*word) ^ pattern;
            // The highest bit of each byte that differs. No sum carries into the next byte.
            let others = ((differences & (LOW * 0x7f)) + LOW * 0x7f) | differences;
            counts += (!others >> 7) & LOW;
        }
        total += counts.to_ne_bytes().into_iter().map(u32::from).sum::<u32>();
    }
    total
}

/// The resources of one document as items. One that is a whole document shares the text of its file.
fn items(
    content: &Arc<File>,
    resource: &[PackageResource<'_>],
    lines: &mut LinesAbove,
) -> Result<Vec<Item>, Diagnostic> {
    let is_whole = |resource: &PackageResource<'_>| resource.resource.item.is_none();
    if content.documents().len() == 1
        && resource.iter().all(is_whole)
        && let Ok(item) = Item::from_file(Arc::clone(content))
    {
        return Ok(vec![item; resource.len()]);
    }
    let nodes: Vec<NodeRef<'_>> = resource.iter().map(|resource| resource.resource.node).collect();
    if let [root] = nodes[..]
        && root.parent().is_none()
    {
        let above = lines.of(content.text(), source_text::content_span(root.document()).start);
        if let Some(item) = Item::from_document(root.document(), above) {
            return Ok(vec![item]);
        }
    }
    let texts = source_text::document_texts(&nodes);
    let item = |(text, node): (String, &NodeRef<'_>)| {
        // A document that needs its directives is expanded.
        let alone = Item::parse(text)
            .or_else(|error| Item::parse(serialize::expanded(*node).map_err(|_| error)?))
            .map_err(|error| cannot_extract(*node, &error))?;
        Ok(alone.with_position_of(*node))
    };
    texts.into_iter().zip(&nodes).map(item).collect()
}

fn cannot_extract(node: NodeRef<'_>, error: &Diagnostic) -> Diagnostic {
    let kind = ResourceListKind::CannotExtract { reason: error.message().to_owned() };
    Diagnostic::error(kind).at(node.document().file(), node.span())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;

    fn texts(text: &str) -> Vec<String> {
        let package = package(&[("a.yaml", text)]);
        let taken = Items::from_package(&package, |_| true).unwrap();
        taken.items.iter().map(|item| item.text().to_owned()).collect()
    }

    #[test]
    fn items_that_are_taken_are_those_of_the_package() {
        let pod = "# head\napiVersion: v1\nkind: Pod\n";
        let two = format!("{pod}---\na: 1\n---\napiVersion: v1\nkind: Job\n");
        let mut package = package(&[("a.yaml", pod), ("b.yaml", &two)]);
        let same = Items::from_package(&package, |_| true).unwrap();
        let taken = Items::take_from(&mut package, |count, work| {
            (0..count).rev().map(work).rev().collect()
        })
        .unwrap();
        let of = |items: &Items| -> Vec<_> {
            let all = items.items.iter();
            all.map(|it| (it.text().to_owned(), it.path.clone(), it.index, it.origin)).collect()
        };
        assert_eq!((of(&taken), &taken.skipped), (of(&same), &same.skipped));
        assert_eq!(taken.items[1].root().position().line, 2);
        // The package is parsed again on request, and its items share its texts.
        assert_eq!(package.resources().count(), 3);
        let text = package.files()[1].file().unwrap().shared_text();
        assert!(taken.items[2].file().shared_text().span_in(text).is_some());
    }

    #[test]
    fn resource_that_is_the_whole_file_shares_the_text() {
        let package = package(&[("a.yaml", "---\n# head\napiVersion: v1\nkind: Pod\n")]);
        let taken = Items::from_package(&package, |_| true).unwrap();
        let content = package.files()[0].file().unwrap();
        assert!(std::ptr::eq(taken.items[0].file(), content));
        assert_eq!(taken.skipped, [""; 0]);
    }

    #[test]
    fn bytes_are_counted_at_any_offset() {
        let bytes: Vec<u8> = (0..=255).chain("\n\u{8a}\n\n\u{1}\n".bytes()).collect();
        for start in 0..bytes.len() {
            for byte in [b'\n', b'\r', 0, 0x8a, 0xff] {
                let expected = bytes[start..].iter().filter(|it| **it == byte).count();
                assert_eq!(count(&bytes[start..], byte) as usize, expected);
            }
        }
    }

    #[test]
    fn final_block_scalar_keeps_its_meaning() {
        let pod = "apiVersion: v1\nkind: Pod\nx: |\n  a\n";
        assert_eq!(texts(&format!("{pod}---\n{}", pod.trim_end())), [pod, pod.trim_end()]);
        let kept = "apiVersion: v1\nkind: Pod\nx: |+\n  a\n\n";
        assert_eq!(texts(&format!("{kept}---\n{kept}")), [kept, kept]);
    }

    #[test]
    fn list_items_keep_the_comments_above_them() {
        let list = "apiVersion: v1\nkind: List\nitems:\n# one\n- apiVersion: v1\n  kind: A # a\n- {apiVersion: v1, kind: B}\n- x\n";
        assert_eq!(
            texts(list),
            ["# one\napiVersion: v1\nkind: A # a\n", "{apiVersion: v1, kind: B}\n"]
        );
        let bare =
            "- apiVersion: v1\n  kind: A\n  x: &x [1]\n- apiVersion: v1\n  kind: B\n  x: *x\n";
        assert_eq!(
            texts(bare),
            ["apiVersion: v1\nkind: A\nx: &x [1]\n", "apiVersion: v1\nkind: B\nx:\n- 1\n"]
        );
    }

    #[test]
    fn items_have_the_line_numbers_of_their_file() {
        let text = "apiVersion: v1\nkind: A\n---\n# b\n\napiVersion: v1\nkind: B\n---\napiVersion: v1\nkind: List\nitems:\n  # c\n  - apiVersion: v1\n    kind: C\n";
        let package = package(&[("a.yaml", text)]);
        let places = |item: &Item| {
            let at = item.root().as_mapping().unwrap().get("kind").unwrap().position();
            (at.line, at.column)
        };
        let items = Items::from_package(&package, |_| true).unwrap().items;
        assert_eq!(items.iter().map(places).collect::<Vec<_>>(), [(2, 7), (7, 7), (14, 11)]);
        let changed = items[2].with_text(format!("{}x: y\n", items[2].text())).unwrap();
        assert_eq!(places(&changed), (14, 11));
    }

    #[test]
    fn resource_whose_aliases_expand_too_far_is_an_error() {
        let mut text = "x: &a0 [1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
        for level in 1..12 {
            let all = vec![format!("*a{}", level - 1); 8].join(", ");
            text += &format!("x{level}: &a{level} [{all}]\n");
        }
        text += "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n  bomb: *a11\n- apiVersion: v1\n  kind: B\n";
        let errors = Items::from_package(&package(&[("a.yaml", &text)]), |_| true).unwrap_err();
        let kind = errors[0].kind::<ResourceListKind>();
        assert!(matches!(kind, Some(ResourceListKind::CannotExtract { .. })), "{kind:?}");
        assert_eq!(errors[0].location.as_ref().unwrap().line, 16);
    }

    #[test]
    fn skipped_documents_are_one_diagnostic() {
        let all = ["a: 1\n"; 7].join("---\n");
        let package =
            package(&[("a.yaml", &all), ("b.yaml", "# comment\n"), ("c.yaml", "kind: List\n")]);
        let taken = Items::from_package(&package, |_| true).unwrap();
        let diagnostic = taken.skipped_diagnostic(true).unwrap();
        assert_eq!(
            diagnostic.message(),
            "skipped 8 documents that are not resources: a.yaml:1, a.yaml:3, a.yaml:5, a.yaml:7, a.yaml:9 and 3 more"
        );
        assert_eq!(diagnostic.severity, crate::Severity::Error);
    }

    #[test]
    fn invalid_package_is_an_error() {
        assert!(Items::from_package(&package(&[("a.yaml", "[\n")]), |_| true).is_err());
    }
}
