//! `krm cache prune`: removes what was not used for the longest time.

use krm_core::Diagnostic;

use super::size;
use crate::cache_directory::Area;
use crate::commands::function::limits;
use crate::console::{Console, number};
use crate::disk::io_reason;
use crate::package_source::cache;
use crate::result_cache::{CacheKind, DirectoryStore, Usage};
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cache prune
  krm cache prune --max-size 200m
  krm cache prune --max-size 0";

/// Remove what was not used for the longest time.
///
/// Each part of the cache is reduced to its limit, or to --max-size. Everything that is removed is fetched or computed again when it is
/// needed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Size to which each part is reduced: 200m, 1g; 0 removes everything [default: the limit of the part]
    #[arg(long, value_name = "SIZE", value_parser = max_size)]
    max_size: Option<u64>,
}

fn max_size(text: &str) -> Result<u64, String> {
    if text == "0" { Ok(0) } else { limits::size(text) }
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let mut errors = Vec::new();
    for area in Area::ALL {
        let limit = args.max_size.unwrap_or(area.size_limit());
        let removed = match prune(area, limit) {
            Ok(removed) => removed,
            // Such as a store of images that is read-only, as in CI. The other parts are pruned all the same.
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        let entries = match removed.entries {
            1 => "1 entry".to_owned(),
            count => format!("{} entries", number(count)),
        };
        console.status(&format!("{}: removed {entries}, {}", area.name(), size(removed.bytes)));
    }
    match errors.is_empty() {
        true => Ok(Exit::Success),
        false => Err(Failure::Diagnostics(Exit::Input, errors)),
    }
}

fn prune(area: Area, limit: u64) -> Result<Usage, Diagnostic> {
    let Some(path) = area.directory() else {
        return Err(Diagnostic::error(CacheKind::NoDirectory));
    };
    match area {
        Area::Results => {
            let store = DirectoryStore::open(path, limit).map_err(Diagnostic::error)?;
            store.prune(limit).map_err(|error| {
                Diagnostic::error(CacheKind::CannotPrune { reason: io_reason(&error) })
            })
        }
        Area::Git => Ok(cache::evict_until(&path, limit, None)),
        Area::Images => prune_images(&path, limit),
    }
}

#[cfg(feature = "oci")]
fn prune_images(path: &std::path::Path, limit: u64) -> Result<Usage, Diagnostic> {
    /// How long a process that uses the store may still need.
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);
    let pruned = krm_oci::Store::prune(path, limit, PATIENCE).map_err(Diagnostic::error)?;
    Ok(Usage { entries: pruned.entries, bytes: pruned.bytes })
}

/// A build without registries has no images.
#[cfg(not(feature = "oci"))]
fn prune_images(_: &std::path::Path, _: u64) -> Result<Usage, Diagnostic> {
    Ok(Usage::default())
}
