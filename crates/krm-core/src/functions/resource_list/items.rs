//! The resources of a package as items for functions, and the documents that are left out because they are none.

use std::sync::Arc;

use krm_yaml::{File, NodeRef};

use super::{Item, serialize};
use crate::model::resource::{is_resource, resources};
use crate::print::source_text;
use crate::{Diagnostic, Package, PackageFile, PackageResource};

/// So many places are named in one line.
const MOST_NAMED: usize = 5;

/// What a package has for functions.
///
/// ```
/// use krm_core::functions::resource_list::Items;
/// use krm_core::{Package, PackageFile};
///
/// let text = "apiVersion: v1\nkind: Pod\n---\n# no resource\na: 1\n---\napiVersion: v1\nkind: Job\n";
/// let package = Package::new(vec![PackageFile::from_text("a.yaml", text)?]);
/// let taken = Items::from_package(&package, |placed| placed.resource.kind() != "Pod").expect("all can be read");
/// assert_eq!(taken.items.len(), 1);
/// assert_eq!(taken.items[0].text(), "apiVersion: v1\nkind: Job\n");
/// assert_eq!((taken.items[0].index, taken.items[0].origin), (Some(1), Some(1)));
/// assert_eq!(taken.skipped_diagnostic(false).unwrap().message(), "1 document is no resource and is left out: a.yaml:5");
/// # Ok::<(), krm_core::PackagePathError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// The resources that are wanted, in the order of the package. [`Item::origin`] counts all of the package.
    pub items: Vec<Item>,
    /// Documents that are no resources, as people know their places: `a.yaml:5`.
    pub skipped: Vec<String>,
}

impl Items {
    /// The resources of a package that are wanted. A package that cannot be read as a whole has none.
    pub fn from_package(
        package: &Package,
        wanted: impl Fn(PackageResource<'_>) -> bool,
    ) -> Result<Self, Vec<Diagnostic>> {
        let errors = package.errors();
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut taken = Self::default();
        let (mut origin, mut errors) = (0, Vec::new());
        for file in package.files() {
            let added = taken.add(file, &mut origin, &wanted);
            errors.extend(added.err().map(|error| error.in_file(&*file.display_path)));
        }
        if errors.is_empty() { Ok(taken) } else { Err(errors) }
    }

    fn add(
        &mut self,
        file: &PackageFile,
        origin: &mut usize,
        wanted: &impl Fn(PackageResource<'_>) -> bool,
    ) -> Result<(), Diagnostic> {
        let Ok(content) = &file.content else { return Ok(()) };
        let mut index = 0;
        for document in content.documents() {
            let found = resources(document);
            if found.is_empty() {
                self.skipped.extend(place_of_other(document.root(), file));
                continue;
            }
            let all = found.into_iter().enumerate().map(|(at, resource)| {
                (*origin + at, PackageResource { file, index: index + at, resource })
            });
            let all: Vec<(usize, PackageResource<'_>)> = all.collect();
            (*origin, index) = (*origin + all.len(), index + all.len());
            let all: Vec<_> = all.into_iter().filter(|(_, placed)| wanted(*placed)).collect();
            for ((origin, placed), mut item) in all.iter().zip(items(content, &all)?) {
                item.path = Some(file.path.clone());
                (item.index, item.origin) = (Some(placed.index), Some(*origin));
                self.items.push(item);
            }
        }
        Ok(())
    }

    /// One line about what was left out; an error where one must not leave anything out.
    pub fn skipped_diagnostic(&self, is_strict: bool) -> Option<Diagnostic> {
        let named = self.skipped.iter().take(MOST_NAMED).map(String::as_str);
        let named = named.collect::<Vec<_>>().join(", ");
        let message = match self.skipped.len() {
            0 => return None,
            1 => format!("1 document is no resource and is left out: {named}"),
            n if n <= MOST_NAMED => {
                format!("{n} documents are no resources and are left out: {named}")
            }
            n => format!(
                "{n} documents are no resources and are left out: {named} and {} more",
                n - MOST_NAMED
            ),
        };
        Some(match is_strict {
            true => Diagnostic::untyped_error(message)
                .hint("give them `apiVersion` and `kind`, or name the files in .krmignore"),
            false => Diagnostic::untyped_warning(message),
        })
    }
}

/// Where a document stands that is no resource and no list of them; an empty one is nothing.
fn place_of_other(root: Option<NodeRef<'_>>, file: &PackageFile) -> Option<String> {
    let root = root.filter(|it| it.is_collection() || !it.text().is_empty())?;
    (!is_resource(root)).then(|| format!("{}:{}", file.display_path, root.position().line))
}

/// Resources of one document as documents of their own. One that is all of its file shares the text.
fn items(
    content: &Arc<File>,
    placed: &[(usize, PackageResource<'_>)],
) -> Result<Vec<Item>, Diagnostic> {
    let is_whole = |(_, placed): &(usize, PackageResource<'_>)| placed.resource.item.is_none();
    if content.documents().len() == 1
        && placed.iter().all(is_whole)
        && let Ok(item) = Item::from_file(Arc::clone(content))
    {
        return Ok(vec![item; placed.len()]);
    }
    let nodes: Vec<NodeRef<'_>> = placed.iter().map(|(_, placed)| placed.resource.node).collect();
    let texts = source_text::document_texts(&nodes);
    let item = |(text, node): (String, &NodeRef<'_>)| {
        let alone = match node.parent() {
            None => Item::from_document(node.document(), text),
            Some(_) => Item::parse(text),
        };
        // A document that needs its directives is written out.
        let alone = alone
            .or_else(|error| Item::parse(serialize::expanded(*node).map_err(|_| error)?))
            .map_err(|error| cannot_stand_alone(*node, &error))?;
        Ok(alone.with_position_of(*node))
    };
    texts.into_iter().zip(&nodes).map(item).collect()
}

fn cannot_stand_alone(node: NodeRef<'_>, error: &Diagnostic) -> Diagnostic {
    let message = format!("this resource cannot be taken out of its file: {}", error.message());
    Diagnostic::untyped_error(message).at(node.document().file(), node.span())
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
    fn a_resource_that_is_all_of_its_file_shares_the_text() {
        let package = package(&[("a.yaml", "---\n# head\napiVersion: v1\nkind: Pod\n")]);
        let taken = Items::from_package(&package, |_| true).unwrap();
        let content = package.files()[0].file().unwrap();
        assert!(std::ptr::eq(taken.items[0].file(), content));
        assert_eq!(taken.skipped, [""; 0]);
    }

    #[test]
    fn the_end_of_a_text_stays_what_it_means() {
        let pod = "apiVersion: v1\nkind: Pod\nx: |\n  a\n";
        assert_eq!(texts(&format!("{pod}---\n{}", pod.trim_end())), [pod, pod.trim_end()]);
        let kept = "apiVersion: v1\nkind: Pod\nx: |+\n  a\n\n";
        assert_eq!(texts(&format!("{kept}---\n{kept}")), [kept, kept]);
    }

    #[test]
    fn items_of_lists_come_with_the_comments_above_them() {
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
    fn items_know_the_lines_of_their_file() {
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
    fn a_resource_that_cannot_stand_alone_is_an_error() {
        let mut text = "x: &a0 [1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
        for level in 1..12 {
            let all = vec![format!("*a{}", level - 1); 8].join(", ");
            text += &format!("x{level}: &a{level} [{all}]\n");
        }
        text += "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n  bomb: *a11\n- apiVersion: v1\n  kind: B\n";
        let errors = Items::from_package(&package(&[("a.yaml", &text)]), |_| true).unwrap_err();
        let words = "this resource cannot be taken out of its file: ";
        assert!(errors[0].message().starts_with(words), "{}", errors[0].message());
        assert_eq!(errors[0].location.as_ref().unwrap().line, 16);
    }

    #[test]
    fn what_is_left_out_is_said_in_one_line() {
        let all = ["a: 1\n"; 7].join("---\n");
        let package =
            package(&[("a.yaml", &all), ("b.yaml", "# words\n"), ("c.yaml", "kind: List\n")]);
        let taken = Items::from_package(&package, |_| true).unwrap();
        let words = taken.skipped_diagnostic(true).unwrap();
        assert_eq!(
            words.message(),
            "8 documents are no resources and are left out: a.yaml:1, a.yaml:3, a.yaml:5, a.yaml:7, a.yaml:9 and 3 more"
        );
        assert_eq!(words.severity, crate::Severity::Error);
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        assert!(Items::from_package(&package(&[("a.yaml", "[\n")]), |_| true).is_err());
    }
}
