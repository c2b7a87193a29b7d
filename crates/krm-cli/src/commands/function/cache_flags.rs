//! `--cache`: whether results of functions are used again.

use std::sync::{Arc, OnceLock};

use clap::ValueEnum;
use krm_core::Diagnostic;
use krm_run::{CacheMode, ResultCache};

use crate::cache_directory::Area;
use crate::console::{Console, plural};
use crate::result_cache::{CacheKind, DirectoryStore};

/// The flags.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Result cache")]
pub(super) struct CacheFlags {
    /// Whether results of Wasm modules and of images with a digest are used again for the same input
    #[arg(long, value_name = "MODE", default_value = "write")]
    cache: Mode,

    /// What was opened, for the report at the end.
    #[arg(skip)]
    opened: OnceLock<Opened>,
}

/// The use of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Run every function
    Off,
    /// Use results, and store none
    Read,
    /// Use and store results
    Write,
    /// Run every function, and fail if a result differs from the cached one
    Verify,
}

/// The cache of a command.
#[derive(Clone, Debug)]
enum Opened {
    Cache(ResultCache),
    /// The cache cannot be used for this reason.
    Unusable(CacheKind),
    /// The user or the environment has none.
    Missing,
}

impl CacheFlags {
    /// The cache; none if every function runs.
    pub(super) fn open(&self) -> Option<ResultCache> {
        match self.opened.get_or_init(|| self.create()) {
            Opened::Cache(cache) => Some(cache.clone()),
            Opened::Unusable(_) | Opened::Missing => None,
        }
    }

    fn create(&self) -> Opened {
        let mode = match self.cache {
            Mode::Off => return Opened::Missing,
            Mode::Read => CacheMode::Read,
            Mode::Write => CacheMode::Write,
            Mode::Verify => CacheMode::Verify,
        };
        let Some(directory) = Area::Results.directory() else { return Opened::Missing };
        match DirectoryStore::open(directory, Area::Results.size_limit()) {
            Ok(store) => Opened::Cache(ResultCache::new(Arc::new(store), mode)),
            Err(error) => Opened::Unusable(error),
        }
    }

    /// The store for the index of rendered packages, and whether it is updated; none if everything is rendered.
    pub(super) fn index_store(&self) -> Option<(DirectoryStore, bool)> {
        let writes = match self.cache {
            Mode::Off | Mode::Verify => return None,
            Mode::Read => false,
            Mode::Write => true,
        };
        let area = Area::Results;
        let store = DirectoryStore::open(area.directory()?, area.size_limit()).ok()?;
        Some((store, writes))
    }

    /// Reports why the cache was not used, and with `--verbose` how much.
    pub(super) fn report(&self, console: &mut Console) {
        match self.opened.get() {
            Some(Opened::Unusable(kind)) => console.report(&Diagnostic::warning(kind.clone())),
            Some(Opened::Cache(cache)) => {
                let (found, missing) = cache.counts();
                if found + missing > 0 {
                    let found = plural(found, "result");
                    console.detail(&format!("result cache: {found} found, {missing} not found"));
                }
            }
            Some(Opened::Missing) | None => {}
        }
    }
}
