//! The child: limits itself, reads a request from standard input and writes the response to standard output.

use std::any::Any;
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use krm_catalog::interpreter::{STACK_SIZE, panic_message};

use super::confine::{self, ChildLimits};
use super::{INTERPRETER_ARGUMENT, VERSION, exit, languages};

/// Does what krm started its own program for: evaluates one request (the first argument is [`INTERPRETER_ARGUMENT`]), or builds a
/// sandbox for an image. Returns the exit code, or none for any other command line. Call it first thing in `main`.
///
/// The process limits itself before it reads anything, for the rest of its life.
pub fn serve(arguments: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    if let Some(code) = crate::sandbox::serve(&arguments) {
        return Some(code);
    }
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != INTERPRETER_ARGUMENT {
        return None;
    }
    let version = arguments.next();
    let mut number = || arguments.next()?.to_str()?.parse::<u64>().ok();
    let limits = number().zip(number()).map(|(memory, seconds)| ChildLimits { memory, seconds });
    let Some(limits) = limits.filter(|_| version.is_some_and(|it| it == VERSION)) else {
        return Some(exit::PROTOCOL);
    };
    // The panic is reported where it is caught.
    std::panic::set_hook(Box::new(|_| {}));
    confine::limit_process(&limits);
    let work = || {
        confine::forbid_system_calls();
        run()
    };
    // The stack is the only thing that starting a thread may lack.
    let thread = thread::Builder::new().stack_size(STACK_SIZE).spawn(work);
    Some(thread.map_or(exit::MEMORY, |thread| thread.join().unwrap_or(exit::PANIC)))
}

fn run() -> u8 {
    let mut input = String::new();
    match std::io::stdin().read_to_string(&mut input) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::OutOfMemory => return exit::MEMORY,
        Err(_) => return exit::PROTOCOL,
    }
    let Some((name, request)) = input.split_once('\n') else { return exit::PROTOCOL };
    let Some(language) = languages().find(|language| language.name == name) else {
        return exit::PROTOCOL;
    };
    match catch_unwind(AssertUnwindSafe(|| (language.evaluate)(request))) {
        Ok(response) => {
            let mut stdout = std::io::stdout();
            let written = stdout.write_all(response.as_bytes()).and_then(|()| stdout.flush());
            // Without a reader nobody sees the exit code either.
            written.map_or(exit::PROTOCOL, |()| 0)
        }
        Err(panic) => panicked(&*panic),
    }
}

/// Reports a panic. Allocators of the interpreters panic where that of the standard library aborts.
fn panicked(panic: &(dyn Any + Send)) -> u8 {
    let text = panic_message(panic);
    if matches!(text, "out of memory" | "capacity overflow") {
        return exit::MEMORY;
    }
    let line = text.lines().next().unwrap_or_default();
    // Nobody reads it if this fails.
    let _ = writeln!(std::io::stderr(), "{line}");
    exit::PANIC
}
