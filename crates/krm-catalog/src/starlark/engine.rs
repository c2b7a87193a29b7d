//! One run of a script: what it is given, how much it may use, and what it leaves behind.

use std::cell::RefCell;
use std::sync::OnceLock;

use krm_yaml::Value;
use starlark::PrintHandler;
use starlark::environment::{FrozenModule, Globals, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::{Evaluator, FileLoader};
use starlark::syntax::{AstModule, Dialect};
use starlark::values::dict::AllocDict;
use starlark::values::structs::{AllocStruct, StructRef};

use super::native::natives;
use super::values::{from_script, to_script};

/// How much a script may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Calls and rounds of loops.
    steps: u64,
    /// Bytes.
    memory: usize,
    /// Calls inside of calls.
    depth: usize,
}

/// Some seconds of work, and a stack that every thread has.
pub(super) const LIMITS: Limits = Limits { steps: 50_000_000, memory: 512 << 20, depth: 200 };

/// The name under which the context is kept where no script can reach it.
const KEPT: &str = "the context";

/// The libraries by the names that scripts load them by; all are in one module.
const LIBRARIES: [&str; 15] = [
    "bsoup.star",
    "encoding/base64.star",
    "encoding/csv.star",
    "encoding/json.star",
    "encoding/yaml.star",
    "geo.star",
    "hash.star",
    "html.star",
    "http.star",
    "krmfn.star",
    "math.star",
    "re.star",
    "time.star",
    "xlsx.star",
    "zipfile.star",
];

/// What a script left behind.
#[derive(Debug)]
pub(super) struct Outcome {
    /// `ctx.resource_list`, or why it failed.
    pub(super) list: starlark::Result<Value<'static>>,
    /// What it printed, a line each.
    pub(super) printed: Vec<String>,
}

/// Runs a script on a list of resources.
pub(super) fn execute(name: &str, source: &str, list: &Value<'_>, limits: Limits) -> Outcome {
    let printed = Printed::default();
    let list = evaluate(name, source, list, (limits, &printed));
    Outcome { list, printed: printed.0.into_inner() }
}

fn evaluate(
    name: &str,
    source: &str,
    list: &Value<'_>,
    (limits, printed): (Limits, &Printed),
) -> starlark::Result<Value<'static>> {
    let script = AstModule::parse(name, source.to_owned(), &dialect())?;
    Module::with_temp_heap(|module| {
        let heap = module.heap();
        let nothing = || heap.alloc(AllocDict::EMPTY);
        let context = heap.alloc(AllocStruct([
            ("resource_list", to_script(list, heap)),
            ("open_api", nothing()),
            ("environment", nothing()),
        ]));
        module.set("ctx", context);
        module.set(KEPT, context);
        let mut evaluator = Evaluator::new(&module);
        evaluator.set_print_handler(printed);
        evaluator.set_loader(&Libraries);
        limit(&mut evaluator, limits).map_err(starlark::Error::new_other)?;
        evaluator.eval_module(script, globals())?;
        let kept = module.get(KEPT).and_then(StructRef::from_value);
        let list = kept.and_then(|it| it.iter().find(|(name, _)| name.as_str() == "resource_list"));
        let list = list.map_or(Ok(Value::Null), |(_, value)| from_script(value, heap));
        list.map_err(|message| starlark::Error::new_other(anyhow::anyhow!(message)))
    })
}

fn limit(evaluator: &mut Evaluator<'_, '_, '_>, limits: Limits) -> anyhow::Result<()> {
    evaluator.set_max_callstack_size(limits.depth)?;
    evaluator.set_max_heap_size(limits.memory)?;
    evaluator.set_max_tick_count(limits.steps)
}

/// Compat: what the catalog's interpreter allows.
fn dialect() -> Dialect {
    Dialect { enable_top_level_stmt: true, enable_f_strings: false, ..Dialect::Extended }
}

fn globals() -> &'static Globals {
    static GLOBALS: OnceLock<Globals> = OnceLock::new();
    GLOBALS
        .get_or_init(|| Globals::extended_by(&[LibraryExtension::Print, LibraryExtension::SetType]))
}

#[derive(Default)]
struct Printed(RefCell<Vec<String>>);

impl PrintHandler for Printed {
    fn println(&self, text: &str) -> starlark::Result<()> {
        self.0.borrow_mut().push(text.to_owned());
        Ok(())
    }
}

/// Loads libraries that are built in, and nothing else.
struct Libraries;

impl FileLoader for Libraries {
    fn load(&self, path: &str) -> starlark::Result<FrozenModule> {
        if !LIBRARIES.contains(&path) {
            let message = format!("`{path}` is no library; known are {}", LIBRARIES.join(", "));
            return Err(starlark::Error::new_other(anyhow::anyhow!(message)));
        }
        libraries()
    }
}

fn libraries() -> starlark::Result<FrozenModule> {
    static MODULE: OnceLock<FrozenModule> = OnceLock::new();
    if let Some(module) = MODULE.get() {
        return Ok(module.clone());
    }
    let source = include_str!("libraries.star");
    let script = AstModule::parse("libraries.star", source.to_owned(), &Dialect::Extended)?;
    let extensions = [LibraryExtension::StructType, LibraryExtension::Partial];
    let globals = GlobalsBuilder::extended_by(&extensions).with(natives).build();
    let module = Module::with_temp_heap(|module| {
        Evaluator::new(&module).eval_module(script, &globals)?;
        module.freeze().map_err(|error| starlark::Error::new_other(anyhow::anyhow!("{error:?}")))
    })?;
    Ok(MODULE.get_or_init(|| module).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(source: &str, limits: Limits) -> String {
        let outcome = execute("test", source, &Value::Null, limits);
        let told = outcome.list.unwrap_err().without_diagnostic().to_string();
        told.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_script_that_does_not_end_is_stopped() {
        let limits = Limits { steps: 10_000, ..LIMITS };
        let told = error("x = [0]\nfor i in range(2147483647):\n  x[0] = i\n", limits);
        assert_eq!(told, "Execution duration limit of 10000 ticks has been exceeded");
    }

    #[test]
    fn a_script_that_takes_too_much_is_stopped() {
        let limits = Limits { memory: 10 << 20, ..LIMITS };
        let told = error("x = []\nfor i in range(10000000):\n  x.append(str(i) * 100)\n", limits);
        assert_eq!(told, "Heap memory limit of 10485760 bytes exceeded.");
    }

    #[test]
    fn a_script_that_calls_itself_without_end_is_stopped() {
        let told = error("def f(n):\n  return f(n + 1)\nf(0)\n", LIMITS);
        assert_eq!(told, "Starlark call stack overflow");
    }

    #[test]
    fn what_is_printed_is_kept() {
        let source = "x = set(['foo', 'bar'])\nprint(x)\nprint('a', 1)\nfail('b')\n";
        let outcome = execute("test", source, &Value::Null, LIMITS);
        assert!(outcome.list.is_err());
        assert_eq!(outcome.printed, ["set([\"foo\", \"bar\"])", "a 1"]);
    }
}
