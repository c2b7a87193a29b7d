//! Faulty modules, written by hand: each fails with a message that explains the fault.

use std::time::Duration;

use krm_run::{Execution, Function, Interrupt, Invocation, Limits, RunKind, Wasi, WasiSettings};

use crate::programs::{Checked, INPUT};

/// Imports with short names, a page of memory, and what the test adds.
const FRAME: &str = r#"
    (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
    (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "path_open"
        (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
    (memory (export "memory") 1)
    (data (i32.const 0) "\08\00\00\00\0b\00\00\00kind: List\n")
    (func $say (param $fd i32) (result i32)
        (call $write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 60)))"#;

fn module(text: &str) -> Result<Wasi, RunKind> {
    let bytes = wat::parse_str(text).expect("the module of the test is well-formed");
    Wasi::new("wrong.wasm", &bytes, WasiSettings::default())
}

/// A module whose `_start` is this.
fn start(body: &str) -> Wasi {
    module(&format!("(module {FRAME} (func (export \"_start\") {body}))")).unwrap()
}

fn run(function: &Wasi, limits: &Limits) -> Execution {
    function.run(&mut Invocation { limits: *limits, ..Invocation::new(INPUT) })
}

fn reason(body: &str, limits: &Limits) -> RunKind {
    run(&start(body), limits).error()
}

/// A module that ends with the error number of one call.
fn errno(call: &str) -> RunKind {
    reason(&format!("(call $exit {call})"), &Limits::default())
}

#[test]
fn endless_module_is_stopped() {
    let limits = Limits { time: Duration::from_millis(200), ..Limits::default() };
    assert_eq!(reason("(loop (br 0))", &limits), RunKind::Timeout { limit: limits.time });
    for steps in [0, 1, 1000, 50_000_000] {
        let limits = Limits { steps, ..Limits::default() };
        assert_eq!(reason("(loop (br 0))", &limits), RunKind::StepLimit { limit: steps });
    }
    let calls = "(loop (drop (call $random (i32.const 100) (i32.const 8))) (br 0))";
    let limits = Limits { time: Duration::from_millis(200), ..Limits::default() };
    assert_eq!(reason(calls, &limits), RunKind::Timeout { limit: limits.time });
}

#[test]
fn endless_module_is_interrupted() {
    let (function, interrupt) = (start("(loop (br 0))"), Interrupt::new());
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            function.run(&mut Invocation { interrupt: interrupt.clone(), ..Invocation::new(INPUT) })
        });
        std::thread::sleep(Duration::from_millis(50));
        interrupt.interrupt();
        assert_eq!(run.join().unwrap().error(), RunKind::Interrupted);
    });
}

#[test]
fn endless_start_function_is_stopped() {
    let text =
        format!("(module {FRAME} (func $f (loop (br 0))) (start $f) (func (export \"_start\")))");
    let failure = run(&module(&text).unwrap(), &Limits::default()).failed();
    let expected = "its start function does not return";
    assert_eq!(failure.error(), RunKind::Crashed { reason: expected.into() });
}

#[test]
fn memory_is_limited() {
    let limits = Limits { memory: 16 << 20, ..Limits::default() };
    let bomb = "(loop (br_if 0 (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable";
    assert_eq!(reason(bomb, &limits), RunKind::MemoryLimit { limit: 16 << 20 });
    let big = "(module (memory (export \"memory\") 1000) (func (export \"_start\")))";
    let failure = run(&module(big).unwrap(), &limits).failed();
    assert_eq!(failure.error(), RunKind::MemoryLimit { limit: 16 << 20 });
    // A module that handles a refused allocation is not a failure.
    let modest = "(drop (memory.grow (i32.const 60000))) (drop (call $say (i32.const 1)))";
    assert_eq!(run(&start(modest), &limits).succeeded().text(), "kind: List\n");
}

#[test]
fn tables_do_not_grow() {
    let text = format!(
        "(module {FRAME} (table $t 1 funcref) (func (export \"_start\")
            (call $exit (i32.add (i32.const 9) (table.grow $t (ref.null func) (i32.const 1))))))"
    );
    let failure = run(&module(&text).unwrap(), &Limits::default()).failed();
    assert_eq!(failure.error(), RunKind::ExitCode { code: 8 });
}

#[test]
fn long_run_resumes_after_each_slice() {
    // A sum over many slices, with calls and memory that grows in between.
    let text = format!(
        "(module {FRAME}
            (func $add (param i64 i64) (result i64) (i64.add (local.get 0) (local.get 1)))
            (func (export \"_start\") (local $n i64) (local $sum i64)
                (loop
                    (local.set $sum (call $add (local.get $sum) (local.get $n)))
                    (local.set $n (i64.add (local.get $n) (i64.const 1)))
                    (if (i64.eqz (i64.rem_u (local.get $n) (i64.const 100000)))
                        (then (drop (memory.grow (i32.const 1)))
                            (memory.fill (i32.const 65536) (i32.const 7) (i32.const 65536))))
                    (br_if 0 (i64.lt_u (local.get $n) (i64.const 10000000))))
                (if (i64.ne (local.get $sum) (i64.const 49999995000000)) (then unreachable))
                (call $exit (memory.size))))"
    );
    let failure = run(&module(&text).unwrap(), &Limits::default()).failed();
    assert_eq!(failure.error(), RunKind::ExitCode { code: 101 });
}

#[test]
fn crashes_name_the_trap() {
    let limits = Limits::default();
    for (body, expected) in [
        ("unreachable", "unreachable"),
        ("(drop (i32.load (i32.const 70000)))", "out of bounds"),
        ("(drop (i32.div_s (i32.const 1) (i32.const 0)))", "divide by zero"),
    ] {
        let RunKind::Crashed { reason: actual } = reason(body, &limits) else { panic!("{body}") };
        assert!(actual.contains(expected), "{body}: {actual}");
    }
    let deep = format!("(module {FRAME} (func $f (call $f)) (func (export \"_start\") (call $f)))");
    let failure = run(&module(&deep).unwrap(), &limits).failed();
    let error = failure.error().to_string();
    assert!(error.contains("crashed: call stack exhausted"), "{error}");
}

#[test]
fn exit_codes_are_passed_through() {
    assert_eq!(errno("(i32.const 3)"), RunKind::ExitCode { code: 3 });
    assert_eq!(errno("(i32.const 0)"), RunKind::EmptyOutput);
    assert_eq!(errno("(i32.const -1)"), RunKind::ExitCode { code: -1 });
}

#[test]
fn output_is_limited() {
    let limits = Limits { output: 100, ..Limits::default() };
    let failure = run(&start("(loop (drop (call $say (i32.const 1))) (br 0))"), &limits).failed();
    assert_eq!(
        (failure.error(), failure.stdout.len()),
        (RunKind::OutputTooLarge { limit: 100 }, 100)
    );
}

#[test]
fn closed_streams_stay_closed() {
    let once = "(drop (call $say (i32.const 1))) (drop (call $close (i32.const 1))) (drop (call $say (i32.const 1)))";
    assert_eq!(run(&start(once), &Limits::default()).succeeded().text(), "kind: List\n");
    assert_eq!(errno("(call $say (i32.const 0))"), RunKind::ExitCode { code: 8 });
    assert_eq!(errno("(call $say (i32.const 7))"), RunKind::ExitCode { code: 8 });
    assert_eq!(errno("(call $close (i32.const -1))"), RunKind::ExitCode { code: 8 });
    assert_eq!(
        errno("(call $read (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 60))"),
        RunKind::ExitCode { code: 8 }
    );
}

#[test]
fn addresses_outside_the_memory_are_faults() {
    let fault = RunKind::ExitCode { code: 21 };
    assert_eq!(
        errno("(call $write (i32.const 1) (i32.const -8) (i32.const 2) (i32.const 60))"),
        fault
    );
    assert_eq!(
        errno("(call $write (i32.const 1) (i32.const 65532) (i32.const 1) (i32.const 60))"),
        fault
    );
    assert_eq!(
        errno("(call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 65533))"),
        fault
    );
    assert_eq!(errno("(call $random (i32.const 1) (i32.const -1))"), fault);
    assert_eq!(errno("(call $random (i32.const -1) (i32.const 1))"), fault);
    assert_eq!(
        errno("(call $poll (i32.const 65500) (i32.const 0) (i32.const 1) (i32.const 60))"),
        fault
    );
    assert_eq!(
        errno("(call $poll (i32.const 0) (i32.const 0) (i32.const -1) (i32.const 60))"),
        RunKind::ExitCode { code: 28 }
    );
}

#[test]
fn files_are_not_accessible() {
    let open = "(call $open (i32.const 3) (i32.const 0) (i32.const 8) (i32.const 4) (i32.const 0)
        (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 60))";
    assert_eq!(errno(open), RunKind::ExitCode { code: 8 });
}

#[test]
fn invalid_modules_are_rejected() {
    let why =
        |bytes: &[u8]| Wasi::new("a.wasm", bytes, WasiSettings::default()).unwrap_err().to_string();
    assert_eq!(why(b"#!/bin/sh\n"), "not a WebAssembly file");
    assert_eq!(why(b""), "not a WebAssembly file");
    assert_eq!(
        why(b"\0asm\x0d\0\x01\0"),
        "the file is a component (WASI preview 2); \
         build it as a module, for example for wasm32-wasip1"
    );
    assert!(
        why(b"\0asm\x01\0\0\0\x01").contains("invalid module"),
        "{}",
        why(b"\0asm\x01\0\0\0\x01")
    );
}

#[test]
fn unknown_imports_are_named() {
    let why = |text: &str| module(text).unwrap_err().to_string();
    let import = |from: &str, name: &str| {
        why(&format!(
            "(module (import \"{from}\" \"{name}\" (func)) (memory (export \"memory\") 1) (func (export \"_start\")))"
        ))
    };
    assert_eq!(
        import("env", "fetch"),
        "it imports `env.fetch`, which is not part of WASI preview 1"
    );
    assert_eq!(
        import("wasi_snapshot_preview1", "sock_open"),
        "it imports `wasi_snapshot_preview1.sock_open`, which is not part of WASI preview 1"
    );
    assert!(
        import("gojs", "runtime.wasmExit")
            .ends_with("which browsers provide; build it with GOOS=wasip1")
    );
    assert!(
        import("wasi_unstable", "fd_write")
            .ends_with("of an older WASI; build it for wasm32-wasip1")
    );
    assert!(why("(module (memory (export \"memory\") 1))").contains("`_start` is not exported"));
    assert!(why("(module (func (export \"_start\")))").contains("the memory is not exported"));
}

#[test]
fn import_with_another_signature_is_rejected() {
    let text = r#"(module (import "wasi_snapshot_preview1" "fd_write" (func (param i64)))
        (memory (export "memory") 1) (func (export "_start")))"#;
    let failure = run(&module(text).unwrap(), &Limits::default()).failed();
    assert!(matches!(failure.error(), RunKind::InvalidModule { .. }));
}

#[test]
fn random_bytes_differ() {
    let body = "(i32.store (i32.const 0) (i32.const 100)) (i32.store (i32.const 4) (i32.const 16))
        (drop (call $random (i32.const 100) (i32.const 16))) (drop (call $say (i32.const 2))) (call $exit (i32.const 1))";
    let stderr = || run(&start(body), &Limits::default()).failed().stderr;
    assert_ne!(stderr(), stderr());
}
