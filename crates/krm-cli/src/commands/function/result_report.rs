//! Reports the results of a function: findings with their source lines, infos as one line each, many of one kind as one line.

use std::collections::{BTreeMap, BTreeSet};

use krm_core::functions::resource_list::FunctionResult;
use krm_core::functions::results::ResultLocator;
use krm_core::{Package, Severity};
use krm_run::FunctionRun;

use super::run_report::finding;
use crate::console::{Console, number, plural};

/// The largest number of lines of infos of one function without `--verbose`.
const INFO_LINES: usize = 20;

/// Prints the results of a function. Those that are not printed are not located, which takes longer than printing them.
pub(super) fn report(
    run: &FunctionRun,
    (package, locator): (&Package, &ResultLocator<'_>),
    console: &mut Console,
) {
    let directory = run.record.package.as_str();
    let (infos, findings): (Vec<_>, Vec<_>) =
        run.reported().iter().partition(|it| it.severity == Severity::Info);
    for result in findings {
        let source = finding(run, result, (package, locator), console);
        let diagnostic = locator.diagnostic(directory, result);
        // Otherwise the line above says which function it was.
        let diagnostic = match console.is_for_people() && !console.is_quiet() {
            true => diagnostic,
            false => diagnostic.note(format!("reported by {}", run.label())),
        };
        console.report_result(&diagnostic, source);
    }
    if !console.reports(Severity::Info) {
        return;
    }
    if console.collapses_infos() {
        let lines = collapsed(&infos);
        return lines.iter().for_each(|line| console.status(&format!("  [info] {line}")));
    }
    for result in infos {
        let source = finding(run, result, (package, locator), console);
        match console.is_for_people() {
            true => {
                console.status(&format!("  [info] {}", one_line(result)));
                if console.records(Severity::Info) {
                    console.record_result(&locator.diagnostic(directory, result), source);
                }
            }
            false => console.report_result(&locator.diagnostic(directory, result), source),
        }
    }
}

/// One line for each message, with the number of fields and resources where it was reported for several.
fn collapsed(infos: &[&FunctionResult]) -> Vec<String> {
    let mut order: Vec<&str> = Vec::new();
    let mut groups: BTreeMap<&str, Vec<&FunctionResult>> = BTreeMap::new();
    for result in infos {
        let group = groups.entry(&result.message).or_default();
        if group.is_empty() {
            order.push(&result.message);
        }
        group.push(result);
    }
    let mut lines: Vec<String> =
        order.iter().take(INFO_LINES).map(|it| line(&groups[it])).collect();
    let more: usize = order.iter().skip(INFO_LINES).map(|it| groups[it].len()).sum();
    if more > 0 {
        lines.push(format!("{} more; -v prints all of them", number(more)));
    }
    lines
}

/// The line for results with the same message.
fn line(group: &[&FunctionResult]) -> String {
    let [first, _, ..] = group else { return group.iter().map(|it| one_line(it)).collect() };
    let message = first.message.replace('\n', " ");
    let resources: BTreeSet<_> = group.iter().map(|it| subject(it)).collect();
    let fields = group.iter().filter(|it| it.field.is_some()).count();
    match resources.len() {
        _ if resources.contains(&None) => format!("{message} ({} times)", number(group.len())),
        count if fields > count => {
            format!("{message}: {} of {}", plural(fields, "field"), plural(count, "resource"))
        }
        count => format!("{message}: {}", plural(count, "resource")),
    }
}

/// The resource that a result is about, as something to compare.
fn subject(result: &FunctionResult) -> Option<String> {
    let file = result.file.as_ref().map(|it| format!("{} {}", it.path, it.index));
    let resource = result.to_diagnostic().resource;
    (file.is_some() || resource.is_some()).then(|| {
        format!("{} {}", file.unwrap_or_default(), resource.as_deref().unwrap_or_default())
    })
}

/// A result as one line: what it is about, and its message.
fn one_line(result: &FunctionResult) -> String {
    let diagnostic = result.to_diagnostic();
    let subject = [
        result.file.as_ref().map(|it| &*it.path),
        diagnostic.resource.as_deref(),
        diagnostic.field.as_deref(),
    ];
    let subject: Vec<&str> = subject.into_iter().flatten().collect();
    let message = diagnostic.message().replace('\n', " ");
    if subject.is_empty() { message } else { format!("{}: {message}", subject.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_core::functions::resource_list::results::{FieldRef, FileRef};

    fn info(message: &str, file: Option<&str>, field: Option<&str>) -> FunctionResult {
        FunctionResult {
            file: file.map(|path| FileRef { path: path.into(), index: 0 }),
            field: field.map(FieldRef::new),
            ..FunctionResult::new(Severity::Info, message)
        }
    }

    fn lines(infos: &[FunctionResult]) -> Vec<String> {
        collapsed(&infos.iter().collect::<Vec<_>>())
    }

    #[test]
    fn same_messages_become_one_line_with_counts() {
        let infos = [
            info("set", Some("a.yaml"), Some("metadata.annotations")),
            info("set", Some("a.yaml"), Some("spec.template.metadata.annotations")),
            info("set", Some("b.yaml"), Some("metadata.annotations")),
            info("done", None, None),
        ];
        assert_eq!(lines(&infos), ["set: 3 fields of 2 resources", "done"]);
        assert_eq!(lines(&infos[..1]), ["a.yaml metadata.annotations: set"]);
        let one_field_each = [infos[0].clone(), infos[2].clone()];
        assert_eq!(lines(&one_field_each), ["set: 2 resources"]);
        assert_eq!(lines(&[infos[3].clone(), infos[3].clone()]), ["done (2 times)"]);
    }

    #[test]
    fn very_many_messages_are_cut_off() {
        let infos: Vec<_> = (0..1500).map(|it| info(&it.to_string(), None, None)).collect();
        let lines = lines(&infos);
        assert_eq!(lines.len(), INFO_LINES + 1);
        assert_eq!(lines[INFO_LINES], "1,480 more; -v prints all of them");
    }
}
