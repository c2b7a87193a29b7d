//! `krm cache stats`: how large the parts of the cache are.

use std::fs;

use krm_core::print::Record;
use krm_yaml::Value;

use super::{directory, size, size_of};
use crate::cache_directory::Area;
use crate::commands::list_output::ListOutput;
use crate::console::{Console, Table, number};
use crate::result_cache::{DirectoryStore, Usage};
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cache stats
  krm cache stats -o json
  KRM_CACHE_DIR=/var/cache/krm krm cache stats";

/// Print how large the parts of the cache are.
///
/// The parts are results of functions, images, and repositories of packages (git).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    list: ListOutput,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let mut records: Vec<Record<'static>> = Vec::new();
    let mut table = Table::new(&["PART", "ENTRIES", "SIZE", "LIMIT", "DIRECTORY"]);
    for area in Area::ALL {
        let (path, used, limit) = (directory(area)?, usage(area)?, area.size_limit());
        let path = path.display().to_string();
        let integer = |number: u64| Value::int(i64::try_from(number).unwrap_or(i64::MAX));
        table.row(vec![
            area.name().to_owned(),
            number(used.entries),
            size(used.bytes),
            size(limit),
            path.clone(),
        ]);
        records.push(vec![
            ("part", Value::from(area.name())),
            ("entries", integer(used.entries as u64)),
            ("bytes", integer(used.bytes)),
            ("limit", integer(limit)),
            ("directory", Value::string(path)),
        ]);
    }
    args.list.print(console, || table.render(false), || records)?;
    Ok(Exit::Success)
}

/// What a part has.
fn usage(area: Area) -> Result<Usage, Failure> {
    let path = directory(area)?;
    let entries = |path| fs::read_dir(path).into_iter().flatten().flatten();
    let mut usage = Usage::default();
    match area {
        Area::Results => {
            if let Ok(store) = DirectoryStore::open(path, area.size_limit()) {
                usage = store.usage();
            }
        }
        Area::Git => {
            let directories = entries(path).map(|it| it.path()).filter(|it| it.is_dir());
            directories.for_each(|it| usage.add(size_of(&it)));
        }
        Area::Images => {
            let roots = entries(path.join("roots")).map(|it| it.path()).filter(|it| it.is_dir());
            roots.for_each(|it| usage.add(size_of(&it)));
            let blobs = entries(path.join("blobs/sha256"));
            blobs.for_each(|it| usage.add(it.metadata().map_or(0, |it| it.len())));
        }
    }
    Ok(usage)
}
