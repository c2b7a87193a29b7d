//! Reads a module, and explains why one cannot run.

use wasmi::{CompilationMode, Config, Engine, ExternType, Module};

use super::imports;

const MAGIC: &[u8] = b"\0asm";
/// The version field of a component (WASI preview 2).
const COMPONENT_VERSION: &[u8] = &[0x0d, 0, 1, 0];
/// The maximum depth of calls. Parsers are recursive, and documents can be deeply nested.
const MAX_CALL_DEPTH: usize = 20_000;
/// Bytes for the stack of those calls.
const STACK: usize = 32 * 1024 * 1024;

pub(super) fn read(bytes: &[u8]) -> Result<Module, String> {
    if !bytes.starts_with(MAGIC) {
        return Err("not a WebAssembly file".to_owned());
    }
    if bytes[MAGIC.len()..].starts_with(COMPONENT_VERSION) {
        return Err("the file is a component (WASI preview 2); build it as a module, \
                    for example for wasm32-wasip1"
            .to_owned());
    }
    let mut config = Config::default();
    config.consume_fuel(true).ignore_custom_sections(true);
    // Lazy compilation consumes fuel at the first call of a function, and a slice that ends there cannot be resumed.
    config.compilation_mode(CompilationMode::Eager);
    config.set_max_recursion_depth(MAX_CALL_DEPTH).set_max_stack_height(STACK);
    let engine = Engine::new(&config);
    Module::new(&engine, bytes).map_err(|error| format!("invalid module: {error}"))
}

/// Checks that all imports are WASI, and that `_start` and the memory are exported.
pub(super) fn check(module: &Module) -> Result<(), String> {
    for import in module.imports() {
        let (from, name) = (import.module(), import.name());
        if from != imports::MODULE || !imports::is_known(name) {
            return Err(unknown_import(from, name));
        }
    }
    let export = |name: &str| module.get_export(name);
    match export("_start") {
        Some(ExternType::Func(ty)) if ty.params().is_empty() && ty.results().is_empty() => {}
        _ => {
            return Err(
                "`_start` is not exported; build the module as a program, not as a library"
                    .to_owned(),
            );
        }
    }
    match export("memory") {
        Some(ExternType::Memory(_)) => Ok(()),
        _ => Err("the memory is not exported".to_owned()),
    }
}

fn unknown_import(from: &str, name: &str) -> String {
    let what = format!("it imports `{from}.{name}`");
    match from {
        // Compat: the target of kpt's Wasm functions.
        "go" | "gojs" => format!("{what}, which browsers provide; build it with GOOS=wasip1"),
        "wasi_unstable" => format!("{what} of an older WASI; build it for wasm32-wasip1"),
        _ => format!("{what}, which is not part of WASI preview 1"),
    }
}
