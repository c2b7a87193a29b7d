//! `fix`: upgrades packages of kpt before version 1.

mod functions;
mod packages;
mod setters_file;

use krm_core::setters::{Dialect, MigrateSetters, Setters, find_setter_fields};
use krm_core::{PackageFile, PackagePath};
use krm_sdk::results::FileRef;
use krm_sdk::{Diagnostic, Error, FunctionResult, Resource, ResourceList, Severity};

use crate::config::with_context;
use crate::kinds::CatalogKind;
use crate::{Builtin, Run, Version, releases, results};
use packages::Packages;

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "fix",
    aliases: &[],
    summary: "upgrade packages of kpt before version 1",
    doc: include_str!("../../doc/fix.md"),
    releases: releases::FIX,
    run: Run::Versioned(run),
};

const KPT_V1: &str = "kpt.dev/v1";
const INVENTORY_LABEL: &str = "cli-utils.sigs.k8s.io/inventory-id";

/// How a release upgrades; see [`releases::FIX`].
#[derive(Clone, Copy)]
struct Conventions {
    /// The name of the ConfigMap with the setters, and of its file without `.yaml`.
    setters: &'static str,
    /// The image that reads the setters.
    image: &'static str,
    /// Whether the setters of all tags of apply-setters move to the file, and not only those of v0.1.
    moves_all_setters: bool,
    /// Whether the file of a functionConfig is named after it.
    renames_files: bool,
}

impl Conventions {
    fn of(version: Version) -> Self {
        let is_released = version <= Version::new(0, 2, 1);
        let is_first = version < Version::new(0, 2, 1);
        Self {
            setters: if is_first { "setters-config" } else { "setters" },
            image: match is_released {
                true => "gcr.io/kpt-fn/apply-setters:v0.1",
                false => "gcr.io/kpt-fn/apply-setters:v0.2",
            },
            moves_all_setters: !is_released,
            renames_files: !is_first,
        }
    }
}

/// Upgrades all packages among the resources.
pub fn run(list: &mut ResourceList, version: Version) -> Result<(), Error> {
    fix(list, Conventions::of(version))
        .map_err(|error| with_context(error, "failed to fix package"))
}

fn fix(list: &mut ResourceList, conventions: Conventions) -> Result<(), Error> {
    let packages = Packages::of(&list.items);
    if packages.is_empty() {
        let message = "Kptfile not found in directory tree, make sure you specify '--include-meta-resources' flag";
        let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
        return Err(error.hint("run the function on the directory of the Kptfile").into());
    }
    let count = list.items.len();
    for at in 0..count {
        match packages.members(at) {
            Some(members) => fix_package(list, at, members, conventions)?,
            None if list.items[at].label(INVENTORY_LABEL).is_some_and(|id| !id.is_empty()) => {
                let message = "Please refer to https://googlecontainertools.github.io/kpt/reference/live/alpha/, this package is using \"inventory-object\"";
                list.results.push(of_file(list.items[at].path(), message));
            }
            None => {}
        }
    }
    Ok(())
}

/// The version of a Kptfile before version 1.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OldVersion {
    V1Alpha1,
    V1Alpha2,
}

fn fix_package(
    list: &mut ResourceList,
    kptfile: usize,
    members: &[usize],
    conventions: Conventions,
) -> Result<(), Error> {
    let path = list.items[kptfile].path().cloned();
    let mut report = |message: &str| list.results.push(of_file(path.as_ref(), message));
    let api_version = list.items[kptfile].api_version();
    let version = match &*api_version {
        KPT_V1 => {
            let message =
                format!("This package is already fixed as it is on latest apiVersion {KPT_V1}");
            report(&message);
            return Ok(());
        }
        "kpt.dev/v1alpha1" => OldVersion::V1Alpha1,
        "kpt.dev/v1alpha2" => OldVersion::V1Alpha2,
        _ => return Err(unknown_version(&list.items[kptfile])),
    };
    match version {
        OldVersion::V1Alpha2 => report(&format!("Updated apiVersion to {KPT_V1}")),
        OldVersion::V1Alpha1 => {
            let has = |field| list.items[kptfile].get_in([field]).is_some();
            if has("packageMetadata") {
                report("Transformed \"packageMetadata\" to \"info\"");
            }
            if has("upstream") {
                report("Transformed \"upstream\" to \"upstream\" and \"upstreamLock\"");
            }
        }
    }
    let losses = upgrade(&mut list.items, kptfile, members)?;
    let setters = setters_file::move_setters(&mut list.items, kptfile, version, conventions)?;
    if version == OldVersion::V1Alpha1 {
        functions::move_functions(list, kptfile, members, conventions)?;
    }
    if let Some(setters) = setters {
        let (path, message) = match version {
            OldVersion::V1Alpha1 => {
                (path, "Transformed \"openAPI\" definitions to \"apply-setters\" function")
            }
            OldVersion::V1Alpha2 => {
                (setters.path().cloned(), "Moved setters from configMap to configPath")
            }
        };
        list.results.push(of_file(path.as_ref(), message));
        list.items.push(setters);
    }
    list.results.extend(losses.iter().map(results::warning));
    Ok(())
}

/// Upgrades the Kptfile and the references to its setters. Returns what version 1 has no place for.
fn upgrade(
    items: &mut [Resource],
    kptfile: usize,
    members: &[usize],
) -> Result<Vec<Diagnostic>, Error> {
    let members: Vec<usize> = std::iter::once(kptfile).chain(members.iter().copied()).collect();
    let files: Vec<PackageFile> = members.iter().map(|at| file_of(items, *at)).collect();
    let scans = files.iter().map(find_setter_fields).collect();
    let setters = Setters::new(files.iter().collect(), &[], scans);
    let migrated =
        MigrateSetters { to: Dialect::KptSet }.compute(&setters).map_err(Error::of_diagnostics)?;
    for (at, file) in members.iter().zip(&files) {
        if let Some(text) = migrated.changes.text(file)? {
            items[*at].replace(text)?;
        }
    }
    Ok(migrated.losses)
}

/// A resource as a file. Changes are collected by the names of files, so that resources of one file need different names.
fn file_of(items: &[Resource], at: usize) -> PackageFile {
    let mut file = items[at].item().package_file();
    let before = items[..at].iter().filter(|it| it.path() == items[at].path()).count();
    if before > 0 {
        file.display_path.push_str(&format!(", resource {}", before + 1));
    }
    file
}

fn unknown_version(kptfile: &Resource) -> Error {
    let message = "please make sure the package has a valid 'v1alpha1' Kptfile: unknown apiVersion";
    let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
    let at = kptfile.get_in(["apiVersion"]).unwrap_or_else(|| kptfile.root());
    let error = error.at(kptfile.item().file(), at.span());
    let hint = "versions are `kpt.dev/v1alpha1`, `kpt.dev/v1alpha2` and `kpt.dev/v1`";
    crate::changes::in_resource(kptfile, error.hint(hint))
}

fn of_file(path: Option<&PackagePath>, message: &str) -> FunctionResult {
    let file = path.map(|path| FileRef { path: path.into(), index: 0 });
    FunctionResult { file, ..FunctionResult::new(Severity::Info, message) }
}
