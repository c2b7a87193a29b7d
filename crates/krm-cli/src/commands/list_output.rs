//! `-o` of commands that print a list: text for people, or JSON or YAML for programs.

use clap::ValueEnum;
use krm_core::print::{self, Record};

use crate::Failure;
use crate::console::Console;

/// The option of commands that print a list.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ListOutput {
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Text for people
    Text,
    /// One JSON array, one element per line
    Json,
    /// One YAML sequence
    Yaml,
}

impl ListOutput {
    /// Prints a list as the option says.
    pub(crate) fn print<'a>(
        self,
        console: &mut Console,
        text: impl FnOnce() -> String,
        records: impl FnOnce() -> Vec<Record<'a>>,
    ) -> Result<(), Failure> {
        let format = match self.output {
            Output::Text => return console.lines(&text()),
            Output::Json => ListFormat::Json,
            Output::Yaml => ListFormat::Yaml,
        };
        console.data(&format.write(&records())?)
    }
}

/// Formats of lists for programs, where the text is something else than a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// One JSON array, one element per line
    Json,
    /// One YAML sequence
    Yaml,
}

impl ListFormat {
    pub(crate) fn write(self, records: &[Record<'_>]) -> Result<String, Failure> {
        match self {
            Self::Json => print::records_to_json(records).map_err(Failure::input),
            Self::Yaml => Ok(print::records_to_yaml(records)),
        }
    }
}
