//! The formats of diagnostics: text for people, JSON for programs, workflow commands for GitHub Actions.

use std::borrow::Cow;

use krm_core::print::{json, visible_line, visible_lines};
use krm_core::{Diagnostic, Severity};

use super::snippet;
use crate::cli::ErrorFormat;
use crate::commands::kinds::CommandKind;
use crate::disk;

/// Formats one diagnostic, including the final line break.
pub(super) fn write(diagnostic: &Diagnostic, format: ErrorFormat, colored: bool) -> String {
    match format {
        ErrorFormat::Text => {
            let mut visible = diagnostic.clone();
            visible.make_visible();
            snippet::render(&visible, colored)
        }
        ErrorFormat::Json => {
            format!("{}\n", ascii_controls(&json::display(&diagnostic.to_value())))
        }
        ErrorFormat::Github => github(diagnostic),
    }
}

/// JSON with the characters escaped that control terminals. Those below a space are escaped in any JSON, and all of them can only be
/// inside of strings.
fn ascii_controls(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match visible_line(c.encode_utf8(&mut [0; 4])) {
            Cow::Borrowed(_) => text.push(c),
            Cow::Owned(_) => text.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    text.replace("##", "\\u0023#")
}

/// Formats a workflow command of GitHub Actions: `::error PROPERTIES::MESSAGE`.
fn github(diagnostic: &Diagnostic) -> String {
    let command = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let mut properties = Vec::new();
    // GitHub links the file, and standard input has no page to link to.
    let file = diagnostic.file.as_deref();
    if let Some(file) = file.filter(|file| *file != disk::display_name(disk::STDIN)) {
        properties.push(format!("file={}", property(file)));
        if let Some(location) = &diagnostic.location {
            properties.push(format!("line={}", location.line));
            properties.push(format!("col={}", location.column));
        }
    }
    let subject = diagnostic.resource.as_deref().or(diagnostic.field.as_deref()).unwrap_or("krm");
    properties.push(format!("title={}", property(&format!("{subject} ({})", diagnostic.id()))));
    let notes = diagnostic.notes().iter().map(|note| format!("\nnote: {note}"));
    let hints = diagnostic.hints.iter().map(|hint| format!("\nhelp: {hint}"));
    let message = format!("{}{}", diagnostic.message(), notes.chain(hints).collect::<String>());
    format!("::{command} {}::{}\n", properties.join(","), data(&message))
}

/// Spec: line breaks would end the command, so they are percent-encoded, and so is `%` itself.
fn data(text: &str) -> String {
    visible_lines(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Spec: in a property the separators `:` and `,` are percent-encoded, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Converts clap's error about a command line to a diagnostic.
///
/// clap offers the message only as part of its rendered text, whose paragraphs are the message, tips and the usage.
pub(super) fn from_clap(error: &clap::Error) -> Diagnostic {
    use clap::error::ErrorKind;
    let no_command =
        [ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, ErrorKind::MissingSubcommand];
    if no_command.contains(&error.kind()) {
        return Diagnostic::error(CommandKind::MissingCommand);
    }
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n");
    let first = paragraphs.next().unwrap_or_default().trim_start_matches("error: ");
    let message = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut diagnostic = Diagnostic::error(CommandKind::InvalidUsage { message });
    for paragraph in paragraphs.map(str::trim) {
        if let Some(usage) = paragraph.strip_prefix("Usage: ") {
            diagnostic = diagnostic.hint(format!("usage: {}", usage.trim()));
        }
        for tip in paragraph.lines().filter_map(|line| line.trim().strip_prefix("tip: ")) {
            diagnostic = diagnostic.hint(tip);
        }
    }
    diagnostic
}

/// Finds `--error-format` in a command line that may not parse otherwise.
pub(super) fn requested(arguments: impl Iterator<Item = String>) -> ErrorFormat {
    let mut arguments = arguments.take_while(|argument| argument != "--");
    let mut name = None;
    while let Some(argument) = arguments.next() {
        if argument == "--error-format" {
            name = arguments.next();
        } else if let Some(value) = argument.strip_prefix("--error-format=") {
            name = Some(value.to_owned());
        }
    }
    let format = |name: String| <ErrorFormat as clap::ValueEnum>::from_str(&name, false).ok();
    name.and_then(format).unwrap_or(ErrorFormat::Text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::{File, Span};

    #[test]
    fn workflow_command_escapes_line_breaks_and_separators() {
        let file = File::parse("a: 1\n".to_owned()).unwrap();
        let error = Diagnostic::error(status("100% wrong::\nreally"))
            .in_file("a,b:c\n.yaml")
            .at(&file, Span::new(3, 4))
            .hint("write 2");
        let expected = "::error file=a%2Cb%3Ac%0A.yaml,line=1,col=4,title=krm (status)::100%25 wrong::%0Areally%0Ahelp: write 2\n";
        assert_eq!(write(&error, ErrorFormat::Github, true), expected);
        let warning = Diagnostic::warning(status("odd")).in_file("<stdin>").field("spec.a");
        assert_eq!(github(&warning), "::warning title=spec.a (status)::odd\n");
    }

    #[test]
    fn control_characters_are_escaped_in_every_format() {
        let hostile = "web\u{1b}[2J\u{9b}\u{202e}\n::error::forged\n[PASS]";
        let file = File::parse("a: \u{202e}1\n".to_owned()).unwrap();
        let error = Diagnostic::error(status(hostile))
            .in_file(hostile)
            .resource(hostile)
            .field(hostile)
            .hint(hostile)
            .note(hostile);
        let located =
            error.clone().at(&file, Span::new(3, 7)).related(&file, Span::new(0, 1), hostile);
        for error in [error, located] {
            for format in [ErrorFormat::Text, ErrorFormat::Json, ErrorFormat::Github] {
                let text = write(&error, format, false);
                let is_raw = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
                assert!(!text.contains(is_raw), "{text:?}");
                assert!(
                    !text.lines().any(|line| line.trim_start().starts_with("::error::")),
                    "{text}"
                );
                assert!(!text.lines().any(|line| line.starts_with("[PASS]")), "{text}");
            }
        }
    }

    fn status(message: &str) -> CommandKind {
        CommandKind::Status { message: message.to_owned() }
    }

    #[test]
    fn error_format_is_found_in_an_invalid_command_line() {
        let of = |line: &str| requested(line.split(' ').map(str::to_owned));
        assert_eq!(of("krm --error-format json --wrong"), ErrorFormat::Json);
        assert_eq!(of("krm --wrong --error-format=github"), ErrorFormat::Github);
        assert_eq!(of("krm --error-format=xml --wrong"), ErrorFormat::Text);
        assert_eq!(of("krm yaml set a -- --error-format=json"), ErrorFormat::Text);
    }
}
