//! The process of a function: the only place that touches stdin, stdout, stderr, arguments and, on demand, files.
//!
//! Nothing else of the SDK does, so a function runs in a process, in a container, as a WASI module and inside krm alike.

mod arguments;
mod files;
mod help;

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::Path;
use std::sync::Mutex;

use arguments::{Arguments, Question};

use crate::stream::Stream;
use crate::{Error, Function, Resource, outcome};

/// The exit code where the arguments are wrong.
const USAGE: i32 = 2;

/// Runs a function as the whole of a program: stdin to stdout, or what the arguments ask for.
///
/// ```no_run
/// use krm_sdk::{Error, ResourceList};
///
/// fn my_function(list: &mut ResourceList) -> Result<(), Error> {
///     list.of_kind_mut("Deployment").try_for_each(|it| it.set("spec.replicas", 3))
/// }
///
/// fn main() {
///     krm_sdk::run(my_function)
/// }
/// ```
pub fn run(function: impl Into<Function>) -> ! {
    let mut function = function.into();
    let mut arguments = std::env::args();
    let program = name_of(&arguments.next().unwrap_or_default());
    if function.name.is_empty() {
        function.name = program;
    }
    leave(start(&function, &arguments.collect::<Vec<_>>()))
}

/// Runs one of several functions, by the name that the program is called by, or by its first argument.
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
    let program = name_of(&arguments.next().unwrap_or_default());
    let mut arguments: Vec<String> = arguments.collect();
    let find = |name: &str| functions.iter().find(|function| function.name == name);
    if let Some(function) = find(&program) {
        leave(start(function, &arguments));
    }
    let Some(first) = arguments.first().cloned() else {
        say(&help::many(&program, &functions));
        leave(USAGE);
    };
    if matches!(first.as_str(), "--help" | "-h" | "help") {
        leave(print(&help::many(&program, &functions)));
    }
    match find(&first) {
        Some(function) => {
            arguments.remove(0);
            leave(start(function, &arguments))
        }
        None => {
            let names = functions.iter().map(|function| function.name.as_str());
            let near = krm_core::diagnostics::closest_name(names, &first);
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            say(&format!("error: there is no function `{first}`{hint}\n"));
            say(&help::many(&program, &functions));
            leave(USAGE)
        }
    }
}

fn name_of(program: &str) -> String {
    let stem = Path::new(program).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_default()
}

fn start(function: &Function, arguments: &[String]) -> i32 {
    let arguments = match Arguments::parse(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            say(&format!("error: {error}; `{} --help` tells more\n", function.name));
            return USAGE;
        }
    };
    keep_quiet();
    match arguments.question {
        Some(Question::Help) => return print(&help::one(function)),
        Some(Question::Doc) => {
            return print(&(krm_core::print::json::write(&function.doc()) + "\n"));
        }
        Some(Question::Schema) => return schema(function),
        None => {}
    }
    let config = match arguments.config() {
        Ok(config) => config,
        Err(error) => return fail(&error),
    };
    if arguments.files.is_empty() {
        return pipe(function, config);
    }
    match files::run(function, config, &arguments) {
        Ok(code) => code,
        Err(error) => fail(&error),
    }
}

fn schema(function: &Function) -> i32 {
    match function.schema() {
        Some(schema) => print(&(krm_core::print::json::write(&schema) + "\n")),
        None => {
            say("error: this function asks for no functionConfig of a type\n");
            1
        }
    }
}

/// Stdin to stdout.
fn pipe(function: &Function, config: Option<Resource>) -> i32 {
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        say(&help::one(function));
        say("\nerror: a ResourceList is wanted on stdin\n");
        return USAGE;
    }
    let mut bytes = Vec::new();
    if let Err(error) = stdin.read_to_end(&mut bytes) {
        return fail(&Error::new(format!("stdin cannot be read: {error}")));
    }
    let input = match krm_yaml::decode(bytes) {
        Ok(input) => input,
        Err(error) => return fail(&krm_core::Diagnostic::from(&error).into()),
    };
    if cfg!(panic = "abort") {
        *INPUT.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(input.clone());
    }
    let outcome = function.process(input, config);
    outcome.told.iter().for_each(|line| say(&format!("{line}\n")));
    let written = print(&outcome.output);
    written.max(i32::from(outcome.failed))
}

/// What came in, for the one case where a panic cannot be caught.
static INPUT: Mutex<Option<String>> = Mutex::new(None);

/// A panic is told as a result of the function and not by a trace. Where programs cannot unwind, as WASI modules, the
/// output is written right here.
fn keep_quiet() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |place| format!("at {place}\n"));
        say(&place);
        if cfg!(panic = "abort") {
            let words = panic.payload_as_str().unwrap_or("without a word");
            let input = INPUT.lock().map(|mut input| input.take()).unwrap_or_default();
            if let Some(Ok((stream, list))) = input.map(Stream::read) {
                let results = outcome::told(&outcome::panicked(words), &list);
                print(&stream.write_failed(&results).unwrap_or_default());
            }
            say(&format!("error: the function panicked: {words}\n"));
            leave(1);
        }
    }));
}

fn fail(error: &Error) -> i32 {
    let list = crate::ResourceList::default();
    for result in outcome::told(error, &list) {
        say(&format!("{}\n", outcome::line(&result)));
    }
    1
}

/// Writes to stdout; a reader that went away is a failure without words.
fn print(text: &str) -> i32 {
    let mut out = std::io::stdout().lock();
    i32::from(out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err())
}

/// Writes to stderr; there is nobody to tell where that fails.
fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn leave(code: i32) -> ! {
    std::process::exit(code)
}
