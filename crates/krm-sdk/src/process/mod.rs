//! The main program of a function: command line, stdin, stdout, stderr and files.
//!
//! Nothing else in the SDK does I/O, so a function runs in a process, in a container, as a WASI module and inside krm alike.

mod arguments;
mod files;
mod usage;

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::Path;
use std::sync::Mutex;

use arguments::{Arguments, Request};

use crate::kinds::FunctionKind;
use crate::stream::Stream;
use crate::{Error, Function, Resource, output};

/// The exit code for invalid arguments.
const USAGE: i32 = 2;

/// Runs a function as the main program: from stdin to stdout, or as the arguments request.
///
/// ```no_run
/// use krm_sdk::{Error, ResourceList};
///
/// fn my_function(list: &mut ResourceList) -> Result<(), Error> {
///     list.of_kind_mut("Deployment").try_for_each(|deployment| deployment.set("spec.replicas", 3))
/// }
///
/// fn main() {
///     krm_sdk::run(my_function)
/// }
/// ```
pub fn run(function: impl Into<Function>) -> ! {
    let mut function = function.into();
    let mut arguments = std::env::args();
    let program = program_name(&arguments.next().unwrap_or_default());
    if function.name.is_empty() {
        function.name = program;
    }
    exit(start(&function, &arguments.collect::<Vec<_>>()))
}

/// Runs one of several functions, selected by the name of the program or by its first argument.
///
/// ```no_run
/// use krm_sdk::{Error, Function, ResourceList};
///
/// fn one(_: &mut ResourceList) -> Result<(), Error> { Ok(()) }
/// fn other(_: &mut ResourceList) -> Result<(), Error> { Ok(()) }
///
/// fn main() {
///     krm_sdk::run_many([Function::new("one", one), Function::new("other", other)])
/// }
/// ```
pub fn run_many(functions: impl IntoIterator<Item = Function>) -> ! {
    let functions: Vec<Function> = functions.into_iter().collect();
    let mut arguments = std::env::args();
    let program = program_name(&arguments.next().unwrap_or_default());
    let mut arguments: Vec<String> = arguments.collect();
    let find = |name: &str| functions.iter().find(|function| function.name == name);
    if let Some(function) = find(&program) {
        exit(start(function, &arguments));
    }
    let Some(first) = arguments.first().cloned() else {
        write_stderr(&usage::program(&program, &functions));
        exit(USAGE);
    };
    if matches!(first.as_str(), "--help" | "-h" | "help") {
        exit(write_stdout(&usage::program(&program, &functions)));
    }
    match find(&first) {
        Some(function) => {
            arguments.remove(0);
            exit(start(function, &arguments))
        }
        None => {
            let names = functions.iter().map(|function| function.name.as_str());
            let near = krm_core::diagnostics::closest_name(names, &first);
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            write_stderr(&format!("error: unknown function `{first}`{hint}\n"));
            write_stderr(&usage::program(&program, &functions));
            exit(USAGE)
        }
    }
}

fn program_name(program: &str) -> String {
    let stem = Path::new(program).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_default()
}

fn start(function: &Function, arguments: &[String]) -> i32 {
    let arguments = match Arguments::parse(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            write_stderr(&format!("error: {error}; see `{} --help`\n", function.name));
            return USAGE;
        }
    };
    install_panic_hook();
    match arguments.request {
        Some(Request::Help) => return write_stdout(&usage::function(function)),
        Some(Request::Doc) => {
            return write_stdout(&(krm_core::print::json::display(&function.doc()) + "\n"));
        }
        Some(Request::Schema) => return schema(function),
        None => {}
    }
    let config = match arguments.config() {
        Ok(config) => config,
        Err(error) => return fail(&error),
    };
    if arguments.files.is_empty() {
        return filter(function, config);
    }
    match files::run(function, config, &arguments) {
        Ok(code) => code,
        Err(error) => fail(&error),
    }
}

fn schema(function: &Function) -> i32 {
    match function.schema() {
        Some(schema) => write_stdout(&(krm_core::print::json::display(&schema) + "\n")),
        None => {
            write_stderr("error: this function does not read its functionConfig into a type\n");
            1
        }
    }
}

/// Runs a function from stdin to stdout.
fn filter(function: &Function, config: Option<Resource>) -> i32 {
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        write_stderr(&usage::function(function));
        write_stderr("\nerror: expected a ResourceList on stdin\n");
        return USAGE;
    }
    let mut bytes = Vec::new();
    if let Err(error) = stdin.read_to_end(&mut bytes) {
        return fail(&file_error("read", "stdin", &error));
    }
    let input = match krm_yaml::decode(bytes) {
        Ok(input) => input,
        Err(error) => return fail(&krm_core::Diagnostic::from(&error).into()),
    };
    if cfg!(panic = "abort") {
        *INPUT.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(input.clone());
    }
    let output = function.process(input, config);
    output.stderr.iter().for_each(|line| write_stderr(&format!("{line}\n")));
    let written = write_stdout(&output.stdout);
    written.max(i32::from(output.failed))
}

/// The input, for the panic hook of programs that cannot unwind.
static INPUT: Mutex<Option<String>> = Mutex::new(None);

/// Reports a panic as a result instead of a backtrace. WASI modules cannot unwind, so `catch_unwind` does not help there and
/// the hook itself writes the output.
fn install_panic_hook() {
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map_or_else(String::new, |at| format!("at {at}\n"));
        write_stderr(&location);
        if cfg!(panic = "abort") {
            let message = panic.payload_as_str().unwrap_or(output::NO_PANIC_MESSAGE);
            let input = INPUT.lock().map(|mut input| input.take()).unwrap_or_default();
            if let Some(Ok((stream, list))) = input.map(Stream::read) {
                let results = output::error_results(&output::panicked(message), &list);
                write_stdout(&stream.write_failed(&results).unwrap_or_default());
            }
            write_stderr(&format!("error: the function panicked: {message}\n"));
            exit(1);
        }
    }));
}

/// The error of a file operation.
pub(super) fn file_error(action: &'static str, file: &str, error: &dyn std::error::Error) -> Error {
    let (file, reason) = (file.to_owned(), error.to_string());
    krm_core::Diagnostic::error(FunctionKind::File { action, file, reason }).into()
}

/// Prints an error and returns the exit code.
fn fail(error: &Error) -> i32 {
    let list = crate::ResourceList::default();
    for result in output::error_results(error, &list) {
        write_stderr(&format!("{}\n", output::line(&result)));
    }
    1
}

/// Writes to stdout and returns the exit code. A closed pipe fails silently, as in other filters.
fn write_stdout(text: &str) -> i32 {
    let mut out = std::io::stdout().lock();
    i32::from(out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err())
}

/// Writes to stderr. A failure cannot be reported anywhere.
fn write_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn exit(code: i32) -> ! {
    std::process::exit(code)
}
