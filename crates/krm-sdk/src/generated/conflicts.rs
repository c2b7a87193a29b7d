//! Conflicts as results: the field, both values, and what was done.

use krm_core::Severity;
use krm_core::functions::resource_list::results::FieldRef;
use krm_core::merge::{Conflict, ConflictKind, Side};
use krm_yaml::{File, NodeRef, Value};

use crate::{FunctionResult, Resource};

/// Longer values are cut in messages.
const MAX_CHARS: usize = 60;

/// The result about a conflict in a resource, which is as it was before the merge. The value that was not taken is proposed, so that
/// `krm fix` can take it.
pub(super) fn result(conflict: &Conflict, resource: &Resource) -> FunctionResult {
    let taken = match conflict.taken {
        Side::Local => "kept what is here",
        Side::Upstream => "took what is generated",
    };
    let [here, generated] = [&conflict.local, &conflict.upstream].map(|it| displayed(conflict, it));
    let path = &conflict.path;
    let message = match conflict.kind {
        ConflictKind::Comment => {
            format!("the comment of `{path}` was changed here and by the generator: {taken}")
        }
        ConflictKind::Order => {
            format!("the order of `{path}` was changed here and by the generator: {taken}")
        }
        _ => {
            format!("conflict at `{path}`: {here} here, {generated} generated; {taken}")
        }
    };
    let mut result: FunctionResult = resource.result(Severity::Warning, message).into();
    let is_value = !matches!(conflict.kind, ConflictKind::Comment | ConflictKind::Order);
    let value = |text: &Option<String>| {
        let text = text.as_ref().filter(|_| is_value && !conflict.is_secret);
        text.and_then(|text| parsed(text))
    };
    let [local, upstream] = [value(&conflict.local), value(&conflict.upstream)];
    let (current, proposed) = match conflict.taken {
        Side::Local => (local, upstream),
        Side::Upstream => (upstream, local),
    };
    result.field =
        Some(FieldRef { path: path.clone(), current, proposed: proposed.into_iter().collect() });
    result
}

fn displayed(conflict: &Conflict, value: &Option<String>) -> String {
    match value {
        None => "not set".to_owned(),
        Some(_) if conflict.is_secret => "***".to_owned(),
        Some(value) if value.chars().count() > MAX_CHARS => {
            format!("{}…", value.chars().take(MAX_CHARS).collect::<String>())
        }
        Some(value) => value.clone(),
    }
}

/// The value of a conflict, which is a string of JSON.
fn parsed(text: &str) -> Option<Value<'static>> {
    let file = File::parse(text.to_owned()).ok()?;
    let root = file.documents().find_map(|document| document.root());
    root.map(NodeRef::to_value)?.ok()?.into_owned().ok()
}
