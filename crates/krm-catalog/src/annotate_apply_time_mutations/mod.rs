//! `annotate-apply-time-mutations`: notes in an annotation which fields get their values when they are applied.

mod comment;
mod substitution;

use krm_sdk::{Error, FunctionResult, Resource, ResourceList, Severity};
use krm_yaml::NodeRef;

use crate::Builtin;
use crate::changes::{Spot, at, change};
use comment::{Mark, marks};
use substitution::{Reference, Substitution, Target, text};

/// The function as it is listed.
pub const BUILTIN: Builtin = Builtin {
    name: "annotate-apply-time-mutations",
    aliases: &[],
    summary: "annotate fields that get their values when they are applied",
    doc: include_str!("../../doc/annotate-apply-time-mutations.md"),
    tags: &["v0.1", "v0.1.0"],
    run,
};

const ANNOTATION: &str = "config.kubernetes.io/apply-time-mutation";

/// Writes the annotation of all resources that a resource `ApplyTimeMutation` or a comment of their own asks it for.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let targets = targets(list)?;
    let mut notes: Vec<Vec<Substitution>> = Vec::new();
    for (at, resource) in list.items.iter().enumerate() {
        let of_resources = targets.iter().filter(|it| it.is(resource));
        let note: Vec<Substitution> =
            of_resources.flat_map(|it| it.substitutions.iter().cloned()).collect();
        if !note.is_empty() {
            list.results.push(wrote(resource, at));
        }
        notes.push(note);
    }
    let unmet = targets.iter().filter(|target| !list.items.iter().any(|it| target.is(it)));
    let unmet: Vec<FunctionResult> = unmet
        .map(|target| {
            let message = "the target of this ApplyTimeMutation is not among the resources";
            let of = list.items[target.item].result(Severity::Warning, message);
            of.field("spec.targetRef").into()
        })
        .collect();
    list.results.extend(unmet);
    for (at, note) in notes.iter_mut().enumerate() {
        let resource = &mut list.items[at];
        let marks = marks(resource)?;
        for mark in &marks {
            let message =
                format!("Found valid apply-time-mutation comment (item: {at}): {}", mark.comment);
            list.results.push(mark.result(resource, message));
        }
        if !marks.is_empty() {
            list.results.push(wrote(resource, at));
        }
        note.extend(marks.iter().flat_map(|mark| mark.substitutions.iter().cloned()));
        if !note.is_empty() {
            write(resource, note, &marks)?;
        }
    }
    Ok(())
}

/// The resources `ApplyTimeMutation` of the list.
fn targets(list: &mut ResourceList) -> Result<Vec<Target>, Error> {
    let mut targets = Vec::new();
    for (at, resource) in list.items.iter().enumerate() {
        let is_one = resource.kind() == "ApplyTimeMutation"
            && resource.api_version() == crate::config::API_VERSION;
        if !is_one {
            continue;
        }
        targets.push(Target::read(resource, at)?);
        let message = format!("Found valid ApplyTimeMutation object (item: {at})");
        list.results.push(resource.result(Severity::Info, message).into());
    }
    Ok(targets)
}

fn wrote(resource: &Resource, at: usize) -> FunctionResult {
    let message = format!("Wrote apply-time-mutation annotation (item: {at})");
    resource.result(Severity::Info, message).into()
}

/// Writes the annotation, and the tokens into the fields that have comments.
fn write(resource: &mut Resource, note: &[Substitution], marks: &[Mark]) -> Result<(), Error> {
    let text = text(note)?;
    change(resource, |changes, resource| {
        for mark in marks {
            let Some(value) = &mark.value else { continue };
            if let Some(node) = mark.find(resource) {
                changes.set(&Spot::There(node), value);
            }
        }
        match changes.follow(resource.root(), &["metadata", "annotations", ANNOTATION]) {
            Some(spot) => changes.set(&spot, &text),
            None => {
                let message = "`metadata.annotations` is no mapping, and gets an annotation";
                let hint = "make it a mapping of names to values, or remove it";
                return Err(at(resource, metadata(resource), message, hint));
            }
        }
        Ok(())
    })
}

fn metadata(resource: &Resource) -> NodeRef<'_> {
    resource.get("metadata").unwrap_or_else(|| resource.root())
}
