//! Functions as WASI modules: standard streams, arguments, a clock and random bytes; no files, no network.

mod abi;
mod host;
mod imports;
mod module;
mod polling;
mod state;

use std::time::Instant;

use wasmi::{Linker, Module, Store, TrapCode, TypedResumableCall};

use self::state::{State, Stop};
use crate::function::{End, Ran};
use crate::{Failure, Function, Interrupt, Limits, Listener, Outcome, Reason};

/// Steps between two looks at the clock: some ten milliseconds.
const SLICE: u64 = 10_000_000;

/// What a module sees beside its standard streams.
#[derive(Clone, Debug, Default)]
pub struct WasiSettings {
    /// Its arguments, without its own name.
    pub args: Vec<String>,
    /// Its variables.
    pub variables: Vec<(String, String)>,
}

/// A WASI module (preview 1, as `wasm32-wasip1` and `GOOS=wasip1` make them) as a function.
///
/// It is interpreted: slower than machine code, but it starts in milliseconds, and no page of memory is executable.
///
/// ```
/// use krm_run::{Function, Interrupt, Limits, Wasi, WasiSettings};
///
/// // A module that writes `kind: List` to standard output and ends.
/// let module = wat::parse_str(r#"(module
///     (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
///     (memory (export "memory") 1)
///     (data (i32.const 0) "\08\00\00\00\0b\00\00\00kind: List\n")
///     (func (export "_start") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 32)))))"#)?;
/// let function = Wasi::new("list.wasm", &module, WasiSettings::default())?;
/// let outcome = function.run(b"", &Limits::default(), &Interrupt::new())?;
/// assert_eq!(outcome.stdout, "kind: List\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Wasi {
    name: Box<str>,
    module: Module,
    linker: Linker<State>,
    settings: WasiSettings,
}

impl Wasi {
    /// Reads a module from the bytes of a `.wasm` file; the name is for people.
    ///
    /// # Errors
    /// A [`Failure`] for what is no module, is a component, or wants something from outside that is not WASI.
    pub fn new(name: &str, bytes: &[u8], settings: WasiSettings) -> Result<Self, Failure> {
        let failure = |words: String| Failure::new(name, Reason::NotAModule(words.into()));
        let module = module::read(bytes).map_err(failure)?;
        let linker =
            imports::linker(module.engine()).map_err(|error| failure(error.to_string()))?;
        module::check(&module).map_err(failure)?;
        Ok(Self { name: name.into(), module, linker, settings })
    }

    /// Runs in slices, and looks at clock, interrupt and steps between them.
    fn steps(&self, store: &mut Store<State>, limits: &Limits) -> Result<End, wasmi::Error> {
        let mut spent = SLICE.min(limits.steps);
        store.set_fuel(spent)?;
        let instance = match self.linker.instantiate_and_start(&mut *store, &self.module) {
            Ok(instance) => instance,
            Err(error) => return Ok(not_begun(&error)),
        };
        store.data_mut().memory.begun = true;
        let start = instance.get_typed_func::<(), ()>(&*store, "_start")?;
        let mut call = start.call_resumable(&mut *store, ())?;
        loop {
            let paused = match call {
                TypedResumableCall::Finished(()) => return Ok(End::Exit(0)),
                TypedResumableCall::HostTrap(trap) => return Ok(end_of(trap.host_error())),
                TypedResumableCall::OutOfFuel(paused) => paused,
            };
            store.data().check().map_err(wasmi::Error::host)?;
            let (needed, left) = (paused.required_fuel(), limits.steps - spent);
            if needed.max(1) > left {
                return Ok(End::Stopped(Reason::TooManySteps(limits.steps)));
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

    fn run_heard(
        &self,
        input: &[u8],
        limits: &Limits,
        interrupt: &Interrupt,
        _: &mut Listener<'_>,
    ) -> Result<Outcome, Failure> {
        let start = Instant::now();
        let state = State::new(&self.name, &self.settings, input, limits, interrupt);
        let mut store = Store::new(self.module.engine(), state);
        store.limiter(|state| &mut state.memory);
        let end = if interrupt.is_interrupted() {
            Ok(End::Stopped(Reason::Interrupted))
        } else {
            self.steps(&mut store, limits)
        };
        let state = store.into_data();
        let end = end.unwrap_or_else(|error| end_of(&error));
        // Programs end in many ways when memory is refused; this is what they mean.
        let end = if state.memory.is_refused() && is_failure(&end) {
            End::Stopped(Reason::TooMuchMemory(limits.memory))
        } else {
            end
        };
        let ran = Ran { stdout: state.stdout, stderr: state.stderr, time: start.elapsed(), end };
        ran.judge(&self.name)
    }
}

fn is_failure(end: &End) -> bool {
    match end {
        End::Exit(code) => *code != 0,
        End::Stopped(reason) => matches!(reason, Reason::Trap(_) | Reason::NotAModule(_)),
        End::Signal(_) => true,
    }
}

/// Why a module came not even to its `_start`.
fn not_begun(error: &wasmi::Error) -> End {
    match error.as_trap_code() {
        Some(TrapCode::OutOfFuel) => {
            End::Stopped(Reason::Trap("what it does before `_start` has no end".into()))
        }
        None if error.downcast_ref::<Stop>().is_none() => {
            End::Stopped(Reason::NotAModule(error.to_string().trim_end().into()))
        }
        _ => end_of(error),
    }
}

fn end_of(error: &wasmi::Error) -> End {
    match error.downcast_ref::<Stop>() {
        Some(Stop::Exit(code)) => End::Exit(*code),
        Some(Stop::Reason(reason)) => End::Stopped(reason.clone()),
        None => End::Stopped(Reason::Trap(error.to_string().trim_end().into())),
    }
}
