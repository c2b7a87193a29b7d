//! Steps that change, remove, add and reject items, with fake functions.

use std::time::Duration;

use krm_catalog::Builtin;
use krm_core::PackagePath;
use krm_sdk::{Error, Resource, ResourceList};

use super::*;
use crate::{Execution, ExecutionEnd, Invocation, Tail};

/// A function that answers with what it makes of its input, and exits with this code.
struct Fake(fn(&str) -> String, i32);

fn exited(stdout: String, code: i32) -> Execution {
    Execution {
        stdout: stdout.into_bytes(),
        stderr: Tail::default(),
        duration: Duration::ZERO,
        image: None,
        end: ExecutionEnd::Exited(code),
    }
}

impl Function for Fake {
    fn name(&self) -> &str {
        "fake"
    }

    fn run(&self, invocation: &mut Invocation<'_>) -> Execution {
        exited((self.0)(std::str::from_utf8(invocation.input).unwrap()), self.1)
    }
}

/// A function that pauses after the first of these texts, and whose answer is the second.
struct Pausing(fn(&str) -> [String; 2]);

impl Function for Pausing {
    fn name(&self) -> &str {
        "pausing"
    }

    fn run(&self, invocation: &mut Invocation<'_>) -> Execution {
        let [paused, stdout] = (self.0)(std::str::from_utf8(invocation.input).unwrap());
        invocation.observer.as_mut().unwrap()(paused.as_bytes());
        exited(stdout, 0)
    }
}

fn fake(answer: fn(&str) -> String, code: i32) -> Step {
    let mut step = Step::new(Runner::External(Box::new(Fake(answer, code))));
    step.package = "app".to_owned();
    step
}

fn built_in(run: fn(&mut ResourceList) -> Result<(), Error>) -> Step {
    let builtin = Builtin {
        name: "mine",
        aliases: &[],
        summary: "",
        doc: "",
        releases: &[],
        run: krm_catalog::Run::Native(run),
    };
    let builtin: &Builtin = Box::leak(Box::new(builtin));
    Step::new(Runner::Builtin(builtin.into()))
}

fn items() -> Vec<Item> {
    let item = |(at, name): (usize, &str)| {
        let text = format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name} # {name}\n");
        let mut item = Item::parse(text).unwrap();
        item.path = PackagePath::new(&format!("app/{name}.yaml")).ok();
        (item.index, item.origin) = (Some(0), Some(at));
        item
    };
    ["a", "b", "c"].into_iter().enumerate().map(item).collect()
}

fn names(items: &[Item]) -> Vec<String> {
    items.iter().map(|item| item.resource().name().into_owned()).collect()
}

fn all_but_b(mut step: Step) -> Step {
    step.selects = Box::new(|item| item.resource().name() != "b");
    step
}

fn run(step: &Step) -> FunctionRun {
    step.run(&mut items(), &Interrupt::new())
}

fn output(run: &FunctionRun) -> &[Item] {
    run.output.as_deref().unwrap()
}

/// The first error with the name of the function.
fn message(run: &FunctionRun) -> String {
    run.error_diagnostics()[0].message().to_owned()
}

#[test]
fn items_that_are_not_selected_keep_their_position() {
    let answer = |input: &str| {
        assert!(!input.contains("name: b") && input.contains("kubernetes.io/path: a.yaml"));
        let (head, items) = input.split_once("items:\n").unwrap();
        let (a, c) = items.split_at(items.find("- apiVersion: v1\n  kind: Pod\n  metadata:\n    annotations:\n      internal.config.kubernetes.io/path: c.yaml").unwrap());
        format!("{head}items:\n{c}{a}- apiVersion: v1\n  kind: New\n  metadata: {{name: n}}\n")
    };
    let run = run(&all_but_b(fake(answer, 0)));
    assert_eq!((run.selected, run.total), (2, 3));
    let items = output(&run);
    assert_eq!(names(items), ["c", "b", "a", "n"]);
    assert!(items[0].shares_text(&items[0].clone()));
    assert_eq!(items[3].path.as_ref().unwrap().as_str(), "app/new_n.yaml");
}

#[test]
fn answer_read_ahead_is_used_only_if_it_is_complete() {
    let answers: [fn(&str) -> [String; 2]; 4] = [
        |input| [input.replace("name: a", "name: z"), input.replace("name: a", "name: z")],
        |input| ["kind: ResourceList\nitems: []\n".to_owned(), input.replace("name: a", "name: z")],
        |input| [input.replace("name: a", "name: y"), input.replace("name: a", "name: z")],
        |input| ["no: list\n".to_owned(), input.replace("name: a", "name: z")],
    ];
    for answer in answers {
        let step = Step::new(Runner::External(Box::new(Pausing(answer))));
        assert_eq!(names(output(&run(&step))), ["z", "b", "c"]);
    }
}

#[test]
fn items_that_are_not_returned_are_removed() {
    let answer = |_: &str| "kind: ResourceList\nitems: []\n".to_owned();
    assert_eq!(names(output(&run(&all_but_b(fake(answer, 0))))), ["b"]);
}

#[test]
fn failed_function_still_reports_results() {
    let answer = |_: &str| {
        "kind: ResourceList\nresults:\n- message: bad\n  file: {path: a.yaml}\n".to_owned()
    };
    let failed = run(&fake(answer, 3));
    assert_eq!(failed.errors[0].kind(), Some(&RunKind::ExitCode { code: 3 }));
    assert_eq!(message(&failed), "function `fake` failed: exited with code 3");
    assert_eq!(&*failed.record.results[0].file.as_ref().unwrap().path, "a.yaml");
    assert_eq!((failed.record.exit_code, &*failed.record.package), (3, "app"));
    assert!(failed.stops_pipeline && failed.output.is_none() && failed.is_finding());
    let silent = run(&fake(|_| String::new(), 3));
    assert!(silent.is_failed() && !silent.is_finding());
}

#[test]
fn invalid_answer_names_the_function_and_keeps_results() {
    let answer = |_: &str| "kind: ResourceList\nresults:\n- message: bad\n".to_owned();
    let run = run(&fake(answer, 0));
    assert!(message(&run).starts_with("function `fake` failed: "), "{}", message(&run));
    assert_eq!(run.record.results[0].message, "bad");
}

#[test]
fn deferred_failure_uses_the_returned_items() {
    let mut step = fake(|input| input.replace("name: a", "name: z"), 1);
    step.defers_failure = true;
    let deferred = run(&step);
    assert_eq!(names(output(&deferred)), ["z", "b", "c"]);
    assert!(deferred.is_failed() && !deferred.stops_pipeline);
    assert_eq!(deferred.record.exit_code, 1);
    let mut step = fake(|_| "no list".to_owned(), 1);
    step.defers_failure = true;
    let deferred = run(&step);
    assert!(deferred.output.is_none(), "the items stay as they are");
    assert!(deferred.is_failed() && !deferred.stops_pipeline);
}

#[test]
fn changes_of_a_validator_are_dropped() {
    let mut step = fake(|input| input.replace("name: a", "name: z"), 0);
    step.role = Some(Role::Validator);
    let mut before = items();
    let run = step.run(&mut before, &Interrupt::new());
    assert!(output(&run).iter().zip(&before).all(|(new, old)| new.shares_text(old)));
    assert_eq!(run.warnings[0].kind(), Some(&RunKind::ValidatorChangedResources));
}

#[test]
fn items_are_left_as_they_were() {
    let steps = [
        built_in(|list| list.items[0].set("metadata.name", "renamed")),
        built_in(|list| list.items[0].set("metadata.name.x", "y")),
        fake(|input| input.replace("name: a", "name: z"), 0),
    ];
    for step in steps {
        let (before, mut after) = (items(), items());
        step.run(&mut after, &Interrupt::new());
        assert!(before.iter().zip(&after).all(|(a, b)| a.file() == b.file() && a.path == b.path));
    }
}

#[test]
fn built_in_functions_edit_items_in_place() {
    let mut step = built_in(|list| {
        assert_eq!(list.items[0].path().unwrap().as_str(), "a.yaml");
        let copy = list.items[0].clone();
        list.items[0].set("metadata.name", "renamed")?;
        list.items.remove(1);
        list.items.push(copy);
        list.items.push(Resource::parse("apiVersion: v1\nkind: New\n")?);
        Ok(())
    });
    step.package = "app".to_owned();
    let run = run(&step);
    let output = output(&run);
    assert_eq!(names(output), ["renamed", "c", "a", ""]);
    let origins: Vec<_> = output.iter().map(|item| item.origin).collect();
    assert_eq!(
        origins,
        [None, Some(2), Some(0), None],
        "the copy with the old name is the original"
    );
    assert_eq!(output[3].path.as_ref().unwrap().as_str(), "app/new.yaml");
    assert!(output[2].shares_text(&items()[0]) || output[2].text() == items()[0].text());
}

#[test]
fn panics_and_error_results_are_failures() {
    let panicked = run(&built_in(|_| panic!("{}", "oh")));
    assert_eq!(message(&panicked), "function `mine` failed: panicked: oh");
    let step = built_in(|list| {
        list.add_result(Severity::Error, "bad");
        Ok(())
    });
    let failed = run(&step);
    assert_eq!(message(&failed), "function `mine` failed: reported 1 error");
    assert_eq!(failed.record.results[0].message, "bad");
    assert!(failed.is_finding());
}

#[test]
fn log_of_a_built_in_function_is_its_stderr() {
    let step = built_in(|list| {
        list.log.push("hello".to_owned());
        Ok(())
    });
    assert_eq!(run(&step).record.stderr, "hello\n");
}

#[test]
fn endless_built_in_function_is_abandoned() {
    let endless = || {
        built_in(|_| {
            loop {
                std::thread::park();
            }
        })
    };
    let mut step = endless();
    step.limits.time = Duration::from_millis(10);
    assert_eq!(message(&run(&step)), "function `mine` failed: timed out after 0.01 seconds");
    let interrupt = Interrupt::new();
    let copy = interrupt.clone();
    let other = std::thread::spawn(move || copy.interrupt());
    let interrupted = endless().run(&mut items(), &interrupt);
    assert_eq!(interrupted.errors[0].kind(), Some(&RunKind::Interrupted));
    other.join().unwrap();
}

#[test]
fn errors_of_built_in_functions_name_files_from_the_root() {
    let mut step = built_in(|list| {
        let item = list.items[0].item();
        let error = Diagnostic::error(RunKind::Interrupted).at(item.file(), item.root().span());
        Err(error.in_file(list.items[0].path().unwrap().as_str()).into())
    });
    step.package = "app".to_owned();
    assert_eq!(run(&step).errors[0].file.as_deref(), Some("app/a.yaml"));
}

#[test]
fn first_empty_name_of_many_resources_is_the_error() {
    let step = built_in(|list| {
        for at in [150, 70, 190] {
            list.items[at].set("metadata.name", "")?;
        }
        Ok(())
    });
    let item = |number: usize| {
        let text = format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: p{number}\n");
        let mut item = Item::parse(text).unwrap();
        item.origin = Some(number);
        item
    };
    let mut items: Vec<Item> = (0..200).map(item).collect();
    let run = step.run(&mut items, &Interrupt::new());
    let errors: Vec<&str> = run.errors.iter().map(Diagnostic::message).collect();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].contains("Pod p70 "), "{errors:?}");
}
