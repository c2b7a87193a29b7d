//! Running a function on several files: one list of all resources, each written back to its own file.

use std::collections::BTreeMap;

use krm_core::{PackagePath, Severity};

use crate::resource::package_path;
use crate::stream::Stream;
use crate::{Error, Function, FunctionResult, Item, Resource, ResourceList, output};

/// The changed files and what the function reported.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The changed files with their new contents; `None` removes the file.
    pub(crate) files: Vec<(String, Option<String>)>,
    pub(crate) results: Vec<FunctionResult>,
    pub(crate) stderr: Vec<String>,
    pub(crate) failed: bool,
}

/// One input file and its range of resources in the list.
struct InputFile {
    path: PackagePath,
    stream: Stream,
    /// The index of its first resource.
    first: usize,
    count: usize,
}

/// Runs a function on files, given as paths and contents. A failed function changes nothing.
pub(crate) fn process(
    function: &Function,
    config: Option<Resource>,
    files: Vec<(String, String)>,
) -> Result<Batch, Error> {
    let mut list = ResourceList { function_config: config, ..ResourceList::default() };
    let mut inputs = Vec::with_capacity(files.len());
    for (name, text) in files {
        let path = package_path(&name)?;
        let (stream, read) = Stream::read(text).map_err(|error| error.in_file(&name))?;
        let first = list.items.len();
        inputs.push(InputFile { path: path.clone(), stream, first, count: read.items.len() });
        list.items.extend(read.items.into_iter().enumerate().map(|(at, resource)| {
            let mut item = Item::from(resource);
            (item.path, item.index, item.origin) = (Some(path.clone()), Some(at), Some(first + at));
            item.into()
        }));
    }
    let failed = function.apply(&mut list).err();
    let mut results = std::mem::take(&mut list.results);
    if let Some(error) = &failed {
        results = output::with_error(error, results, &list);
    }
    let files = if failed.is_some() { Vec::new() } else { write(&inputs, &list)? };
    let stderr = list.log.into_iter().chain(results.iter().map(output::line)).collect();
    let failed = results.iter().any(|result| result.severity == Severity::Error);
    Ok(Batch { files, results, stderr, failed })
}

fn write(
    inputs: &[InputFile],
    list: &ResourceList,
) -> Result<Vec<(String, Option<String>)>, Error> {
    let mut by_file: BTreeMap<PackagePath, Vec<Resource>> = BTreeMap::new();
    for resource in &list.items {
        let path = resource.path().cloned().unwrap_or_else(|| new_path(resource));
        by_file.entry(path).or_default().push(resource.clone());
    }
    let mut files = Vec::new();
    for input in inputs {
        let items = by_file.remove(&input.path).unwrap_or_default();
        let is_empty = items.is_empty() && input.count > 0;
        let items = items.into_iter().map(|resource| input.restore_origin(resource)).collect();
        let text = input.stream.write(&ResourceList { items, ..ResourceList::default() })?;
        if is_empty && !has_content(&text) {
            files.push((input.path.as_str().to_owned(), None));
        } else if text != input.stream.text() {
            files.push((input.path.as_str().to_owned(), Some(text)));
        }
    }
    for (path, items) in by_file {
        let (stream, _) = Stream::read(String::new())?;
        let items = items.into_iter().map(|resource| without_path(resource, None)).collect();
        let text = stream.write(&ResourceList { items, ..ResourceList::default() })?;
        files.push((path.as_str().to_owned(), Some(text)));
    }
    Ok(files)
}

fn has_content(text: &str) -> bool {
    text.lines().any(|line| !line.trim().is_empty() && line.trim() != "---")
}

impl InputFile {
    /// Numbers a resource as the stream of this file does.
    fn restore_origin(&self, resource: Resource) -> Resource {
        let origin = resource.item().origin.and_then(|origin| origin.checked_sub(self.first));
        let origin = origin.filter(|origin| *origin < self.count);
        without_path(resource, origin)
    }
}

/// Removes path and index: resources in files need no annotations that name the file.
fn without_path(resource: Resource, origin: Option<usize>) -> Resource {
    let mut item = Item::from(resource);
    (item.path, item.index, item.origin) = (None, None, origin);
    item.into()
}

fn new_path(resource: &Resource) -> PackagePath {
    let mut new = resource.clone();
    new.default_path();
    let fallback = || PackagePath::new("config/resource.yaml").expect("a valid path");
    new.path().cloned().unwrap_or_else(fallback)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(run: fn(&mut ResourceList) -> Result<(), Error>) -> Vec<(String, Option<String>)> {
        let texts = [
            (
                "a.yaml",
                "# a\napiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: B\nmetadata: {name: b}\n",
            ),
            (
                "b/c.yaml",
                "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind:  C\n  metadata: {name: c}\n",
            ),
        ];
        let texts = texts.map(|(path, text)| (path.to_owned(), text.to_owned())).to_vec();
        process(&Function::new("it", run), None, texts).unwrap().files
    }

    #[test]
    fn each_resource_is_written_to_its_file() {
        let out = files(|list| {
            list.items[2].set("x", 1)?;
            list.items.push(Resource::parse("apiVersion: v1\nkind: New\nmetadata: {name: n}\n")?);
            Ok(())
        });
        let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind:  C\n  metadata: {name: c}\n  x: 1\n";
        let new = "apiVersion: v1\nkind: New\nmetadata: {name: n}\n";
        let expected = [("b/c.yaml", text), ("config/n_new.yaml", new)];
        let expected = expected.map(|(path, text)| (path.to_owned(), Some(text.to_owned())));
        assert_eq!(out, expected);
    }

    #[test]
    fn moved_resources_change_files_and_empty_files_are_removed() {
        let out = files(|list| {
            list.items[0].move_to(PackagePath::new("new.yaml").expect("a valid path"));
            list.items.remove(1);
            Ok(())
        });
        let expected = [
            ("a.yaml", None),
            ("new.yaml", Some("# a\napiVersion: v1\nkind: A\nmetadata: {name: a}\n")),
        ];
        let expected = expected.map(|(path, text)| (path.to_owned(), text.map(str::to_owned)));
        assert_eq!(out, expected);
    }

    #[test]
    fn failed_function_changes_nothing() {
        let out = files(|list| {
            list.items.clear();
            Err(Error::new("no"))
        });
        assert_eq!(out, []);
    }
}
