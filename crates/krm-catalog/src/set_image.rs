//! `set-image`: sets the name, tag and digest of a container image.

use std::collections::BTreeSet;

use krm_core::diagnostics::closest_name;
use krm_sdk::{Diagnostic, Error, FunctionResult, ResourceList, Severity};
use serde::Deserialize;

use crate::changes::{Changes, FieldSlot, change_each, text_of};
use crate::config::{
    function_config, invalid_field, is_config_map, is_custom, missing, reword_unknown_fields,
    unknown_kind,
};
use crate::field_spec::FieldSpec;
use crate::{Builtin, Run, releases};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "set-image",
    aliases: &[],
    summary: "set the name, tag or digest of a container image",
    doc: include_str!("../doc/set-image.md"),
    releases: releases::SET_IMAGE,
    run: Run::Native(run),
};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SetImage {
    image: Image,
    additional_image_fields: Vec<FieldSpec>,
}

/// An image and its new name, tag and digest. Empty strings change nothing.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Image {
    name: String,
    new_name: String,
    new_tag: String,
    digest: String,
}

/// The kinds and paths of pod specs; an empty kind is any.
const POD_SPECS: &[[&str; 2]] = &[
    ["", "spec"],
    ["", "spec/template/spec"],
    ["CronJob", "spec/jobTemplate/spec/template/spec"],
    ["PodTemplate", "template/spec"],
];

/// Sets the image in all resources.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let SetImage { image, additional_image_fields } =
        read(list).map_err(|error| terminated(list, error))?;
    let lists = ["initContainers", "containers"];
    let known = POD_SPECS.iter().flat_map(|[kind, spec]| {
        lists.map(|list| FieldSpec::new("", "", kind, &format!("{spec}/{list}[]/image"), false))
    });
    let known: Vec<FieldSpec> = known.collect();
    let found = change_each(list.items.iter_mut().collect(), |changes, resource| {
        let mut tally = Tally::default();
        // Resources of other kinds may have something else at the default paths. An error at a path that the user gave is reported.
        let known = known.iter().map(|field| field.find(resource, changes).unwrap_or_default());
        let mut slots: Vec<FieldSlot<'_>> = known.flatten().collect();
        for field in &additional_image_fields {
            slots.extend(field.find(resource, changes)?);
        }
        image.set(changes, &slots, &mut tally);
        Ok(tally)
    })?;
    let mut tally = Tally::default();
    for it in found {
        tally.count += it.count;
        tally.names.extend(it.names);
    }
    let count = tally.count;
    list.add_result(Severity::Info, format!("summary: updated a total of {count} image(s)"));
    list.results.extend(no_match(list, &image, &tally));
    Ok(())
}

/// Compat: the original reports an error in the functionConfig twice, the second time with this prefix.
fn terminated(list: &mut ResourceList, error: Error) -> Error {
    for message in error.diagnostics.iter().map(Diagnostic::message) {
        list.add_result(Severity::Error, message.to_owned());
        list.add_result(Severity::Error, format!("function is terminated: {message}"));
    }
    error.reported()
}

/// The number of changes, and the names of all images.
#[derive(Default)]
struct Tally {
    count: usize,
    names: BTreeSet<String>,
}

/// A warning if neither the image nor its replacement is used.
fn no_match(list: &ResourceList, image: &Image, tally: &Tally) -> Option<FunctionResult> {
    let config = function_config(list)?;
    let is_used = |name: &str| tally.names.contains(split(name).0);
    if tally.names.is_empty() || is_used(&image.name) || is_used(&image.new_name) {
        return None;
    }
    let near = closest_name(tally.names.iter().map(String::as_str), &image.name);
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let names: Vec<_> = tally.names.iter().take(3).map(|it| format!("`{it}`")).collect();
            format!("images are {}", names.join(", "))
        }
    };
    let message = format!("no image is named `{}`: {hint}", image.name);
    let field = if is_config_map(config) { "data.name" } else { "image.name" };
    Some(config.result(Severity::Warning, message).field(field).into())
}

fn read(list: &ResourceList) -> Result<SetImage, Error> {
    let Some(config) = function_config(list) else {
        return Err(missing::<SetImage>(list, BUILTIN.name, "must specify `name`"));
    };
    let (read, prefix) = match config {
        config if is_config_map(config) => {
            let message = |name: &str| format!("ConfigMap has wrong field name {name}");
            let image =
                config.read_config().map_err(|error| reword_unknown_fields(error, message))?;
            (SetImage { image, ..SetImage::default() }, "data")
        }
        config if is_custom(config, "SetImage") => (config.read_config()?, "image"),
        _ => {
            let kind = config.kind();
            let message = format!("unknown FunctionConfig `{kind}`, expect SetImage");
            return Err(unknown_kind(config, "SetImage", message));
        }
    };
    let Image { name, new_name, new_tag, digest } = &read.image;
    if name.is_empty() {
        let error = invalid_field(config, prefix, "must specify `name`");
        return Err(error.hint("set it to the image to replace, without tag").into());
    }
    if [new_name, new_tag, digest].iter().all(|it| it.is_empty()) {
        let message = "must specify one of `newName`, `newTag`, or `digest`";
        let error = invalid_field(config, prefix, message);
        return Err(error.hint("set one of them to change the image").into());
    }
    Ok(read)
}

impl Image {
    fn set<'a>(&self, changes: &mut Changes<'a>, slots: &[FieldSlot<'a>], tally: &mut Tally) {
        let existing = slots.iter().filter_map(FieldSlot::node);
        let nodes = existing.flat_map(|node| match node.as_sequence() {
            Some(list) => list.items().collect(),
            None => vec![node],
        });
        for node in nodes {
            let Some(old) = text_of(node) else { continue };
            let bare = old.split('@').next().unwrap_or_default();
            tally.names.insert(split(bare).0.to_owned());
            let Some(new) = self.replaced(&old).filter(|new| *new != old) else { continue };
            changes.set(&FieldSlot::Existing(node.resolve()), &new);
            tally.count += 1;
        }
    }

    /// The new image; none if the image is another one.
    fn replaced(&self, image: &str) -> Option<String> {
        let rest = image.strip_prefix(&self.name)?;
        let (tag, digest) = match rest.split_once('@') {
            Some((tag, digest)) => (tag, Some(digest)),
            None => (rest, None),
        };
        if !is_tag(tag) || digest.is_some_and(|digest| !is_digest(digest)) {
            return None;
        }
        // The name may include a tag; then only that tag is replaced.
        let (name, tag) = match tag {
            "" => split(&self.name),
            tag => (self.name.as_str(), tag),
        };
        let name = if self.new_name.is_empty() { name } else { &self.new_name };
        let is_replaced = !self.new_tag.is_empty() || !self.digest.is_empty();
        let (tag, digest) = match is_replaced {
            true => (with(":", &self.new_tag), with("@", &self.digest)),
            false => (tag.to_owned(), with("@", digest.unwrap_or_default())),
        };
        Some(format!("{name}{tag}{digest}"))
    }
}

/// The name and tag of an image, the tag with its colon. A colon before a slash separates a port.
fn split(image: &str) -> (&str, &str) {
    let start = image.rfind('/').map_or(0, |slash| slash + 1);
    let colon = image[start..].find(':').map_or(image.len(), |colon| start + colon);
    image.split_at(colon)
}

fn with(sign: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{sign}{text}") }
}

fn is_tag(text: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_.{}-".contains(it);
    text.is_empty() || text.strip_prefix(':').is_some_and(|tag| tag.chars().all(is_plain))
}

fn is_digest(text: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_.{}-".contains(it);
    text.strip_prefix("sha256:").is_some_and(|digest| digest.chars().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_name_tag_and_digest() {
        let rows = [
            // name, newName, newTag, digest; the image and its replacement.
            (["nginx", "web", "", ""], "nginx:1@sha256:a", Some("web:1@sha256:a")),
            (["nginx", "", "2", ""], "nginx:1@sha256:a", Some("nginx:2")),
            (["nginx", "", "", "sha256:b"], "nginx:1", Some("nginx@sha256:b")),
            (["nginx", "", "2", "sha256:b"], "nginx", Some("nginx:2@sha256:b")),
            (["nginx", "", "2", ""], "nginx", Some("nginx:2")),
            (["nginx", "", "2", ""], "nginxx:1", None),
            (["nginx", "", "2", ""], "library/nginx:1", None),
            (["nginx", "", "2", ""], "nginx/other:1", None),
            (["n.inx", "", "2", ""], "nginx", None),
            (["r:5000/a", "", "2", ""], "r:5000/a:1", Some("r:5000/a:2")),
            (["r:5000/a", "b", "", ""], "r:5000/a", Some("b")),
            (["alpine:3", "debian", "12", ""], "alpine:3", Some("debian:12")),
            (["alpine:3", "debian", "", ""], "alpine:3", Some("debian:3")),
            (["alpine:3", "debian", "12", ""], "alpine:4", None),
        ];
        for ([name, new_name, new_tag, digest], before, after) in rows {
            let [name, new_name, new_tag, digest] =
                [name, new_name, new_tag, digest].map(str::to_owned);
            let image = Image { name, new_name, new_tag, digest };
            assert_eq!(image.replaced(before).as_deref(), after, "{} {before}", image.name);
        }
    }
}
