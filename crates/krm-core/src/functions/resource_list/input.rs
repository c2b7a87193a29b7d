//! The input of a function: one `ResourceList`, in which each item has its path, its index and an id in its annotations.

use std::borrow::Cow;
use std::ops::Range;

use super::annotations::{ID, INDEX, INTERNAL, LEGACY_INDEX, LEGACY_PATH, PATH};
use super::{Item, ResourceListKind, Version, item_text};
use crate::print::list_wrapper;
use crate::{Diagnostic, PackagePath};

/// How an [`InputList`] is made.
#[derive(Clone, Debug, Default)]
pub struct InputOptions<'a> {
    /// The version of the list.
    pub version: Version,
    /// The directory of the package that declares the function; empty for the root. Paths are sent relative to it, and a function
    /// cannot write outside of it.
    pub directory: &'a str,
    /// The functionConfig.
    pub function_config: Option<&'a Item>,
    /// Whether items are sent without ids, because the reader of the output does not know this list.
    pub without_ids: bool,
}

/// An item of an [`InputList`].
#[derive(Clone, Debug)]
pub(crate) struct InputItem<'a> {
    /// The item.
    pub(crate) item: Cow<'a, Item>,
    /// Its file, relative to the package that declares the function.
    pub(crate) path: Option<PackagePath>,
    /// Its other internal annotations, which the function must not change.
    pub(crate) internal: Vec<(String, String)>,
    /// The bytes of the item in the text of the list.
    pub(super) lines: Range<usize>,
}

impl InputItem<'_> {
    /// The item, to be changed by `change`. Of a list without node tables, neither the item nor the new one gets any.
    pub(super) fn changed<E>(
        &self,
        change: impl FnOnce(&Item) -> Result<Item, E>,
    ) -> Result<Item, E> {
        match &self.item {
            Cow::Borrowed(item) => change(item),
            Cow::Owned(item) => change(&item.unparsed()).map(|new| new.unparsed()),
        }
    }
}

/// The ResourceList that a function gets on standard input.
///
/// ```
/// use krm_core::functions::resource_list::{Item, InputOptions, InputList};
///
/// let pod = Item::parse("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec: {x: 1} # why\n".to_owned())?;
/// let items = [pod];
/// let input = InputList::of(&items, &InputOptions::default())?;
/// let output = input.text().replace("{x: 1} # why", "\n    x: 2");
/// let answer = input.apply_output(output).map_err(|refused| refused.error)?;
/// assert!(answer.items[0].text().ends_with("\nspec: {x: 2} # why\n"));
/// # Ok::<(), krm_core::Diagnostic>(())
/// ```
#[derive(Clone, Debug)]
pub struct InputList<'a> {
    text: String,
    pub(super) sent: Vec<InputItem<'a>>,
    pub(super) directory: String,
    without_ids: bool,
    /// Whether every item has its path and index in the annotations of older functions, too.
    has_legacy: bool,
}

impl<'a> InputList<'a> {
    /// Makes the list of these items, in this order.
    pub fn of(
        items: impl IntoIterator<Item = &'a Item>,
        options: &InputOptions<'_>,
    ) -> Result<Self, Diagnostic> {
        Self::new(items.into_iter().map(Cow::Borrowed).collect(), options)
    }

    /// The list of items that nobody else needs. It keeps them without node tables ([`Item::unparsed`]), and drops the table of each as
    /// soon as its text is written: so a large package never has all tables and the text of the list in memory, and items that the
    /// function does not change are never parsed again.
    pub fn of_owned(
        items: Vec<Item>,
        options: &InputOptions<'_>,
    ) -> Result<InputList<'static>, Diagnostic> {
        InputList::new(items.into_iter().map(Cow::Owned).collect(), options)
    }

    fn new(items: Vec<Cow<'a, Item>>, options: &InputOptions<'_>) -> Result<Self, Diagnostic> {
        let directory = options.directory.trim_matches('/').to_owned();
        let head = format!("apiVersion: {}\nkind: ResourceList\n", options.version.api_version());
        let without_ids = options.without_ids;
        // Compat: functions from before version 1 read only the older annotations, whatever version they accept, so kpt sends both.
        // In a pipe krm does not see which of the two a function changed, so only older versions of the list have both there.
        let newest = if without_ids { Version::V1Beta1 } else { Version::V1 };
        let has_legacy = options.version <= newest;
        let mut input = Self { text: head, sent: Vec::new(), directory, without_ids, has_legacy };
        input.text.push_str("items:\n");
        input.sent.reserve_exact(items.len());
        // More than enough for most, because growing would copy the list: a large one would be in memory twice. What is not used is never
        // touched, so it takes no memory.
        input.text.reserve(items.iter().map(|it| it.text().len() / 2 * 3 + 512).sum());
        for item in items {
            input.push(item)?;
        }
        if input.sent.is_empty() {
            input.text.pop();
            input.text.push_str(" []\n");
        }
        if let Some(config) = options.function_config {
            input.text.push_str("functionConfig:\n");
            let lines = item_text::plain(config);
            lines
                .split_inclusive('\n')
                .for_each(|line| list_wrapper::indented(line, &mut input.text));
        }
        debug_assert!(input.is_valid(), "{}", input.text);
        Ok(input)
    }

    fn push(&mut self, item: Cow<'a, Item>) -> Result<(), Diagnostic> {
        let path = item.path.as_ref().map(|path| self.package_path(path)).transpose()?;
        let own: Vec<(String, String)> = item_text::own(item.root()).collect();
        let mut annotations = Vec::with_capacity(3);
        let place = [
            (PATH, LEGACY_PATH, path.as_ref().map(PackagePath::to_string)),
            (INDEX, LEGACY_INDEX, item.index.filter(|_| path.is_some()).map(|it| it.to_string())),
        ];
        annotations.extend(place.iter().filter_map(|(name, _, it)| Some((*name, it.clone()?))));
        if !self.without_ids {
            annotations.push((ID, self.sent.len().to_string()));
        }
        // Compat: a resource that has the older annotations gets its path and index in those, too.
        let has = |name: &str| own.iter().any(|(it, _)| it == name);
        let legacy = place.into_iter().filter(|(_, legacy, _)| self.has_legacy || has(legacy));
        annotations.extend(legacy.filter_map(|(_, legacy, value)| Some((legacy, value?))));
        let start = self.text.len();
        let text = match annotations.is_empty() {
            true => item_text::plain(&item),
            false => item_text::text(&item, &annotations)?,
        };
        match self.without_ids {
            true => list_wrapper::item(&without_blank_lines_in_head(&text), &mut self.text),
            false => list_wrapper::item(&text, &mut self.text),
        }
        let lines = start..self.text.len();
        let is_other =
            |name: &str| name.starts_with(INTERNAL) && ![PATH, INDEX, ID].contains(&name);
        let internal = own.into_iter().filter(|(name, _)| is_other(name)).collect();
        let item = match item {
            Cow::Borrowed(item) => Cow::Borrowed(item),
            Cow::Owned(item) => Cow::Owned(item.unparsed()),
        };
        self.sent.push(InputItem { item, path, internal, lines });
        Ok(())
    }

    /// A path relative to the package that declares the function.
    fn package_path(&self, path: &PackagePath) -> Result<PackagePath, Diagnostic> {
        path.relative_to(&self.directory).ok_or_else(|| {
            let (path, package) = (path.to_string(), self.directory.clone());
            Diagnostic::error(ResourceListKind::NotInPackage { path, package })
        })
    }

    /// The text of the list.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.sent.len()
    }

    /// Whether the list has no items.
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// Whether the list parses and has every item.
    fn is_valid(&self) -> bool {
        let Ok(file) = krm_yaml::File::parse(self.text.clone()) else { return false };
        let items = file.document(0).and_then(|it| it.root()?.as_mapping()?.get("items"));
        let items = items.into_iter().flat_map(|items| items.children());
        items.count() == self.sent.len() && file.errors().next().is_none()
    }
}

/// The text without blank lines among the comments at its head. In a list, a comment above a blank line belongs to no item, so a
/// reader that does not know the original would lose it.
fn without_blank_lines_in_head(text: &str) -> Cow<'_, str> {
    let is_head = |line: &&str| line.starts_with('#') || line.trim().is_empty();
    let head: usize = text.split_inclusive('\n').take_while(is_head).map(str::len).sum();
    let (head, rest) = text.split_at(head);
    let comments: String = head.split_inclusive('\n').filter(|it| it.starts_with('#')).collect();
    match comments.is_empty() || comments == head {
        true => Cow::Borrowed(text),
        false => Cow::Owned(comments + rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::resource_list::Items;
    use crate::model::package::tests::package;

    fn sent(text: &str) -> String {
        let package = package(&[("a/b.yaml", text)]);
        let taken = Items::from_package(&package, |_| true).unwrap();
        let config = Item::parse("# c\nkind: ConfigMap\ndata: {a: b}\n".to_owned()).unwrap();
        let options = InputOptions {
            directory: "a",
            function_config: Some(&config),
            ..InputOptions::default()
        };
        InputList::of(&taken.items, &options).unwrap().text().to_owned()
    }

    #[test]
    fn items_are_sent_with_their_comments_and_paths() {
        let text = "# head\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a # it\n---\nkind: None\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: b, annotations: {x: y}}\n";
        let wanted = "apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
# head
- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      internal.config.kubernetes.io/path: b.yaml
      internal.config.kubernetes.io/index: \"0\"
      internal.config.kubernetes.io/krm-id: \"0\"
      config.kubernetes.io/path: b.yaml
      config.kubernetes.io/index: \"0\"
    name: a # it
- apiVersion: v1
  kind: Pod
  metadata: {name: b, annotations: {x: y, internal.config.kubernetes.io/path: b.yaml, internal.config.kubernetes.io/index: \"1\", internal.config.kubernetes.io/krm-id: \"1\", config.kubernetes.io/path: b.yaml, config.kubernetes.io/index: \"1\"}}
functionConfig:
  # c
  kind: ConfigMap
  data: {a: b}
";
        assert_eq!(sent(text), wanted);
    }

    #[test]
    fn legacy_annotations_are_sent_to_older_functions() {
        let old = "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    config.kubernetes.io/path: old.yaml\n";
        let list = |text: &str, version: Version, without_ids: bool| {
            let mut item = Item::parse(text.to_owned()).unwrap();
            (item.path, item.index) = (PackagePath::new("b.yaml").ok(), Some(0));
            let options = InputOptions { version, without_ids, ..InputOptions::default() };
            InputList::of([&item], &options).unwrap().text().to_owned()
        };
        let has = |list: &str| {
            ["path: b.yaml\n", "index: \"0\"\n"]
                .map(|it| list.contains(&format!("\n      config.kubernetes.io/{it}")))
        };
        let new = "apiVersion: v1\nkind: Pod\n";
        for version in [Version::V1Alpha1, Version::V1Beta1, Version::V1] {
            assert_eq!(has(&list(new, version, false)), [true, true], "{version:?}");
        }
        assert_eq!(has(&list(new, Version::V2Alpha1, false)), [false, false]);
        assert_eq!(has(&list(new, Version::V1, true)), [false, false]);
        assert_eq!(has(&list(new, Version::V1Beta1, true)), [true, true]);
        // An annotation that exists has the current value.
        assert_eq!(has(&list(old, Version::V2Alpha1, false)), [true, false]);
    }

    #[test]
    fn item_with_aliased_annotations_is_expanded() {
        let text = "x: &a {k: v}\napiVersion: v1\nkind: Pod\nmetadata: {annotations: *a} # c\n";
        let list = sent(text);
        assert!(list.contains("\n    annotations:\n      k: v\n      internal."), "{list}");
    }

    #[test]
    fn file_outside_the_package_is_an_error() {
        let mut item = Item::parse("apiVersion: v1\nkind: Pod\n".to_owned()).unwrap();
        item.path = PackagePath::new("ab/c.yaml").ok();
        let options = InputOptions { directory: "a", ..InputOptions::default() };
        let error = InputList::of([&item], &options).unwrap_err();
        assert_eq!(error.message(), "`ab/c.yaml` is not in package `a`");
    }

    #[test]
    fn list_without_items_is_an_empty_sequence() {
        let none: [Item; 0] = [];
        let input = InputList::of(&none, &InputOptions::default()).unwrap();
        assert!(input.text().ends_with("\nitems: []\n"));
    }
}
