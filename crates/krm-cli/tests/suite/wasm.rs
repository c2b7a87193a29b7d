//! Wasm functions: a real module, alone and in a pipeline, and memory use with a gigabyte of stderr.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::peak_memory;
use crate::sandbox::{Sandbox, krm, skipped};

const RESOURCE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a # mine\n";
const RENAMED: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b # mine\n";
const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\npipeline:\n  mutators:\n  - wasm: rename.wasm # ours\n";
/// The memory that krm may use for a gigabyte of stderr.
const MAX_MEMORY: u64 = 200 << 20;

/// The module, if the toolchain can compile it.
fn module() -> Option<&'static Path> {
    static MODULE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let module = MODULE.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/module.rs");
        let module = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("module-{}.wasm", std::process::id()));
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(["--edition=2024", "-C", "opt-level=1", "-C", "strip=symbols"]);
        rustc.args(["--target", "wasm32-wasip1", "-o"]).arg(&module).arg(source);
        let made = rustc.output().is_ok_and(|output| output.status.success());
        if !made {
            skipped("modules", "they need `rustup target add wasm32-wasip1`");
        }
        made.then_some(module)
    });
    module.as_deref()
}

/// A package with the module in it.
pub(crate) fn shop() -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    sandbox.write("shop/a.yaml", RESOURCE.as_bytes());
    sandbox.write("shop/rename.wasm", &fs::read(module()?).unwrap());
    Some(sandbox)
}

#[test]
fn wasm_module_runs_as_a_function() {
    let Some(sandbox) = shop() else { return };
    let ran = sandbox.run("krm fn eval shop --wasm shop/rename.wasm -q");
    assert_eq!((ran.exit, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    assert_eq!(sandbox.files()["shop/a.yaml"], RENAMED);
}

#[test]
fn pipeline_runs_a_wasm_module() {
    let Some(sandbox) = shop() else { return };
    sandbox.write("shop/Kptfile", KPTFILE.as_bytes());
    let ran = sandbox.run("krm fn render shop");
    let expected = "Package \"shop\":\n[PASS] \"rename.wasm\" (wasm) on 2 resources, 1 changed\n";
    assert!(ran.exit == 0 && ran.stderr.starts_with(expected), "{}", ran.stderr);
    let files = sandbox.files();
    assert_eq!((files["shop/a.yaml"].as_str(), files["shop/Kptfile"].as_str()), (RENAMED, KPTFILE));
    let ran = sandbox.run("rm shop/rename.wasm; krm fn render shop -q");
    assert!(
        ran.stderr
            .contains("cannot run mutator `rename.wasm`: cannot read `rename.wasm`: no such file"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains(" --> shop/Kptfile:7:"), "{}", ran.stderr);
    assert_eq!(ran.exit, 4);
}

#[test]
fn annotated_wasm_module_is_found_beside_its_annotation() {
    let Some(sandbox) = shop() else { return };
    let declared = "apiVersion: example.com/v1\nkind: Rename\nmetadata:\n  name: it\n  annotations:\n    config.kubernetes.io/function: |\n      wasm:\n        path: rename.wasm\n";
    sandbox.write("shop/rename.yaml", declared.as_bytes());
    let ran = sandbox.run("krm fn run shop -q");
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
    let files = sandbox.files();
    assert_eq!(
        (files["shop/a.yaml"].as_str(), files["shop/rename.yaml"].as_str()),
        (RENAMED, declared)
    );
}

/// Checks that the function fails with its last line of stderr, unchanged files and bounded memory.
fn is_bounded(sandbox: &Sandbox, flags: &[&str]) {
    let mut command = krm();
    command.current_dir(sandbox.path()).args(["fn", "eval", "shop", "-q"]).args(flags);
    let (ran, bytes) = peak_memory::measure(&mut command);
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("exited with code 3\nnote: last lines of stderr:\n"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.ends_with("\n  | the end\n"), "{}", ran.stderr);
    assert!(bytes < MAX_MEMORY, "{bytes} bytes");
    assert_eq!(sandbox.files()["shop/a.yaml"], RESOURCE);
}

#[test]
fn gigabyte_on_stderr_of_a_module_takes_bounded_memory() {
    let Some(sandbox) = shop() else { return };
    is_bounded(&sandbox, &["--wasm", "shop/rename.wasm", "--env", "SPAM=1000"]);
}

#[test]
fn gigabyte_on_stderr_of_a_command_takes_bounded_memory() {
    let sandbox = Sandbox::new();
    sandbox.write("shop/a.yaml", RESOURCE.as_bytes());
    let script = "head -c 1000000000 /dev/zero | tr '\\0' '\\n' >&2; echo the end >&2; exit 3";
    sandbox.write("spam.sh", script.as_bytes());
    is_bounded(&sandbox, &["--exec", "sh ../spam.sh"]);
}
