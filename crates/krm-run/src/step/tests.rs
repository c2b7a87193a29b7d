//! Steps that change, drop, add and refuse, with functions that are plain values.

use krm_core::PackagePath;
use krm_sdk::{Error, Resource, ResourceList};

use super::*;
use crate::{Failure, Listener, Outcome, Reason};

/// A function that answers with what it makes of its input, and with this exit code.
struct Fake(fn(&str) -> String, i32);

impl Function for Fake {
    fn name(&self) -> &str {
        "fake"
    }

    fn run_heard(
        &self,
        input: &[u8],
        _: &Limits,
        _: &Interrupt,
        _: &mut Listener<'_>,
    ) -> Result<Outcome, Failure> {
        let stdout = (self.0)(std::str::from_utf8(input).unwrap());
        let (stderr, time) = (Tail::default(), Duration::ZERO);
        match self.1 {
            0 => Ok(Outcome { stdout, stderr, time, image: None }),
            code => {
                let failure = Failure::new("fake", Reason::Exit(code));
                Err(failure.saying(stdout.into_bytes(), stderr, time))
            }
        }
    }
}

/// A function that pauses behind the first of these texts, and whose answer is the second.
struct Pausing(fn(&str) -> [String; 2]);

impl Function for Pausing {
    fn name(&self) -> &str {
        "pausing"
    }

    fn run_heard(
        &self,
        input: &[u8],
        _: &Limits,
        _: &Interrupt,
        listener: &mut Listener<'_>,
    ) -> Result<Outcome, Failure> {
        let [paused, stdout] = (self.0)(std::str::from_utf8(input).unwrap());
        listener(paused.as_bytes());
        Ok(Outcome { stdout, stderr: Tail::default(), time: Duration::ZERO, image: None })
    }
}

fn fake(answer: fn(&str) -> String, code: i32) -> Step {
    let mut step = Step::new(Runner::Outside(Box::new(Fake(answer, code))));
    (step.declared_at, step.folder) = (Some("app/Kptfile:7".to_owned()), "app".to_owned());
    step
}

fn built_in(run: fn(&mut ResourceList) -> Result<(), Error>) -> Step {
    let builtin = Builtin { name: "mine", aliases: &[], summary: "", doc: "", tags: &[], run };
    Step::new(Runner::Builtin(Box::leak(Box::new(builtin))))
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

fn is_wanted(item: &Item) -> bool {
    item.resource().name() != "b"
}

#[test]
fn what_was_not_sent_stays_where_it_is() {
    let answer = |input: &str| {
        assert!(!input.contains("name: b") && input.contains("kubernetes.io/path: a.yaml"));
        let (head, items) = input.split_once("items:\n").unwrap();
        let (a, c) = items.split_at(items.find("- apiVersion: v1\n  kind: Pod\n  metadata:\n    annotations:\n      internal.config.kubernetes.io/path: c.yaml").unwrap());
        format!("{head}items:\n{c}{a}- apiVersion: v1\n  kind: New\n  metadata: {{name: n}}\n")
    };
    let done = fake(answer, 0).run(items(), is_wanted, &Interrupt::new()).unwrap();
    assert_eq!(names(&done.items), ["c", "b", "a", "n"]);
    assert!(done.items[0].shares_text(&done.items[0].clone()) && done.gone.is_empty());
    assert_eq!(done.items[3].path.as_ref().unwrap().as_str(), "app/new_n.yaml");
}

#[test]
fn what_was_read_ahead_is_taken_only_if_nothing_came_behind_it() {
    let answers: [fn(&str) -> [String; 2]; 4] = [
        |input| [input.replace("name: a", "name: z"), input.replace("name: a", "name: z")],
        |input| ["kind: ResourceList\nitems: []\n".to_owned(), input.replace("name: a", "name: z")],
        |input| [input.replace("name: a", "name: y"), input.replace("name: a", "name: z")],
        |input| ["no: list\n".to_owned(), input.replace("name: a", "name: z")],
    ];
    for answer in answers {
        let step = Step::new(Runner::Outside(Box::new(Pausing(answer))));
        let done = step.run(items(), |_| true, &Interrupt::new()).unwrap();
        assert_eq!(names(&done.items), ["z", "b", "c"]);
        assert!(done.gone.is_empty());
    }
}

#[test]
fn what_does_not_come_back_is_gone() {
    let answer = |_: &str| "kind: ResourceList\nitems: []\n".to_owned();
    let done = fake(answer, 0).run(items(), is_wanted, &Interrupt::new()).unwrap();
    assert_eq!(
        (names(&done.items), names(&done.gone)),
        (vec!["b".into()], vec!["a".into(), "c".into()])
    );
}

#[test]
fn a_failure_names_the_function_its_place_and_has_its_say() {
    let answer = |_: &str| {
        "kind: ResourceList\nresults:\n- message: bad\n  file: {path: a.yaml}\n".to_owned()
    };
    let failure = fake(answer, 3).run(items(), |_| true, &Interrupt::new()).unwrap_err();
    assert_eq!(failure.diagnostics[0].hints.last().unwrap(), "it is declared in app/Kptfile:7");
    assert_eq!(failure.diagnostics[0].message(), "ended with exit code 3");
    assert_eq!(failure.told("fake")[0].message(), "function `fake` ended with exit code 3");
    assert_eq!(failure.results[0].file.as_ref().unwrap().path, "app/a.yaml");
    assert_eq!((failure.exit_code, failure.is_finding), (Some(3), false));
    let mut step = fake(answer, 1);
    step.is_validator = true;
    assert!(step.run(items(), |_| true, &Interrupt::new()).unwrap_err().is_finding);
}

#[test]
fn an_answer_that_cannot_be_taken_names_the_function_and_has_its_say() {
    let answer = |_: &str| "kind: ResourceList\nresults:\n- message: bad\n".to_owned();
    let failure = fake(answer, 0).run(items(), |_| true, &Interrupt::new()).unwrap_err();
    assert_eq!(
        failure.told("fake")[0].message(),
        "function `fake`: the output has no `items`, and resources were sent"
    );
    assert_eq!(failure.results[0].message, "bad");
}

#[test]
fn a_deferred_failure_gives_what_there_is() {
    let mut step = fake(|input| input.replace("name: a", "name: z"), 1);
    step.defers_failure = true;
    let done = step.run(items(), |_| true, &Interrupt::new()).unwrap();
    assert_eq!(names(&done.items), ["z", "b", "c"]);
    assert_eq!(done.failure.unwrap().exit_code, Some(1));
    let mut step = fake(|_| "no list".to_owned(), 1);
    step.defers_failure = true;
    let done = step.run(items(), |_| true, &Interrupt::new()).unwrap();
    assert_eq!(names(&done.items), ["a", "b", "c"]);
    assert!(done.failure.is_some());
}

#[test]
fn a_validator_changes_nothing() {
    let mut step = fake(|input| input.replace("name: a", "name: z"), 0);
    step.is_validator = true;
    let before = items();
    let done = step.run(before.clone(), |_| true, &Interrupt::new()).unwrap();
    assert!(done.items.iter().zip(&before).all(|(new, old)| new.shares_text(old)));
    assert!(done.warnings[0].message().contains("is a validator"), "{:?}", done.warnings);
}

#[test]
fn built_in_functions_work_on_the_items() {
    let mut step = built_in(|list| {
        assert_eq!(list.items[0].path().unwrap().as_str(), "a.yaml");
        let copy = list.items[0].clone();
        list.items[0].set("metadata.name", "renamed")?;
        list.items.remove(1);
        list.items.push(copy);
        list.items.push(Resource::parse("apiVersion: v1\nkind: New\n")?);
        Ok(())
    });
    step.folder = "app".to_owned();
    let done = step.run(items(), |_| true, &Interrupt::new()).unwrap();
    assert_eq!(names(&done.items), ["renamed", "c", "a", ""]);
    let origins: Vec<_> = done.items.iter().map(|item| item.origin).collect();
    assert_eq!(origins, [None, Some(2), Some(0), None], "the one that kept its name is it");
    assert_eq!(names(&done.gone), ["b"]);
    assert_eq!(done.items[3].path.as_ref().unwrap().as_str(), "app/new.yaml");
    assert!(done.items[2].shares_text(&items()[0]) || done.items[2].text() == items()[0].text());
}

#[test]
fn a_panic_and_errors_among_results_are_failures() {
    let failure = built_in(|_| panic!("{}", "oh")).run(items(), |_| true, &Interrupt::new());
    let message = failure.unwrap_err().diagnostics[0].message().to_owned();
    assert_eq!(message, "it panicked, which is a fault in krm: oh");
    let step = built_in(|list| {
        list.say(Severity::Error, "bad");
        Ok(())
    });
    let failure = step.run(items(), |_| true, &Interrupt::new()).unwrap_err();
    assert_eq!(failure.told("mine")[0].message(), "function `mine` found 1 error");
    assert_eq!(failure.results[0].message, "bad");
}

#[test]
fn what_a_built_in_function_prints_is_its_standard_error() {
    let step = built_in(|list| {
        list.log.push("hello".to_owned());
        Ok(())
    });
    let done = step.run(items(), |_| true, &Interrupt::new()).unwrap();
    assert_eq!(done.stderr.total(), 6);
}

#[test]
fn a_built_in_function_that_does_not_end_is_left_behind() {
    let endless = || {
        built_in(|_| {
            loop {
                std::thread::park();
            }
        })
    };
    let mut step = endless();
    step.limits.time = Duration::from_millis(10);
    let failure = step.run(items(), |_| true, &Interrupt::new()).unwrap_err();
    assert_eq!(failure.told("mine")[0].message(), "function `mine` was stopped after 0.01 seconds");
    let interrupt = Interrupt::new();
    let copy = interrupt.clone();
    let other = std::thread::spawn(move || copy.interrupt());
    let failure = endless().run(items(), |_| true, &interrupt).unwrap_err();
    assert_eq!(failure.diagnostics[0].message(), "was interrupted");
    other.join().unwrap();
}

#[test]
fn an_error_of_a_built_in_function_names_the_file_from_the_root() {
    let mut step = built_in(|list| {
        let item = list.items[0].item();
        let told = Diagnostic::untyped_error("bad").at(item.file(), item.root().span());
        Err(told.in_file(list.items[0].path().unwrap().as_str()).into())
    });
    step.folder = "app".to_owned();
    let failure = step.run(items(), |_| true, &Interrupt::new()).unwrap_err();
    assert_eq!(failure.diagnostics[0].file.as_deref(), Some("app/a.yaml"));
}
