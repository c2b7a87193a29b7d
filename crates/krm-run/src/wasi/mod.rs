//! Wasm functions: WASI modules with standard streams, arguments, a clock and random bytes; no files, no network.

mod abi;
mod host;
mod imports;
mod module;
mod polling;
mod state;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use wasmi::{Linker, Module, Store, TrapCode, TypedResumableCall};

use self::state::{State, Stop};
use crate::result_cache::bytes_digest;
use crate::{Execution, ExecutionEnd, Function, FunctionIdentity, Invocation, Limits, RunKind};

/// Instructions between two checks of the clock and the interrupt: about ten milliseconds.
const SLICE: u64 = 10_000_000;

/// What a module receives in addition to its standard streams.
#[derive(Clone, Debug, Default)]
pub struct WasiSettings {
    /// Its arguments, without its own name.
    pub args: Vec<String>,
    /// Its variables.
    pub variables: Vec<(String, String)>,
}

/// A WASI module (preview 1, the target of `wasm32-wasip1` and `GOOS=wasip1`) as a function.
///
/// It is interpreted. That is slower than machine code, but starts in milliseconds and needs no executable memory.
///
/// ```
/// use krm_run::{Function, Invocation, Wasi, WasiSettings};
///
/// // A module that writes `kind: List` to standard output and exits.
/// let module = wat::parse_str(r#"(module
///     (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
///     (memory (export "memory") 1)
///     (data (i32.const 0) "\08\00\00\00\0b\00\00\00kind: List\n")
///     (func (export "_start") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 32)))))"#)?;
/// let function = Wasi::new("list.wasm", &module, WasiSettings::default())?;
/// let execution = function.run(&mut Invocation::new(b""));
/// assert_eq!(execution.output()?, "kind: List\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Wasi {
    name: Box<str>,
    bytes: Vec<u8>,
    compiled: OnceLock<Result<Compiled, RunKind>>,
    settings: WasiSettings,
    /// The digest of the bytes, once it is needed.
    digest: OnceLock<[u8; 32]>,
    /// The file that it was read from.
    file: Option<PathBuf>,
}

/// A module that is ready to run.
#[derive(Debug)]
struct Compiled {
    module: Module,
    linker: Linker<State>,
}

impl Compiled {
    fn new(bytes: &[u8]) -> Result<Self, RunKind> {
        let invalid = |reason: String| RunKind::InvalidModule { reason };
        let module = module::read(bytes).map_err(invalid)?;
        let linker =
            imports::linker(module.engine()).map_err(|error| invalid(error.to_string()))?;
        module::check(&module).map_err(invalid)?;
        Ok(Self { module, linker })
    }
}

impl Wasi {
    /// Reads a module from the bytes of a `.wasm` file; the name is used in messages.
    ///
    /// # Errors
    /// If the bytes are not a module, are a component, or import something that is not WASI.
    pub fn new(name: &str, bytes: &[u8], settings: WasiSettings) -> Result<Self, RunKind> {
        let compiled = OnceLock::from(Ok(Compiled::new(bytes)?));
        Ok(Self { compiled, ..Self::deferred(name, bytes.to_vec(), settings) })
    }

    /// Like [`Wasi::new`], for a module that is compiled when it runs first. An error is reported then.
    pub(crate) fn deferred(name: &str, bytes: Vec<u8>, settings: WasiSettings) -> Self {
        Self {
            name: name.into(),
            bytes,
            compiled: OnceLock::new(),
            settings,
            digest: OnceLock::new(),
            file: None,
        }
    }

    /// Sets the digest of the bytes, where it is known.
    #[must_use]
    pub(crate) fn with_digest(self, digest: [u8; 32]) -> Self {
        Self { digest: digest.into(), ..self }
    }

    /// Names the file that the module was read from.
    #[must_use]
    pub(crate) fn read_from(self, file: &Path) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }

    /// Runs the module in slices of fuel. Between them the clock, the interrupt and the limit of steps are checked: wasmi
    /// has no way to stop an instance from another thread.
    fn run_slices(
        compiled: &Compiled,
        store: &mut Store<State>,
        limits: &Limits,
    ) -> Result<ExecutionEnd, wasmi::Error> {
        let mut spent = SLICE.min(limits.steps);
        store.set_fuel(spent)?;
        let instance = match compiled.linker.instantiate_and_start(&mut *store, &compiled.module) {
            Ok(instance) => instance,
            Err(error) => return Ok(end_of_instantiation(&error)),
        };
        store.data_mut().memory.started = true;
        let start = instance.get_typed_func::<(), ()>(&*store, "_start")?;
        let mut call = start.call_resumable(&mut *store, ())?;
        loop {
            let paused = match call {
                TypedResumableCall::Finished(()) => return Ok(ExecutionEnd::Exited(0)),
                TypedResumableCall::HostTrap(trap) => return Ok(end_of(trap.host_error())),
                TypedResumableCall::OutOfFuel(paused) => paused,
            };
            store.data().check().map_err(wasmi::Error::host)?;
            let (needed, left) = (paused.required_fuel(), limits.steps - spent);
            if needed.max(1) > left {
                return Ok(ExecutionEnd::Stopped(RunKind::StepLimit { limit: limits.steps }));
            }
            let more = needed.max(SLICE).min(left);
            spent += more;
            store.set_fuel(store.get_fuel()?.saturating_add(more))?;
            call = paused.resume(&mut *store)?;
        }
    }
}

impl Function for Wasi {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, invocation: &mut Invocation<'_>) -> Execution {
        let (start, limits) = (Instant::now(), invocation.limits);
        if invocation.interrupt.is_interrupted() {
            return Execution::not_started(RunKind::Interrupted);
        }
        let compiled = match self.compiled.get_or_init(|| Compiled::new(&self.bytes)) {
            Ok(compiled) => compiled,
            Err(error) => return Execution::not_started(error.clone()),
        };
        let state = State::new(&self.name, &self.settings, invocation);
        let mut store = Store::new(compiled.module.engine(), state);
        store.limiter(|state| &mut state.memory);
        let end =
            Self::run_slices(compiled, &mut store, &limits).unwrap_or_else(|error| end_of(&error));
        let state = store.into_data();
        // A program whose memory does not grow traps, aborts or exits with an error, depending on its language.
        let end = match state.memory.is_refused() && is_failure(&end) {
            true => ExecutionEnd::Stopped(RunKind::MemoryLimit { limit: limits.memory }),
            false => end,
        };
        let duration = start.elapsed();
        Execution { stdout: state.stdout, stderr: state.stderr, duration, image: None, end }
    }

    /// A module has a clock and random bytes. One that writes them is impure, which only a second run shows.
    fn identity(&self) -> Option<FunctionIdentity> {
        let mut identity = FunctionIdentity::new("wasm")
            .field("module", self.digest.get_or_init(|| bytes_digest(&self.bytes)))
            .field("name", self.name.as_bytes());
        for argument in &self.settings.args {
            identity = identity.field("argument", argument.as_bytes());
        }
        for (name, value) in &self.settings.variables {
            identity = identity.field("variable", name.as_bytes()).field("value", value.as_bytes());
        }
        Some(match &self.file {
            Some(file) => identity.read_from(file),
            None => identity,
        })
    }
}

fn is_failure(end: &ExecutionEnd) -> bool {
    match end {
        ExecutionEnd::Exited(code) => *code != 0,
        ExecutionEnd::Stopped(kind) => {
            matches!(kind, RunKind::Crashed { .. } | RunKind::InvalidModule { .. })
        }
        ExecutionEnd::Signaled(_) => true,
    }
}

/// Why a module did not reach its `_start`.
fn end_of_instantiation(error: &wasmi::Error) -> ExecutionEnd {
    let kind = match error.as_trap_code() {
        Some(TrapCode::OutOfFuel) => {
            RunKind::Crashed { reason: "its start function does not return".to_owned() }
        }
        None if error.downcast_ref::<Stop>().is_none() => {
            RunKind::InvalidModule { reason: error.to_string().trim_end().to_owned() }
        }
        _ => return end_of(error),
    };
    ExecutionEnd::Stopped(kind)
}

fn end_of(error: &wasmi::Error) -> ExecutionEnd {
    match error.downcast_ref::<Stop>() {
        Some(Stop::Exit(code)) => ExecutionEnd::Exited(*code),
        Some(Stop::Limit(kind)) => ExecutionEnd::Stopped(kind.clone()),
        None => {
            let reason = error.to_string().trim_end().to_owned();
            ExecutionEnd::Stopped(RunKind::Crashed { reason })
        }
    }
}
