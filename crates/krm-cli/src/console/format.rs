//! The formats that diagnostics are told in: for people, for programs, and for the workflows of GitHub.

use krm_core::print::json;
use krm_core::{Diagnostic, Severity};

use super::snippet;
use crate::cli::ErrorFormat;
use crate::disk;

/// One diagnostic in this format, with a line break at its end.
pub(super) fn write(diagnostic: &Diagnostic, format: ErrorFormat, colored: bool) -> String {
    match format {
        ErrorFormat::Text => snippet::render(diagnostic, colored),
        ErrorFormat::Json => format!("{}\n", json::write(&diagnostic.to_value())),
        ErrorFormat::Github => github(diagnostic),
    }
}

/// A workflow command: what it is, its properties, its message.
fn github(diagnostic: &Diagnostic) -> String {
    let command = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let mut properties = Vec::new();
    // Standard input is no file that a page could link to.
    let file = diagnostic.file.as_deref();
    if let Some(file) = file.filter(|file| *file != disk::shown(disk::STDIN)) {
        properties.push(format!("file={}", property(file)));
        if let Some(place) = &diagnostic.location {
            properties.push(format!("line={}", place.line));
            properties.push(format!("col={}", place.column));
        }
    }
    let title = diagnostic.resource.as_deref().or(diagnostic.field.as_deref()).unwrap_or("krm");
    properties.push(format!("title={}", property(title)));
    let hints = diagnostic.hints.iter().map(|hint| format!("\nhelp: {hint}"));
    let message = format!("{}{}", diagnostic.message(), hints.collect::<String>());
    format!("::{command} {}::{}\n", properties.join(","), data(&message))
}

/// Spec: what would end the message early is escaped as in a URL.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Spec: in a property its separators are escaped, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// What clap has to say about a command line, as one of ours.
pub(super) fn of_usage(error: &clap::Error) -> Diagnostic {
    use clap::error::ErrorKind;
    let text = error.render().to_string();
    let no_command_kinds =
        [ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, ErrorKind::MissingSubcommand];
    if no_command_kinds.contains(&error.kind()) {
        return no_command();
    }
    let mut parts = text.split("\n\n");
    let first = parts.next().unwrap_or_default();
    let words: Vec<&str> = first.trim_start_matches("error: ").split_whitespace().collect();
    let mut diagnostic = Diagnostic::untyped_error(words.join(" "));
    for part in parts.map(str::trim) {
        if let Some(usage) = part.strip_prefix("Usage: ") {
            diagnostic = diagnostic.hint(format!("usage: {}", usage.trim()));
        }
        for tip in part.lines().filter_map(|line| line.trim().strip_prefix("tip: ")) {
            diagnostic = diagnostic.hint(tip);
        }
    }
    diagnostic
}

/// What to say instead of a page of help.
pub(super) fn no_command() -> Diagnostic {
    Diagnostic::untyped_error("a command is missing").hint("--help lists the commands")
}

/// The format that a command line asks for, also where nothing else of it can be read.
pub(super) fn asked_for(words: impl Iterator<Item = String>) -> ErrorFormat {
    let mut words = words.take_while(|word| word != "--");
    let mut asked = None;
    while let Some(word) = words.next() {
        if word == "--error-format" {
            asked = words.next();
        } else if let Some(name) = word.strip_prefix("--error-format=") {
            asked = Some(name.to_owned());
        }
    }
    let format = |name: String| <ErrorFormat as clap::ValueEnum>::from_str(&name, false).ok();
    asked.and_then(format).unwrap_or(ErrorFormat::Text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::{File, Span};

    #[test]
    fn a_workflow_command_cannot_be_ended_early() {
        let file = File::parse("a: 1\n".to_owned()).unwrap();
        let told = Diagnostic::untyped_error("100% wrong::\nreally")
            .in_file("a,b:c\n.yaml")
            .at(&file, Span::new(3, 4))
            .hint("write 2");
        let expected = "::error file=a%2Cb%3Ac%0A.yaml,line=1,col=4,title=krm::100%25 wrong::%0Areally%0Ahelp: write 2\n";
        assert_eq!(write(&told, ErrorFormat::Github, true), expected);
        let warning = Diagnostic::untyped_warning("odd").in_file("<stdin>").field("spec.a");
        assert_eq!(github(&warning), "::warning title=spec.a::odd\n");
    }

    #[test]
    fn the_format_is_found_in_a_command_line_that_is_wrong() {
        let of = |line: &str| asked_for(line.split(' ').map(str::to_owned));
        assert_eq!(of("krm --error-format json --wrong"), ErrorFormat::Json);
        assert_eq!(of("krm --wrong --error-format=github"), ErrorFormat::Github);
        assert_eq!(of("krm --error-format=xml --wrong"), ErrorFormat::Text);
        assert_eq!(of("krm yaml set a -- --error-format=json"), ErrorFormat::Text);
    }
}
