//! Properties of applying function output to items.

use krm_core::PackageFile;
use krm_core::annotate::{ResourceFilter, annotate};
use krm_core::compare::equal_in_yaml_1_2;
use krm_core::functions::resource_list::{InputList, InputOptions, Item};
use krm_core::print::json;
use krm_yaml::{File, NodeRef, Value};

use crate::merge_properties::{holds, holds_but_for};
use crate::merging::checks::{self, Checked};
use crate::merging::model::{self, Model};
use crate::merging::{change, emit};
use crate::properties::draw::Draw;
use crate::properties::lenient_text;
use crate::reprint;

/// How a function writes its output.
#[derive(Clone, Copy)]
enum Writer {
    Block,
    Json,
}

fn root(file: &File) -> Result<NodeRef<'_>, String> {
    file.document(0).and_then(|it| it.root()).ok_or_else(|| "no root".to_owned())
}

fn parsed(text: &str) -> Result<File, String> {
    File::parse(text.to_owned()).map_err(|error| error.to_string())
}

/// A resource as the output of a function that was sent one item.
fn output(text: &str, writer: Writer) -> Result<String, String> {
    let id = ("internal.config.kubernetes.io/krm-id".to_owned(), "0".to_owned());
    let file = PackageFile::from_text("a.yaml", text).map_err(|error| error.to_string())?;
    let annotated = annotate(&file, &ResourceFilter::default(), &[id]);
    let annotated = annotated.map_err(|errors| errors[0].message().to_owned())?;
    let annotated = annotated.unwrap_or_else(|| text.to_owned());
    let item = match writer {
        Writer::Json => json::display(&Value::Node(root(&parsed(&annotated)?)?)) + "\n",
        Writer::Block => annotated,
    };
    let lines =
        item.lines().map(|line| if line.is_empty() { line.into() } else { format!("  {line}") });
    let lines: Vec<String> = lines.collect();
    Ok(format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n-\n{}\n",
        lines.join("\n")
    ))
}

/// Whether JSON has all values of a document. It has no `0x1F` and no `.inf`.
fn is_json_value(text: &str) -> Result<bool, String> {
    let file = parsed(text)?;
    let again = parsed(&json::display(&Value::Node(root(&file)?)))?;
    Ok(equal_in_yaml_1_2(root(&file)?, root(&again)?))
}

/// The item after a function returned a resource for it.
fn applied(text: &str, returned: &str, writer: Writer) -> Result<Item, String> {
    let items = [Item::parse(text.to_owned()).map_err(|error| error.message().to_owned())?];
    let sending = InputList::of(&items, &InputOptions::default())
        .map_err(|error| error.message().to_owned())?;
    let mut answer = sending
        .apply_output(output(returned, writer)?)
        .map_err(|it| it.error.message().to_owned())?;
    if answer.sources != [Some(0)] {
        return Err(format!("it is not known again: {returned}"));
    }
    Ok(answer.items.remove(0))
}

/// After an answer the item means what came back, and nothing else of its comments went than what went with its fields.
fn answer_means_what_was_returned(text: &str, returned: &str, writer: Writer) -> Checked {
    if [text, returned].iter().any(|text| !checks::is_readable(text) || checks::has_null(text)) {
        return Ok(None);
    }
    if !is_json_value(returned)? {
        return Ok(None);
    }
    let item = applied(text, returned, writer)?;
    let file = parsed(returned)?;
    if !equal_in_yaml_1_2(item.root(), root(&file)?) {
        return Err(format!(
            "--- sent\n{text}\n--- returned\n{returned}\n--- became\n{}",
            item.text()
        ));
    }
    // Applying the same output again changes nothing. As JSON, because a comment that was elsewhere before could be taken now.
    let again = applied(item.text(), returned, Writer::Json)?;
    match again.text() == item.text() {
        true => Ok(None),
        false => Err(format!("--- once\n{}\n--- again\n{}", item.text(), again.text())),
    }
}

fn changed(draw: &mut Draw<'_>, style: &mut Draw<'_>) -> [String; 2] {
    let model = model::resource(draw);
    let other = change::some(&model, draw, 6);
    [&model, &other].map(|model| emit::text(model, style))
}

#[test]
fn answer_means_what_was_returned_in_block_style() {
    holds(|draw, style| {
        let [text, returned] = changed(draw, style);
        answer_means_what_was_returned(&text, &returned, Writer::Block)
    });
}

#[test]
fn answer_means_what_was_returned_in_json() {
    holds(|draw, style| {
        let [text, returned] = changed(draw, style);
        answer_means_what_was_returned(&text, &returned, Writer::Json)
    });
}

#[test]
fn answer_means_what_was_returned_for_unrelated_resources() {
    holds(|draw, style| {
        let [one, other] = [model::resource(draw), model::resource(draw)];
        let [text, returned] = [one, other].map(|model| emit::text(&model, style));
        answer_means_what_was_returned(&text, &returned, Writer::Block)
    });
}

/// Documents of all kinds, with anchors, tags and unusual keys, as fields of a resource.
#[test]
fn answer_means_what_was_returned_for_any_documents() {
    holds_but_for(0, |draw, style| {
        let wrap = |text: &str| {
            let is_plain = !text.contains(['%', '\r', '\t', '\u{feff}'])
                && !text.contains("---")
                && !text.contains("...");
            let lines = text
                .lines()
                .map(|line| if line.is_empty() { line.into() } else { format!("  {line}") });
            let body = lines.collect::<Vec<String>>().join("\n");
            let text = format!("apiVersion: v1\nkind: Any\nmetadata:\n  name: a\nspec:\n{body}\n");
            is_plain.then_some(text).filter(|text| checks::is_readable(text))
        };
        let (one, other) =
            (crate::properties::emit::sample(draw), crate::properties::emit::sample(style));
        let (Some(text), Some(returned)) = (wrap(&one.text), wrap(&other.text)) else {
            return Ok(None);
        };
        answer_means_what_was_returned(&text, &returned, Writer::Block)
    });
}

/// A function that parses and prints a resource, without comments, with other quotes and sorted keys.
#[test]
fn reserialized_output_changes_nothing() {
    holds(|draw, style| {
        let model = model::resource(draw);
        let text = emit::text(&model, style);
        let mut sorted = model.clone();
        sort(&mut sorted);
        for writer in [Writer::Block, Writer::Json] {
            let item = applied(&text, &emit::text(&sorted, style), writer)?;
            if item.text() != text {
                return Err(format!("--- sent\n{text}\n--- became\n{}", item.text()));
            }
        }
        Ok(None)
    });
}

/// Sorts keys and drops comments.
fn sort(model: &mut Model) {
    match model {
        Model::Map(entries) => {
            entries.sort_by(|a, b| a.key.cmp(&b.key));
            for entry in entries {
                (entry.above, entry.beside) = (None, None);
                sort(&mut entry.value);
            }
        }
        Model::List(items) => items.iter_mut().for_each(|item| {
            item.above = None;
            sort(&mut item.value);
        }),
        _ => {}
    }
}

/// A field is added: one line is inserted, and all other lines and comments are kept.
#[test]
fn untouched_stays() {
    holds(|draw, style| {
        let model = model::resource(draw);
        let text = emit::text(&model, style);
        let mut other = model.clone();
        sort(&mut other);
        let Model::Map(entries) = &mut other else { return Ok(None) };
        let Some(spec) = entries.iter_mut().find(|it| it.key == "spec") else { return Ok(None) };
        let Model::Map(spec) = &mut spec.value else { return Ok(None) };
        let value = Model::Number(draw.below(99) as i64);
        spec.push(model::Entry { key: "added".to_owned(), value, above: None, beside: None });
        for writer in [Writer::Block, Writer::Json] {
            let item = applied(&text, &emit::text(&other, style), writer)?;
            checks::untouched_stays(&text, item.text(), 2)?;
            checks::comments_survive(&text, item.text())?;
        }
        Ok(None)
    });
}

/// Documents of all kinds, reprinted by functions of all kinds.
#[test]
fn same_meaning_same_bytes() {
    holds_but_for(0, |draw, style| {
        let Some(text) = reprint::resource(&crate::properties::emit::sample(draw).text) else {
            return Ok(None);
        };
        reprint::same_meaning_same_bytes(&text, style).map(|()| None)
    });
}

/// One field of any document gets another value.
#[test]
fn one_field_one_place() {
    holds_but_for(0, |draw, style| {
        let Some(text) = reprint::resource(&crate::properties::emit::sample(draw).text) else {
            return Ok(None);
        };
        reprint::one_field_one_place(&text, style).map(|()| None)
    });
}

/// Documents that only Kubernetes accepts are changed like any other.
#[test]
fn lenient_documents_change_in_one_place() {
    holds_but_for(0, |draw, style| {
        let valid = reprint::resource(&crate::properties::emit::sample(draw).text);
        let text = valid.and_then(|valid| lenient_text::lenient(style, &valid));
        let Some(text) = text else { return Ok(None) };
        reprint::same_meaning_same_bytes(&text, style)?;
        reprint::one_field_one_place(&text, style).map(|()| None)
    });
}
