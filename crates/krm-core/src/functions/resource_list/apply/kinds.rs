//! Kinds of errors in function output.

use krm_yaml::{Excerpt, diagnostic_kinds};

diagnostic_kinds! {
    /// Why the output of a function cannot be applied.
    pub enum OutputKind {
        /// The output has no `items`.
        MissingItems = "output-missing-items": "the function output has no `items`, but resources were sent", hint "return `items: []` to delete all resources";
        /// The output ends in the middle of a line.
        Truncated { consequence: &'static str } = "output-truncated": "the function output is truncated: its last line {consequence}", hint "end the output with a line break";
        /// An integer was rounded.
        LostDigits { path: String, resource: String, sent: Excerpt, returned: Excerpt } = "output-lost-digits": "the function rounded `{path}` of {resource} from {sent} to {returned}", hint "quote the number if a string is allowed there, or let the function parse integers exactly";
        /// A value that JSON does not have.
        NotJson { value: Excerpt } = "output-not-json": "cannot write `{value}` to a JSON file", hint "write the file as YAML, or quote the value";
    }
}
