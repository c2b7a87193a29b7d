//! Running a script within limits.

use std::sync::OnceLock;

use krm_core::schema::kubernetes_definitions;
use krm_yaml::Value;
use starlark::environment::{FrozenModule, Globals, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::{Evaluator, FileLoader};
use starlark::syntax::{AstModule, Dialect};
use starlark::values::dict::AllocDict;
use starlark::values::structs::{AllocStruct, StructRef};

use super::globals::{self, overrides};
use super::native::natives;
use super::values::{from_starlark, to_starlark};

/// The limits of a script.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The number of calls and loop iterations.
    steps: u64,
    /// The size of the heap in bytes.
    memory: usize,
    /// The depth of the call stack.
    depth: usize,
    /// The number of printed bytes, which are outside of the heap.
    printed: usize,
}

/// A few seconds of work, and a call depth that fits the stack of any thread.
pub(super) const LIMITS: Limits =
    Limits { steps: 50_000_000, memory: 512 << 20, depth: 200, printed: 16 << 20 };

/// The global that holds the context. It is not an identifier, so a script cannot change it.
const CONTEXT: &str = "the context";

/// The names by which scripts load libraries; all of them are in one module.
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

/// The output of a script.
#[derive(Debug)]
pub(super) struct ScriptRun {
    /// `ctx.resource_list` after the script, or its error.
    pub(super) list: starlark::Result<Value<'static>>,
    /// The printed lines.
    pub(super) printed: Vec<String>,
}

/// Runs a script on a list of resources.
pub(super) fn execute(name: &str, source: &str, list: &Value<'_>, limits: Limits) -> ScriptRun {
    globals::start_printing(limits.printed);
    let list = evaluate(name, source, list, limits);
    ScriptRun { list, printed: globals::take_printed() }
}

fn evaluate(
    name: &str,
    source: &str,
    list: &Value<'_>,
    limits: Limits,
) -> starlark::Result<Value<'static>> {
    let mut script = AstModule::parse(name, source.to_owned(), &dialect())?;
    globals::replace_operators(&mut script);
    Module::with_temp_heap(|module| {
        let heap = module.heap();
        let empty = || heap.alloc(AllocDict::EMPTY);
        // Thousands of values, which most scripts do not look at.
        let open_api = match source.contains("open_api") {
            true => to_starlark(&open_api(), heap),
            false => empty(),
        };
        let context = heap.alloc(AllocStruct([
            ("resource_list", to_starlark(list, heap)),
            ("open_api", open_api),
            ("environment", empty()),
        ]));
        module.set("ctx", context);
        module.set(CONTEXT, context);
        let mut evaluator = Evaluator::new(&module);
        evaluator.set_loader(&Libraries);
        limit(&mut evaluator, limits).map_err(starlark::Error::new_other)?;
        evaluator.eval_module(script, globals())?;
        let context = module.get(CONTEXT).and_then(StructRef::from_value);
        let list =
            context.and_then(|it| it.iter().find(|(name, _)| name.as_str() == "resource_list"));
        let list = list.map_or(Ok(Value::Null), |(_, value)| from_starlark(value, heap));
        list.map_err(|message| starlark::Error::new_other(anyhow::anyhow!(message)))
    })
}

/// The OpenAPI document of the built-in kinds. Compat: the kpt function has the one of a cluster.
fn open_api() -> Value<'static> {
    let definitions = (Value::string("definitions"), kubernetes_definitions());
    Value::Mapping(vec![definitions])
}

fn limit(evaluator: &mut Evaluator<'_, '_, '_>, limits: Limits) -> anyhow::Result<()> {
    evaluator.set_max_callstack_size(limits.depth)?;
    evaluator.set_max_heap_size(limits.memory)?;
    evaluator.set_max_tick_count(limits.steps)
}

/// Compat: the language features of the interpreter of the kpt function.
fn dialect() -> Dialect {
    Dialect { enable_top_level_stmt: true, enable_f_strings: false, ..Dialect::Extended }
}

fn globals() -> &'static Globals {
    static GLOBALS: OnceLock<Globals> = OnceLock::new();
    GLOBALS.get_or_init(|| {
        GlobalsBuilder::extended_by(&[LibraryExtension::SetType]).with(overrides).build()
    })
}

/// Loads built-in libraries only.
struct Libraries;

impl FileLoader for Libraries {
    fn load(&self, path: &str) -> starlark::Result<FrozenModule> {
        if !LIBRARIES.contains(&path) {
            let message =
                format!("unknown library `{path}`: expected one of {}", LIBRARIES.join(", "));
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
        let run = execute("test", source, &Value::Null, limits);
        let message = run.list.unwrap_err().without_diagnostic().to_string();
        message.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn endless_loop_is_stopped() {
        let limits = Limits { steps: 10_000, ..LIMITS };
        let message = error("x = [0]\nfor i in range(2147483647):\n  x[0] = i\n", limits);
        assert_eq!(message, "Execution duration limit of 10000 ticks has been exceeded");
    }

    #[test]
    fn memory_is_limited() {
        let limits = Limits { memory: 10 << 20, ..LIMITS };
        let message =
            error("x = []\nfor i in range(10000000):\n  x.append(str(i) * 100)\n", limits);
        assert_eq!(message, "Heap memory limit of 10485760 bytes exceeded.");
    }

    #[test]
    fn printed_lines_are_limited() {
        let message = error("for i in range(10000000):\n  print('x' * 1000)\n", LIMITS);
        assert_eq!(message, "printed more than 16777216 bytes");
    }

    #[test]
    fn endless_recursion_is_stopped() {
        let message = error("def f(n):\n  return f(n + 1)\nf(0)\n", LIMITS);
        assert_eq!(message, "Starlark call stack overflow");
    }

    #[test]
    fn printed_lines_are_returned_on_failure() {
        let source = "x = set(['foo', 'bar'])\nprint(x)\nprint('a', 1)\nfail('b')\n";
        let run = execute("test", source, &Value::Null, LIMITS);
        assert!(run.list.is_err());
        assert_eq!(run.printed, ["set([\"foo\", \"bar\"])", "a 1"]);
    }
}
