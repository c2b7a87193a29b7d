//! The properties.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm_core::Resource;
use krm_core::compare::equal_in_yaml_1_2;
use krm_core::merge::{
    MergeOptions, MergedFile, NamedFile, Nulls, OnConflict, Sequences, Side, merge_files,
    merge_files_three_way,
};
use krm_yaml::{DocumentRef, File};

use super::Verdict;

/// Ends a check with the reason where a condition does not hold.
macro_rules! ensure {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(format!($($why)+));
        }
    };
}

fn parse(text: &str) -> Result<Arc<File>, String> {
    File::parse(text.to_owned()).map(Arc::new).map_err(|error| error.to_string())
}

/// The result of a merge. A refusal does not violate a property.
pub(crate) enum MergeOutcome {
    Merged(MergedFile),
    Refused(String),
}

pub(crate) fn merge3(
    base: &str,
    local: &str,
    upstream: &str,
    on_conflict: OnConflict,
) -> Result<MergeOutcome, String> {
    merge3_with(base, local, upstream, &MergeOptions { on_conflict, ..MergeOptions::default() })
}

/// The options of the merge driver of git, which must not lose anything.
pub(crate) fn driver_options(on_conflict: OnConflict) -> MergeOptions<'static> {
    let (nulls, sequences) = (Nulls::Value, Sequences::Diff3);
    MergeOptions { on_conflict, nulls, sequences, ..MergeOptions::default() }
}

pub(crate) fn merge3_with(
    base: &str,
    local: &str,
    upstream: &str,
    options: &MergeOptions<'_>,
) -> Result<MergeOutcome, String> {
    let [base, local, upstream] = [parse(base)?, parse(local)?, parse(upstream)?];
    let named = |name, file| NamedFile { name, file };
    let merged = merge_files_three_way(
        named("base.yaml", &base),
        named("local.yaml", &local),
        named("upstream.yaml", &upstream),
        options,
    );
    Ok(match merged {
        Ok(merged) => MergeOutcome::Merged(merged),
        Err(error) => MergeOutcome::Refused(error.message().to_owned()),
    })
}

pub(crate) fn merge2(
    source: &str,
    destination: &str,
    options: &MergeOptions<'_>,
) -> Result<MergeOutcome, String> {
    let [source, destination] = [parse(source)?, parse(destination)?];
    let named = |name, file| NamedFile { name, file };
    let merged = merge_files(
        named("source.yaml", &source),
        named("destination.yaml", &destination),
        options,
    );
    Ok(match merged {
        Ok(merged) => MergeOutcome::Merged(merged),
        Err(error) => MergeOutcome::Refused(error.message().to_owned()),
    })
}

/// Returns the reason of a refused merge, which the caller counts.
macro_rules! merged {
    ($outcome:expr) => {
        match $outcome {
            MergeOutcome::Merged(merged) => merged,
            MergeOutcome::Refused(why) => return Ok(Some(why)),
        }
    };
}

/// Whether a property holds, and why the merge was refused where it was.
pub(crate) type Checked = Result<Option<String>, String>;

/// `merge_identity`: where only one side changed, the result is that side; where both made the same change, it is that change.
pub(crate) fn merge_identity(base: &str, x: &str) -> Checked {
    merge_identity_with(base, x, &MergeOptions::default())
}

pub(crate) fn merge_identity_with(base: &str, x: &str, options: &MergeOptions<'_>) -> Checked {
    let local = merged!(merge3_with(base, x, base, options)?);
    ensure!(local.text == x, "only local changed\n{}", describe(base, x, base, &local.text));
    ensure!(
        local.conflicts.is_empty(),
        "a conflict where only local changed: {:?}",
        local.conflicts
    );
    let alike = merged!(merge3_with(base, x, x, options)?);
    ensure!(alike.text == x, "both changed alike\n{}", describe(base, x, x, &alike.text));
    ensure!(
        alike.conflicts.is_empty(),
        "a conflict where both changed alike: {:?}",
        alike.conflicts
    );
    let upstream = merged!(merge3_with(base, base, x, options)?);
    ensure!(
        same_documents(&upstream.text, x)?,
        "only upstream changed\n{}",
        describe(base, base, x, &upstream.text)
    );
    ensure!(
        upstream.conflicts.is_empty(),
        "a conflict where only upstream changed: {:?}",
        upstream.conflicts
    );
    Ok(None)
}

/// `merge_is_stable`: the same merge again changes nothing.
pub(crate) fn three_way_is_stable(
    base: &str,
    local: &str,
    upstream: &str,
    on_conflict: OnConflict,
) -> Checked {
    let options = MergeOptions { on_conflict, ..MergeOptions::default() };
    three_way_is_stable_with(base, local, upstream, &options)
}

pub(crate) fn three_way_is_stable_with(
    base: &str,
    local: &str,
    upstream: &str,
    options: &MergeOptions<'_>,
) -> Checked {
    let once = merged!(merge3_with(base, local, upstream, options)?);
    if options.on_conflict == OnConflict::Mark && once.conflicts.iter().any(|it| !it.is_marked) {
        return Ok(None);
    }
    if !pairs_again([local, upstream], &once.text, |sides, count| sides.contains(&count))? {
        return Ok(None);
    }
    // A document is paired with one at the same position that has another identity, and the positions are others after the first merge.
    let is_shifted = !document_names(&once.text)?.starts_with(&document_names(local)?);
    let pairs_others = |merged: &MergedFile| {
        is_shifted && merged.warnings.iter().any(|it| it.id() == "merge-paired")
    };
    if pairs_others(&once) {
        return Ok(None);
    }
    // A comment that had no place in local may have one beside an entry that was added.
    if once.warnings.iter().any(|it| it.id() == "merge-comment-omitted") {
        return Ok(None);
    }
    let twice = match merge3_with(base, &once.text, upstream, options)? {
        MergeOutcome::Merged(merged) => merged,
        MergeOutcome::Refused(why) => {
            return Err(format!(
                "refused again: {why}\n{}",
                describe(base, local, upstream, &once.text)
            ));
        }
    };
    if pairs_others(&twice) {
        return Ok(None);
    }
    ensure!(
        twice.text == once.text,
        "not stable\n{}--- again\n{}",
        describe(base, local, upstream, &once.text),
        twice.text
    );
    Ok(None)
}

pub(crate) fn two_way_is_stable(
    source: &str,
    destination: &str,
    options: &MergeOptions<'_>,
) -> Checked {
    let once = merged!(merge2(source, destination, options)?);
    // Only `$patch: delete` takes documents away.
    if !pairs_again([source, destination], &once.text, |[a, b], count| count == a.max(b))? {
        return Ok(None);
    }
    let twice = match merge2(source, &once.text, options)? {
        MergeOutcome::Merged(merged) => merged,
        MergeOutcome::Refused(why) => {
            return Err(format!(
                "refused again: {why}\n--- source\n{source}--- destination\n{destination}--- merged\n{}",
                once.text
            ));
        }
    };
    ensure!(
        twice.text == once.text,
        "not stable\n--- source\n{source}--- destination\n{destination}--- merged\n{}--- again\n{}",
        once.text,
        twice.text
    );
    Ok(None)
}

/// `conflicts_are_values`: the conflicts are the same whichever side is taken, each with its values and locations.
pub(crate) fn conflicts_are_values(base: &str, local: &str, upstream: &str) -> Checked {
    let theirs = merged!(merge3(base, local, upstream, OnConflict::Upstream)?);
    let ours = merged!(merge3(base, local, upstream, OnConflict::Local)?);
    let ids = |merged: &MergedFile| {
        merged
            .conflicts
            .iter()
            .map(|it| format!("{} {} {:?}", it.id, it.path, it.kind))
            .collect::<Vec<_>>()
    };
    ensure!(
        ids(&theirs) == ids(&ours),
        "other conflicts\n{:?}\n{:?}\n{}",
        ids(&theirs),
        ids(&ours),
        describe(base, local, upstream, &theirs.text)
    );
    for conflict in theirs.conflicts.iter().chain(&ours.conflicts) {
        ensure!(conflict.local != conflict.upstream, "both are the same: {conflict:?}");
        ensure!(conflict.local != conflict.base, "local did not change it: {conflict:?}");
        ensure!(conflict.upstream != conflict.base, "upstream did not change it: {conflict:?}");
        ensure!(
            conflict.local_at.is_some() && conflict.upstream_at.is_some(),
            "no location: {conflict:?}"
        );
    }
    ensure!(theirs.conflicts.iter().all(|it| it.taken == Side::Upstream), "wrong side");
    ensure!(ours.conflicts.iter().all(|it| it.taken == Side::Local), "wrong side");
    // Without conflicts the result does not depend on the side.
    if theirs.conflicts.is_empty() {
        ensure!(theirs.text == ours.text, "the side counts without a conflict");
    }
    Ok(None)
}

/// `untouched_stays`: a small change changes few lines.
pub(crate) fn untouched_stays(local: &str, result: &str, allowed: usize) -> Verdict {
    let (old, new): (Vec<&str>, Vec<&str>) = (local.lines().collect(), result.lines().collect());
    let ahead = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let behind = old[ahead..]
        .iter()
        .rev()
        .zip(new[ahead..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let changed = (old.len() - ahead - behind).max(new.len() - ahead - behind);
    ensure!(changed <= allowed, "{changed} lines changed\n--- local\n{local}--- merged\n{result}");
    Ok(())
}

/// `unknown_survives`: every comment of local that upstream did not change is kept.
pub(crate) fn comments_survive(before: &str, after: &str) -> Verdict {
    let (before, after) = (comments(before)?, comments(after)?);
    for comment in &before {
        ensure!(after.contains(comment), "lost {comment:?}");
    }
    Ok(())
}

fn comments(text: &str) -> Result<Vec<String>, String> {
    let file = parse(text)?;
    let all = file.documents().flat_map(DocumentRef::comments);
    Ok(all.map(|comment| comment.text.trim_end().to_owned()).collect())
}

/// Whether two files have equal documents, in any order: new ones are appended.
pub(crate) fn same_documents(a: &str, b: &str) -> Result<bool, String> {
    let [a, b] = [parse(a)?, parse(b)?];
    let roots = |file| File::documents(file).filter_map(DocumentRef::root).collect::<Vec<_>>();
    let (mut a, b) = (roots(&a), roots(&b));
    for root in b {
        let Some(at) = a.iter().position(|other| equal_in_yaml_1_2(*other, root)) else {
            return Ok(false);
        };
        a.remove(at);
    }
    Ok(a.is_empty())
}

/// Whether the documents pair in a second merge as they did in the first.
///
/// Documents without identity pair by position. If one of them was removed or became a resource, the second merge pairs other documents and
/// is not the same merge.
fn pairs_again(
    sides: [&str; 2],
    merged: &str,
    fits: fn([usize; 2], usize) -> bool,
) -> Result<bool, String> {
    let [a, b, merged] = [names(sides[0])?, names(sides[1])?, names(merged)?];
    let mut all = a.keys().chain(b.keys()).chain(merged.keys());
    Ok(all.all(|name| {
        let [a, b, merged] = [&a, &b, &merged].map(|it| it.get(name).copied().unwrap_or(0));
        // A resource with a name may be removed.
        name.0 && merged == 0 || fits([a, b], merged)
    }))
}

/// How many documents have each name or kind, and whether it is a name.
fn names(text: &str) -> Result<BTreeMap<(bool, String), usize>, String> {
    let mut counts = BTreeMap::new();
    for name in document_names(text)? {
        *counts.entry(name).or_insert(0) += 1;
    }
    Ok(counts)
}

/// The name or kind of each document, and whether it is a name.
fn document_names(text: &str) -> Result<Vec<(bool, String)>, String> {
    let file = parse(text)?;
    let name = |node| {
        let it = Resource { node, item: None };
        let is_resource = !it.kind().is_empty() && !it.api_version().is_empty();
        let name = is_resource.then(|| format!("{} {}", it.group(), it.label()));
        (is_resource && it.identity().is_some(), name.unwrap_or_default())
    };
    Ok(file.documents().filter_map(DocumentRef::root).map(name).collect())
}

fn describe(base: &str, local: &str, upstream: &str, merged: &str) -> String {
    format!("--- base\n{base}--- local\n{local}--- upstream\n{upstream}--- merged\n{merged}")
}

/// All properties of three-way merges.
pub(crate) fn all(base: &str, local: &str, upstream: &str) -> Checked {
    merge_identity(base, local)?;
    for on in [OnConflict::Upstream, OnConflict::Local, OnConflict::Mark] {
        three_way_is_stable(base, local, upstream, on)?;
    }
    conflicts_are_values(base, local, upstream)
}

/// Whether every document of a text is valid.
pub(crate) fn is_readable(text: &str) -> bool {
    parse(text).is_ok_and(|file| file.errors().next().is_none())
}

/// Whether a text has a document without content, which is not merged but kept as it is.
pub(crate) fn has_empty_document(text: &str) -> bool {
    let Ok(file) = parse(text) else { return true };
    let is_empty =
        |document: DocumentRef<'_>| document.root().is_none_or(|root| root.full_span().is_empty());
    file.documents().any(is_empty)
}

/// Whether a text has a null, which clears a field.
pub(crate) fn has_null(text: &str) -> bool {
    let Ok(file) = parse(text) else { return true };
    let mut waiting: Vec<_> = file.documents().filter_map(DocumentRef::root).collect();
    while let Some(node) = waiting.pop() {
        let scalar = node.resolve().as_scalar();
        if scalar.is_some_and(|scalar| scalar.resolve() == krm_yaml::ScalarType::Null) {
            return true;
        }
        waiting.extend(node.children());
    }
    false
}
