//! Modules of real compilers, Rust and Go, without any adaptation.

use std::time::Duration;

use krm_run::{Execution, Function, Interrupt, Invocation, Limits, RunKind, Wasi, WasiSettings};

use crate::programs::{Checked, INPUT, Scripts, go_module, probe, probe_module};

fn rust(args: &[&str]) -> Option<Wasi> {
    let settings = WasiSettings {
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        variables: vec![("GREETING".to_owned(), "hello = there".to_owned())],
    };
    Some(Wasi::new("probe.wasm", &probe_module()?, settings).unwrap())
}

fn run(function: &Wasi, input: &[u8]) -> Execution {
    function.run(&mut Invocation::new(input)).succeeded()
}

#[test]
fn same_program_has_the_same_output_as_a_module() {
    let Some(module) = rust(&["upper"]) else { return };
    let input = "kind: ResourceList\nitems: [] # größer\n".repeat(2_000);
    let command = format!("{} upper", probe().display());
    let scripts = Scripts::new();
    let process = scripts.exec(&command).unwrap();
    let process = process.run(&mut Invocation::new(input.as_bytes())).succeeded();
    let module = run(&module, input.as_bytes());
    assert_eq!((module.text().len(), module.text()), (input.to_uppercase().len(), process.text()));
}

#[test]
fn module_can_run_repeatedly() {
    let Some(module) = rust(&["upper"]) else { return };
    for input in ["a: 1\n", "b: 2\n"] {
        assert_eq!(run(&module, input.as_bytes()).text(), input.to_uppercase());
    }
}

#[test]
fn module_receives_arguments_and_variables_but_no_files() {
    let Some(module) = rust(&["look"]) else { return };
    let execution = run(&module, INPUT);
    let text = execution.text();
    assert!(text.contains("variables: GREETING=hello = there\n"), "{text}");
    for directory in ["/open", "/local", "/tmp"] {
        assert!(!text.contains(&format!("write {directory}/: works")), "{text}");
    }
}

#[test]
fn exit_code_of_a_module_is_reported() {
    let Some(module) = rust(&["exit", "3"]) else { return };
    let failure = module.run(&mut Invocation::new(INPUT)).failed();
    assert_eq!(
        (failure.error(), &failure.stdout[..]),
        (RunKind::ExitCode { code: 3 }, &b"results: []\n"[..])
    );
    assert_eq!(failure.stderr.last_lines(3), ["this is no good"]);
}

#[test]
fn panic_is_a_crash_with_its_message() {
    let Some(module) = rust(&["dance"]) else { return };
    let failure = module.run(&mut Invocation::new(INPUT)).failed();
    assert!(matches!(failure.error(), RunKind::Crashed { .. }), "{:?}", failure.error());
    assert!(failure.stderr.text().contains("what is dance?"), "{:?}", failure.stderr);
}

#[test]
fn sleeping_module_is_stopped() {
    let Some(module) = rust(&["sleep"]) else { return };
    let limits = Limits { time: Duration::from_millis(300), ..Limits::default() };
    let failure = module.run(&mut Invocation { limits, ..Invocation::new(INPUT) }).failed();
    assert_eq!(failure.error(), RunKind::Timeout { limit: Duration::from_millis(300) });

    let interrupt = Interrupt::new();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            module.run(&mut Invocation { interrupt: interrupt.clone(), ..Invocation::new(INPUT) })
        });
        interrupt.interrupt();
        assert_eq!(run.join().unwrap().error(), RunKind::Interrupted);
    });
}

#[test]
fn memory_limit_of_a_module_is_enforced() {
    let Some(module) = rust(&["eat", "200"]) else { return };
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let failure = module.run(&mut Invocation { limits, ..Invocation::new(INPUT) }).failed();
    assert_eq!(failure.error(), RunKind::MemoryLimit { limit: 64 << 20 });
    let Some(module) = rust(&["eat", "20"]) else { return };
    let execution = module.run(&mut Invocation { limits, ..Invocation::new(INPUT) }).succeeded();
    assert_eq!(execution.text(), "held: 20\n");
}

#[test]
fn endless_stderr_of_a_module_takes_no_memory() {
    let Some(module) = rust(&["spam", "20"]) else { return };
    let execution = run(&module, INPUT);
    assert!(execution.stderr.total() > 20 << 20);
    assert!(execution.stderr.text().len() <= Limits::default().stderr);
    assert_eq!(execution.stderr.last_lines(1), ["the last line"]);
}

#[test]
fn go_module_runs_unchanged() {
    let Some(module) = go_module() else { return };
    let settings = WasiSettings {
        args: vec!["a b".to_owned(), "c".to_owned()],
        variables: vec![("GREETING".to_owned(), "hello".to_owned())],
    };
    let module = Wasi::new("upper.wasm", &module, settings).unwrap();
    let execution = run(&module, "größe: 1\n".repeat(10_000).as_bytes());
    assert_eq!(execution.text(), "GRÖSSE: 1\n".replace("SS", "ß").repeat(10_000));
    assert_eq!(execution.stderr.text(), "no files here\n[a b c] hello\n");
}
