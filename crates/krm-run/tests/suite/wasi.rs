//! Modules that real compilers made: Rust and Go, unchanged, with what they need and nothing more.

use std::time::Duration;

use krm_run::{Function, Interrupt, Limits, Outcome, Reason, Wasi, WasiSettings};

use crate::programs::{INPUT, Scripts, go_module, probe, probe_module};

fn rust(args: &[&str]) -> Option<Wasi> {
    let settings = WasiSettings {
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        variables: vec![("GREETING".to_owned(), "hello = there".to_owned())],
    };
    Some(Wasi::new("probe.wasm", &probe_module()?, settings).unwrap())
}

fn run(function: &Wasi, input: &[u8]) -> Outcome {
    function.run(input, &Limits::default(), &Interrupt::new()).unwrap()
}

#[test]
fn one_source_gives_the_same_as_a_process_and_as_a_module() {
    let Some(module) = rust(&["upper"]) else { return };
    let input = "kind: ResourceList\nitems: [] # größer\n".repeat(2_000);
    let command = format!("{} upper", probe().display());
    let scripts = Scripts::new();
    let process = scripts.exec(&command).unwrap();
    let process = process.run(input.as_bytes(), &Limits::default(), &Interrupt::new()).unwrap();
    let module = run(&module, input.as_bytes());
    assert_eq!((module.stdout.len(), module.stdout), (input.to_uppercase().len(), process.stdout));
}

#[test]
fn a_module_runs_more_than_once() {
    let Some(module) = rust(&["upper"]) else { return };
    for input in ["a: 1\n", "b: 2\n"] {
        assert_eq!(run(&module, input.as_bytes()).stdout, input.to_uppercase());
    }
}

#[test]
fn a_module_sees_its_words_and_no_files() {
    let Some(module) = rust(&["look"]) else { return };
    let text = run(&module, INPUT).stdout;
    assert!(text.contains("variables: GREETING=hello = there\n"), "{text}");
    for folder in ["/open", "/local", "/tmp"] {
        assert!(!text.contains(&format!("write {folder}/: works")), "{text}");
    }
}

#[test]
fn a_module_ends_with_an_exit_code() {
    let Some(module) = rust(&["exit", "3"]) else { return };
    let failure = module.run(INPUT, &Limits::default(), &Interrupt::new()).unwrap_err();
    assert_eq!(
        (failure.reason.clone(), failure.stdout()),
        (Reason::Exit(3), &b"results: []\n"[..])
    );
    assert_eq!(failure.stderr().last_lines(3), ["this is no good"]);
}

#[test]
fn a_panic_is_a_crash_with_its_words() {
    let Some(module) = rust(&["dance"]) else { return };
    let failure = module.run(INPUT, &Limits::default(), &Interrupt::new()).unwrap_err();
    assert!(matches!(failure.reason, Reason::Trap(_)), "{failure}");
    assert!(failure.stderr().text().contains("what is dance?"), "{:?}", failure.stderr());
}

#[test]
fn a_sleeping_module_is_stopped() {
    let Some(module) = rust(&["sleep"]) else { return };
    let limits = Limits { time: Duration::from_millis(300), ..Limits::default() };
    let failure = module.run(INPUT, &limits, &Interrupt::new()).unwrap_err();
    assert_eq!(failure.reason, Reason::Timeout(Duration::from_millis(300)));

    let interrupt = Interrupt::new();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| module.run(INPUT, &Limits::default(), &interrupt));
        interrupt.interrupt();
        assert_eq!(run.join().unwrap().unwrap_err().reason, Reason::Interrupted);
    });
}

#[test]
fn a_greedy_module_gets_no_more_memory_than_it_may() {
    let Some(module) = rust(&["eat", "200"]) else { return };
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let failure = module.run(INPUT, &limits, &Interrupt::new()).unwrap_err();
    assert_eq!(failure.reason, Reason::TooMuchMemory(64 << 20));
    let Some(module) = rust(&["eat", "20"]) else { return };
    let outcome = module.run(INPUT, &limits, &Interrupt::new()).unwrap();
    assert_eq!(outcome.stdout, "held: 20\n");
}

#[test]
fn a_talkative_module_takes_no_memory() {
    let Some(module) = rust(&["spam", "20"]) else { return };
    let outcome = run(&module, INPUT);
    assert!(outcome.stderr.total() > 20 << 20);
    assert!(outcome.stderr.text().len() <= Limits::default().stderr);
    assert_eq!(outcome.stderr.last_lines(1), ["the last words"]);
}

#[test]
fn a_module_of_go_runs_unchanged() {
    let Some(module) = go_module() else { return };
    let settings = WasiSettings {
        args: vec!["a b".to_owned(), "c".to_owned()],
        variables: vec![("GREETING".to_owned(), "hello".to_owned())],
    };
    let module = Wasi::new("upper.wasm", &module, settings).unwrap();
    let outcome = run(&module, "größe: 1\n".repeat(10_000).as_bytes());
    assert_eq!(outcome.stdout, "GRÖSSE: 1\n".replace("SS", "ß").repeat(10_000));
    assert_eq!(outcome.stderr.text(), "no files here\n[a b c] hello\n");
}
