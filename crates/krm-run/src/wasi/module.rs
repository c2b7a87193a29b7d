//! Reading a module, and saying in plain words why one cannot run.

use wasmi::{CompilationMode, Config, Engine, ExternType, Module};

use super::imports;

const MAGIC: &[u8] = b"\0asm";
/// What stands where a module has its version.
const COMPONENT: &[u8] = &[0x0d, 0, 1, 0];
/// Calls inside calls. Parsers are recursive, and documents can be deep.
const DEEPEST: usize = 20_000;
/// Bytes for what those calls hold.
const STACK: usize = 32 * 1024 * 1024;

pub(super) fn read(bytes: &[u8]) -> Result<Module, String> {
    if !bytes.starts_with(MAGIC) {
        return Err("it is no WebAssembly file".to_owned());
    }
    if bytes[MAGIC.len()..].starts_with(COMPONENT) {
        return Err("it is a component (WASI preview 2); build it as a module, \
                    for example for wasm32-wasip1"
            .to_owned());
    }
    let mut config = Config::default();
    config.consume_fuel(true).ignore_custom_sections(true);
    // A function that is translated when it is first called takes steps for it, and a slice that ends there cannot go on.
    config.compilation_mode(CompilationMode::Eager);
    config.set_max_recursion_depth(DEEPEST).set_max_stack_height(STACK);
    let engine = Engine::new(&config);
    Module::new(&engine, bytes).map_err(|error| format!("its module is broken: {error}"))
}

/// Whether it wants only what is there, and gives what is needed.
pub(super) fn check(module: &Module) -> Result<(), String> {
    for import in module.imports() {
        let (from, name) = (import.module(), import.name());
        if from != imports::MODULE || !imports::is_known(name) {
            return Err(missing(from, name));
        }
    }
    let export = |name: &str| module.get_export(name);
    match export("_start") {
        Some(ExternType::Func(ty)) if ty.params().is_empty() && ty.results().is_empty() => {}
        _ => {
            return Err(
                "it has no `_start` to begin with; build it as a program, not as a library"
                    .to_owned(),
            );
        }
    }
    match export("memory") {
        Some(ExternType::Memory(_)) => Ok(()),
        _ => Err("it does not export its memory".to_owned()),
    }
}

fn missing(from: &str, name: &str) -> String {
    let what = format!("it imports `{from}.{name}`");
    match from {
        // Compat: what kpt calls WASM functions.
        "go" | "gojs" => format!("{what}, made for a browser; build it with GOOS=wasip1"),
        "wasi_unstable" => format!("{what}, of an older WASI; build it for wasm32-wasip1"),
        _ => format!("{what}, which is not in WASI preview 1"),
    }
}
