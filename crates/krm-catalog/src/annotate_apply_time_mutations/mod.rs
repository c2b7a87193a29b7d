//! `annotate-apply-time-mutations`: annotates resources with the fields that are set when they are applied.

mod comment;
mod substitution;

use krm_sdk::{Error, FunctionResult, Resource, ResourceList, Severity};
use krm_yaml::NodeRef;

use crate::changes::{FieldSlot, change, not_a_mapping};
use crate::{Builtin, Run, releases};
use comment::{MarkedField, marked_fields};
use substitution::{Mutation, Reference, Substitution, text};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "annotate-apply-time-mutations",
    aliases: &[],
    summary: "annotate resources with the fields that are set when they are applied",
    doc: include_str!("../../doc/annotate-apply-time-mutations.md"),
    releases: releases::ANNOTATE_APPLY_TIME_MUTATIONS,
    run: Run::Native(run),
};

const ANNOTATION: &str = "config.kubernetes.io/apply-time-mutation";

/// Annotates all resources that an `ApplyTimeMutation` or a comment of their own refers to.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let mutations = mutations(list)?;
    let mut annotations: Vec<Vec<Substitution>> = Vec::new();
    for (at, resource) in list.items.iter().enumerate() {
        let of_resources = mutations.iter().filter(|it| it.targets(resource));
        let annotation: Vec<Substitution> =
            of_resources.flat_map(|it| it.substitutions.iter().cloned()).collect();
        if !annotation.is_empty() {
            list.results.push(written_result(resource, at));
        }
        annotations.push(annotation);
    }
    let without_target =
        mutations.iter().filter(|mutation| !list.items.iter().any(|it| mutation.targets(it)));
    let warnings: Vec<FunctionResult> = without_target
        .map(|mutation| {
            let message = "the target of this ApplyTimeMutation is not among the resources";
            let result = list.items[mutation.item].result(Severity::Warning, message);
            result.field("spec.targetRef").into()
        })
        .collect();
    list.results.extend(warnings);
    for (at, annotation) in annotations.iter_mut().enumerate() {
        let resource = &mut list.items[at];
        let fields = marked_fields(resource)?;
        for field in &fields {
            let message =
                format!("Found valid apply-time-mutation comment (item: {at}): {}", field.comment);
            list.results.push(field.result(resource, message));
        }
        if !fields.is_empty() {
            list.results.push(written_result(resource, at));
        }
        annotation.extend(fields.iter().flat_map(|field| field.substitutions.iter().cloned()));
        if !annotation.is_empty() {
            write(resource, annotation, &fields)?;
        }
    }
    Ok(())
}

/// The `ApplyTimeMutation` resources of the list.
fn mutations(list: &mut ResourceList) -> Result<Vec<Mutation>, Error> {
    let mut mutations = Vec::new();
    for (at, resource) in list.items.iter().enumerate() {
        let is_mutation = resource.kind() == "ApplyTimeMutation"
            && resource.api_version() == crate::config::API_VERSION;
        if !is_mutation {
            continue;
        }
        mutations.push(Mutation::read(resource, at)?);
        let message = format!("Found valid ApplyTimeMutation object (item: {at})");
        list.results.push(resource.result(Severity::Info, message).into());
    }
    Ok(mutations)
}

fn written_result(resource: &Resource, at: usize) -> FunctionResult {
    let message = format!("Wrote apply-time-mutation annotation (item: {at})");
    resource.result(Severity::Info, message).into()
}

/// Writes the annotation, and the tokens into the fields that have comments.
fn write(
    resource: &mut Resource,
    annotation: &[Substitution],
    fields: &[MarkedField],
) -> Result<(), Error> {
    let text = text(annotation)?;
    change(resource, |changes, resource| {
        for field in fields {
            let Some(value) = &field.value else { continue };
            if let Some(node) = field.find(resource) {
                changes.set(&FieldSlot::Existing(node), value);
            }
        }
        match changes.follow(resource.root(), &["metadata", "annotations", ANNOTATION]) {
            Some(slot) => changes.set(&slot, &text),
            None => {
                return Err(not_a_mapping(resource, metadata(resource), ANNOTATION));
            }
        }
        Ok(())
    })
}

fn metadata(resource: &Resource) -> NodeRef<'_> {
    resource.get_in(["metadata"]).unwrap_or_else(|| resource.root())
}
