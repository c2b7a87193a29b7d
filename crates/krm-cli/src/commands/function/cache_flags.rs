//! `--cache` and `--cache-server`: whether results of functions are used again, and shared.

use std::sync::{Arc, OnceLock};

use clap::ValueEnum;
use krm_core::Diagnostic;
use krm_run::{CacheKey, CacheMode, ResultCache, ResultStore, SharedCounts, SharedMode};

use crate::Failure;
use crate::cache_directory::Area;
use crate::console::{Console, plural};
use crate::result_cache::{
    CacheKind, DirectoryStore, ServerAddress, SharedServer, open_server, uploads_by_variable,
};

/// The flags.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Result cache")]
pub(super) struct CacheFlags {
    /// Whether results of Wasm modules and of images with a digest are used again for the same input
    #[arg(long, value_name = "MODE", default_value = "write")]
    cache: Mode,

    /// Server with results that machines share: a URL of bazel-remote, or off [default: $KRM_CACHE_SERVER, or cacheServer of the configuration]
    #[arg(long, value_name = "URL")]
    cache_server: Option<String>,

    /// Also store results on the server, for jobs of CI [default: $KRM_CACHE_UPLOAD]
    #[arg(long)]
    cache_upload: bool,

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
    Cache(ResultCache, Option<Arc<SharedServer>>),
    /// The cache cannot be used for this reason.
    Unusable(CacheKind),
    /// The user or the environment has none.
    Missing,
}

/// A machine without a directory for caches: only the server has results.
#[derive(Debug)]
struct NoStore;

impl ResultStore for NoStore {
    fn get(&self, _: &CacheKey) -> Option<Vec<u8>> {
        None
    }

    fn put(&self, _: &CacheKey, _: &[u8]) -> bool {
        false
    }

    fn discard(&self, _: &CacheKey) {}
}

impl CacheFlags {
    /// The cache; none if every function runs. `configured` is the server of the user's configuration.
    pub(super) fn open(&self, configured: Option<&str>) -> Result<Option<ResultCache>, Failure> {
        if self.opened.get().is_none() {
            let opened = self.create(configured)?;
            let _ = self.opened.set(opened);
        }
        Ok(match self.opened.get() {
            Some(Opened::Cache(cache, _)) => Some(cache.clone()),
            _ => None,
        })
    }

    fn create(&self, configured: Option<&str>) -> Result<Opened, Failure> {
        let server = self.server(configured).map_err(Failure::usage)?;
        let mode = match self.cache {
            Mode::Off => return Ok(Opened::Missing),
            Mode::Read => CacheMode::Read,
            Mode::Write => CacheMode::Write,
            Mode::Verify => CacheMode::Verify,
        };
        let store: Arc<dyn ResultStore> = match Area::Results.directory() {
            Some(directory) => match DirectoryStore::open(directory, Area::Results.size_limit()) {
                Ok(store) => Arc::new(store),
                Err(error) => return Ok(Opened::Unusable(error)),
            },
            None if server.is_some() => Arc::new(NoStore),
            None => return Ok(Opened::Missing),
        };
        let cache = ResultCache::new(store, mode);
        Ok(match server {
            Some((server, mode)) => {
                let server = Arc::new(server);
                let store: Arc<dyn ResultStore> = Arc::<SharedServer>::clone(&server);
                Opened::Cache(cache.with_shared(store, mode), Some(server))
            }
            None => Opened::Cache(cache, None),
        })
    }

    /// The server, and what it is used for.
    fn server(
        &self,
        configured: Option<&str>,
    ) -> Result<Option<(SharedServer, SharedMode)>, Diagnostic> {
        let not_possible = |missing| Diagnostic::error(CacheKind::UploadNotPossible { missing });
        let by_variable = uploads_by_variable().map_err(Diagnostic::error)?;
        if self.cache_upload && matches!(self.cache, Mode::Off | Mode::Read) {
            return Err(not_possible("`--cache write` or `verify`"));
        }
        let Some(address) = ServerAddress::find(self.cache_server.as_deref(), configured) else {
            return match self.cache_upload {
                true => Err(not_possible("a server").hint("add `--cache-server URL`")),
                false => Ok(None),
            };
        };
        let mode = match self.cache_upload || by_variable {
            true => SharedMode::Write,
            false => SharedMode::Read,
        };
        Ok(Some((open_server(&address)?, mode)))
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
            Some(Opened::Cache(cache, server)) => {
                if let Some(failure) = server.as_ref().and_then(|it| it.failure()) {
                    console.report(&Diagnostic::warning(failure));
                }
                let (found, missing) = cache.counts();
                if found + missing > 0 {
                    let found = plural(found, "result");
                    console.detail(&format!("result cache: {found} found, {missing} not found"));
                    cache.shared_counts().iter().for_each(|it| console.detail(&shared_line(*it)));
                }
            }
            Some(Opened::Missing) | None => {}
        }
    }
}

/// How much a server was used.
fn shared_line(counts: SharedCounts) -> String {
    let SharedCounts { found, missing, stored, secret } = counts;
    let found = plural(found, "result");
    let mut line = format!("shared cache: {found} found, {missing} not found");
    if stored > 0 {
        line.push_str(&format!(", {stored} uploaded"));
    }
    if secret > 0 {
        line.push_str(&format!(", {secret} with Secrets not uploaded"));
    }
    line
}
