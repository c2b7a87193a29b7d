//! Kinds of syntax errors.

use crate::{Excerpt, diagnostic_kinds};

diagnostic_kinds! {
    /// What is wrong with the syntax of a document.
    pub enum SyntaxErrorKind {
        /// A line that git wrote into a file with a merge conflict.
        ConflictMarker = "conflict-marker": "unresolved merge conflict: git's markers are still in the file",
            hint "choose one side, or merge again with `krm yaml merge3`";
        /// A line that should be `key: value` has no colon.
        MissingColon { key: Excerpt, value: Excerpt } = "missing-colon": "expected `:` after `{key}`",
            hint "write `{}`" (format!("{key}: {value}").trim_end());
        /// A colon is directly followed by the value.
        MissingSpaceAfterColon { key: Excerpt, value: Excerpt } = "missing-space-after-colon": "expected a space after `{key}:`",
            hint "write `{key}: {value}`";
        /// A second `: ` in a plain scalar.
        UnexpectedColon = "unexpected-colon": "unexpected second `: ` on one line", hint "quote the value if the colon is part of it";
        /// A nested line below a key that already has a value.
        NestedBelowValue { key: Excerpt } = "nested-below-value": "`{key}` already has a value, so nothing can be nested below it";
        /// A `- ` where a key of a mapping should be.
        UnexpectedElement = "unexpected-sequence-element": "expected a key, found a sequence element",
            hint "put the sequence below a key that has no other value";
        /// A line at the column of a collection that is not one of its entries.
        ExpectedEntry { entry: &'static str } = "expected-block-entry": "expected `{entry}`";
        /// A line whose column is not that of any open collection.
        WrongIndentation { indent: u32, open: Vec<u32> } = "wrong-indentation":
            "indentation of {indent} {} does not match any block above" (spaces(*indent)),
            hint if (!open.is_empty()) "indent the line by {} spaces" (or_list(open));
        /// A tab in the indentation.
        TabIndentation = "tab-indentation": "tab in the indentation", hint "YAML is indented with spaces: replace the tab";
        /// A tab between tokens where only spaces separate them.
        UnexpectedTab = "unexpected-tab": "unexpected tab", hint "replace the tab with spaces";
        /// Something follows the closing bracket of a flow collection.
        TextAfterBracket = "text-after-bracket": "unexpected text after the closing bracket",
            hint "quote the value if the brackets are part of it";
        /// A closing bracket without an opening one.
        UnexpectedClosingBracket = "unexpected-closing-bracket": "unexpected closing bracket";
        /// A closing bracket of another type than the opening one.
        MismatchedBracket { open: char, close: char } = "mismatched-bracket": "mismatched closing bracket: `{open}` is closed by `{close}`";
        /// A flow collection that is not closed.
        UnclosedBracket { open: char, close: char } = "unclosed-bracket": "unclosed `{open}`", hint "add the closing `{close}`";
        /// Two entries of a flow collection without a comma between them.
        MissingComma = "missing-comma": "expected `,` or a closing bracket";
        /// A quoted scalar that is not closed.
        UnclosedQuote = "unclosed-quote": "unclosed quote", hint "add the closing quote, or indent the lines that belong to the string";
        /// Something follows the closing quote.
        TextAfterQuote { quote: char } = "text-after-quote": "unexpected text after the closing quote",
            hint "write a quote inside {} quotes as {}" (if *quote == '\'' { "single" } else { "double" }, if *quote == '\'' { "''" } else { "\\\"" });
        /// A backslash and a character that form no escape sequence.
        UnknownEscape { code: char } = "unknown-escape": "unknown escape sequence `\\{code}`",
            hint "write `\\\\` for a backslash, or use single quotes";
        /// `\x`, `\u` or `\U` without enough digits.
        IncompleteEscape { code: char, digits: usize } = "incomplete-escape": "escape sequence `\\{code}` needs {digits} hexadecimal digits";
        /// An escape sequence that is not a Unicode character.
        InvalidEscape = "invalid-escape": "escape sequence is not a Unicode character: half of a surrogate pair";
        /// An escape sequence that is wrong in some other way.
        BrokenEscape = "broken-escape": "invalid escape sequence in a double-quoted string";
        /// Something other than indicators in the header of a block scalar.
        BlockScalarHeader = "block-scalar-header": "unexpected text after the block scalar header",
            hint "start the text on the next line; only `-`, `+` and a digit from 1 to 9 may follow `|` or `>`";
        /// Leading blank lines with more spaces than the first line of content.
        BlockScalarBlankLines = "block-scalar-blank-lines": "blank lines above are indented deeper than the block scalar",
            hint "remove the spaces from those lines";
        /// A comment between the lines of a plain scalar.
        CommentInScalar = "comment-in-scalar": "comment inside a plain scalar of several lines",
            hint "move the comment above the scalar, or use a block scalar (`|`)";
        /// A `#` directly after a value.
        MissingSpaceBeforeComment = "missing-space-before-comment": "expected a space before `#`",
            hint "put a space before a comment, or quote the value";
        /// An alias of an anchor that is not in the document, or only below it.
        UndefinedAnchor { name: Excerpt } = "undefined-anchor": "anchor `{name}` is not defined",
            hint "define `&{name}` above its alias, or quote the value if it is a string";
        /// An alias with an anchor of its own.
        AnchorOnAlias = "anchor-on-alias": "an alias cannot have an anchor";
        /// A plain scalar that begins with an indicator.
        ReservedCharacter { character: char } = "reserved-character": "a value cannot start with `{character}`", hint "quote the value";
        /// A control character that YAML does not allow.
        ControlCharacter { code: u32 } = "control-character": "control character U+{code:04X} is not allowed",
            hint "write it as an escape sequence in double quotes";
        /// Directives without a `---` after them.
        MissingDocumentStart = "missing-document-start": "expected `---` after the directives";
        /// A directive before the previous document has ended.
        DirectiveInDocument = "directive-in-document": "directive inside a document", hint "end the document above with `...`";
        /// Two `%YAML` directives in one document.
        DuplicateYamlDirective = "duplicate-yaml-directive": "duplicate %YAML directive";
        /// A tag with a handle that is not declared.
        UndeclaredTagHandle = "undeclared-tag-handle": "tag handle is not declared by a %TAG directive";
        /// Something follows `...` on its line.
        TextAfterDocumentEnd = "text-after-document-end": "unexpected text after `...`";
        /// A byte-order mark that is not at the start of a document.
        ByteOrderMark = "byte-order-mark": "byte-order mark inside a document";
        /// Collections nested deeper than [`ReadOptions::max_depth`](crate::ReadOptions::max_depth).
        NestingTooDeep { limit: usize } = "nesting-too-deep": "nested deeper than {limit} levels";
        /// Any other violation of the grammar, as the parser describes it.
        Invalid { reason: String } = "invalid-yaml": "invalid YAML: {reason}";
    }
}

fn spaces(count: u32) -> &'static str {
    if count == 1 { "space" } else { "spaces" }
}

/// `0, 2 or 4`.
fn or_list(columns: &[u32]) -> String {
    let columns: Vec<String> = columns.iter().map(u32::to_string).collect();
    match columns.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => columns.concat(),
    }
}
