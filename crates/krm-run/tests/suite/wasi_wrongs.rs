//! Modules that do wrong, written by hand: each ends in a failure that says what it did.

use std::time::Duration;

use krm_run::{Failure, Function, Interrupt, Limits, Outcome, Reason, Wasi, WasiSettings};

use crate::programs::INPUT;

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

fn module(text: &str) -> Result<Wasi, Failure> {
    let bytes = wat::parse_str(text).expect("the module of the test is well-formed");
    Wasi::new("wrong.wasm", &bytes, WasiSettings::default())
}

/// A module whose `_start` is this.
fn start(body: &str) -> Wasi {
    module(&format!("(module {FRAME} (func (export \"_start\") {body}))")).unwrap()
}

fn run(function: &Wasi, limits: &Limits) -> Result<Outcome, Failure> {
    function.run(INPUT, limits, &Interrupt::new())
}

fn reason(body: &str, limits: &Limits) -> Reason {
    run(&start(body), limits).unwrap_err().reason
}

/// A module that ends with the error number of one call.
fn errno(call: &str) -> Reason {
    reason(&format!("(call $exit {call})"), &Limits::default())
}

#[test]
fn a_module_without_end_is_stopped() {
    let limits = Limits { time: Duration::from_millis(200), ..Limits::default() };
    assert_eq!(reason("(loop (br 0))", &limits), Reason::Timeout(limits.time));
    for steps in [0, 1, 1000, 50_000_000] {
        let limits = Limits { steps, ..Limits::default() };
        assert_eq!(reason("(loop (br 0))", &limits), Reason::TooManySteps(steps));
    }
    let calls = "(loop (drop (call $random (i32.const 100) (i32.const 8))) (br 0))";
    let limits = Limits { time: Duration::from_millis(200), ..Limits::default() };
    assert_eq!(reason(calls, &limits), Reason::Timeout(limits.time));
}

#[test]
fn a_module_without_end_is_interrupted() {
    let (function, interrupt) = (start("(loop (br 0))"), Interrupt::new());
    std::thread::scope(|scope| {
        let run = scope.spawn(|| function.run(INPUT, &Limits::default(), &interrupt));
        std::thread::sleep(Duration::from_millis(50));
        interrupt.interrupt();
        assert_eq!(run.join().unwrap().unwrap_err().reason, Reason::Interrupted);
    });
}

#[test]
fn a_module_that_begins_without_end_is_stopped() {
    let text =
        format!("(module {FRAME} (func $f (loop (br 0))) (start $f) (func (export \"_start\")))");
    let failure = run(&module(&text).unwrap(), &Limits::default()).unwrap_err();
    let words = "what it does before `_start` has no end";
    assert_eq!(failure.reason, Reason::Trap(words.into()));
}

#[test]
fn memory_has_an_end() {
    let limits = Limits { memory: 16 << 20, ..Limits::default() };
    let bomb = "(loop (br_if 0 (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable";
    assert_eq!(reason(bomb, &limits), Reason::TooMuchMemory(16 << 20));
    let big = "(module (memory (export \"memory\") 1000) (func (export \"_start\")))";
    let failure = run(&module(big).unwrap(), &limits).unwrap_err();
    assert_eq!(failure.reason, Reason::TooMuchMemory(16 << 20));
    // A module that is told no and lives with it is none.
    let modest = "(drop (memory.grow (i32.const 60000))) (drop (call $say (i32.const 1)))";
    assert_eq!(run(&start(modest), &limits).unwrap().stdout, "kind: List\n");
}

#[test]
fn a_table_does_not_grow() {
    let text = format!(
        "(module {FRAME} (table $t 1 funcref) (func (export \"_start\")
            (call $exit (i32.add (i32.const 9) (table.grow $t (ref.null func) (i32.const 1))))))"
    );
    let failure = run(&module(&text).unwrap(), &Limits::default()).unwrap_err();
    assert_eq!(failure.reason, Reason::Exit(8));
}

#[test]
fn a_long_run_goes_on_where_it_paused() {
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
    let failure = run(&module(&text).unwrap(), &Limits::default()).unwrap_err();
    assert_eq!(failure.reason, Reason::Exit(101));
}

#[test]
fn a_crash_says_which() {
    let limits = Limits::default();
    for (body, words) in [
        ("unreachable", "unreachable"),
        ("(drop (i32.load (i32.const 70000)))", "out of bounds"),
        ("(drop (i32.div_s (i32.const 1) (i32.const 0)))", "divide by zero"),
    ] {
        let Reason::Trap(said) = reason(body, &limits) else { panic!("{body}") };
        assert!(said.contains(words), "{body}: {said}");
    }
    let deep = format!("(module {FRAME} (func $f (call $f)) (func (export \"_start\") (call $f)))");
    let failure = run(&module(&deep).unwrap(), &limits).unwrap_err();
    assert!(failure.to_string().contains("crashed: call stack exhausted"), "{failure}");
}

#[test]
fn exit_codes_are_exit_codes() {
    assert_eq!(errno("(i32.const 3)"), Reason::Exit(3));
    assert_eq!(errno("(i32.const 0)"), Reason::Empty);
    assert_eq!(errno("(i32.const -1)"), Reason::Exit(-1));
}

#[test]
fn output_has_an_end() {
    let limits = Limits { output: 100, ..Limits::default() };
    let failure =
        run(&start("(loop (drop (call $say (i32.const 1))) (br 0))"), &limits).unwrap_err();
    assert_eq!((failure.reason.clone(), failure.stdout().len()), (Reason::TooMuchOutput(100), 100));
}

#[test]
fn a_stream_that_was_closed_is_closed() {
    let once = "(drop (call $say (i32.const 1))) (drop (call $close (i32.const 1))) (drop (call $say (i32.const 1)))";
    assert_eq!(run(&start(once), &Limits::default()).unwrap().stdout, "kind: List\n");
    assert_eq!(errno("(call $say (i32.const 0))"), Reason::Exit(8));
    assert_eq!(errno("(call $say (i32.const 7))"), Reason::Exit(8));
    assert_eq!(errno("(call $close (i32.const -1))"), Reason::Exit(8));
    assert_eq!(
        errno("(call $read (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 60))"),
        Reason::Exit(8)
    );
}

#[test]
fn addresses_outside_the_memory_are_faults() {
    let fault = Reason::Exit(21);
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
        Reason::Exit(28)
    );
}

#[test]
fn files_are_refused() {
    let open = "(call $open (i32.const 3) (i32.const 0) (i32.const 8) (i32.const 4) (i32.const 0)
        (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 60))";
    assert_eq!(errno(open), Reason::Exit(8));
}

#[test]
fn what_is_no_module_says_so() {
    let why =
        |bytes: &[u8]| Wasi::new("a.wasm", bytes, WasiSettings::default()).unwrap_err().to_string();
    assert_eq!(why(b"#!/bin/sh\n"), "function `a.wasm` cannot be run: it is no WebAssembly file");
    assert_eq!(why(b""), "function `a.wasm` cannot be run: it is no WebAssembly file");
    assert_eq!(
        why(b"\0asm\x0d\0\x01\0"),
        "function `a.wasm` cannot be run: it is a component (WASI preview 2); \
         build it as a module, for example for wasm32-wasip1"
    );
    assert!(
        why(b"\0asm\x01\0\0\0\x01").contains("its module is broken"),
        "{}",
        why(b"\0asm\x01\0\0\0\x01")
    );
}

#[test]
fn what_wants_something_else_says_what() {
    let why = |text: &str| module(text).unwrap_err().to_string();
    let import = |from: &str, name: &str| {
        why(&format!(
            "(module (import \"{from}\" \"{name}\" (func)) (memory (export \"memory\") 1) (func (export \"_start\")))"
        ))
    };
    assert_eq!(
        import("env", "fetch"),
        "function `wrong.wasm` cannot be run: it imports `env.fetch`, which is not in WASI preview 1"
    );
    assert_eq!(
        import("wasi_snapshot_preview1", "sock_open"),
        "function `wrong.wasm` cannot be run: it imports `wasi_snapshot_preview1.sock_open`, which is not in WASI preview 1"
    );
    assert!(
        import("gojs", "runtime.wasmExit")
            .ends_with("made for a browser; build it with GOOS=wasip1")
    );
    assert!(
        import("wasi_unstable", "fd_write")
            .ends_with("of an older WASI; build it for wasm32-wasip1")
    );
    assert!(
        why("(module (memory (export \"memory\") 1))").contains("it has no `_start` to begin with")
    );
    assert!(why("(module (func (export \"_start\")))").contains("it does not export its memory"));
}

#[test]
fn a_call_of_another_shape_is_a_failure() {
    let text = r#"(module (import "wasi_snapshot_preview1" "fd_write" (func (param i64)))
        (memory (export "memory") 1) (func (export "_start")))"#;
    let failure = run(&module(text).unwrap(), &Limits::default()).unwrap_err();
    assert!(matches!(failure.reason, Reason::NotAModule(_)), "{failure}");
}

#[test]
fn random_bytes_differ() {
    let body = "(i32.store (i32.const 0) (i32.const 100)) (i32.store (i32.const 4) (i32.const 16))
        (drop (call $random (i32.const 100) (i32.const 16))) (drop (call $say (i32.const 2))) (call $exit (i32.const 1))";
    let said = || run(&start(body), &Limits::default()).unwrap_err().stderr().clone();
    assert_ne!(said(), said());
}
