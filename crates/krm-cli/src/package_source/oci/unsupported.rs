//! A build without the client of registries: it has no settings to call these with.

use std::collections::BTreeMap;

use krm_core::Diagnostic;
use krm_oci::Reference;

use super::super::{FetchedPackage, PackageSource, SourceKind};
use super::settings::Settings;

pub(super) fn open(
    _: &str,
    _: &str,
    settings: &Settings,
) -> Result<Box<dyn PackageSource>, Diagnostic> {
    Err(not_built_in(settings))
}

pub(super) fn push(
    _: &Reference,
    _: &FetchedPackage,
    _: &BTreeMap<String, String>,
    settings: &Settings,
    _: bool,
) -> Result<String, Diagnostic> {
    Err(not_built_in(settings))
}

pub(super) fn image_digest(_: &Reference, settings: &Settings) -> Result<String, Diagnostic> {
    Err(not_built_in(settings))
}

fn not_built_in(settings: &Settings) -> Diagnostic {
    let Settings { insecure: _, mirrors: _ } = settings;
    Diagnostic::error(SourceKind::OciNotBuiltIn)
}
