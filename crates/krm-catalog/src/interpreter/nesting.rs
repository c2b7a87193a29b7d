//! How deep a script is nested, checked before an interpreter recurses into it.
//!
//! The parsers and compilers of the interpreters recurse once per level of their syntax tree, and a stack overflow cannot be caught.
//! The check reads only brackets, operators, keywords and indentation, and never counts less than the depth of the tree.

/// The maximal depth of a script: brackets, operators of one expression and blocks together.
pub const MAX_NESTING: usize = 1000;

/// The tokens of a language that the check needs.
#[derive(Clone, Copy, Debug)]
pub struct Syntax {
    /// What begins a comment.
    pub comment: &'static str,
    /// Quotes of strings with escapes; three of them begin a string of several lines if `has_triple_quotes`.
    pub quotes: &'static str,
    /// Whether there are strings in three quotes.
    pub has_triple_quotes: bool,
    /// Whether a `\` in a string with the prefix `r` escapes nothing, not even the quote.
    pub has_raw_prefix: bool,
    /// The quote of strings without escapes.
    pub raw_quote: Option<char>,
    /// Keywords that nest expressions or blocks, and can go on with an expression in the next line.
    pub keywords: &'static [&'static str],
    /// Keywords that nest expressions, and begin one.
    pub prefixes: &'static [&'static str],
    /// Whether a line ends a statement, and indentation makes blocks.
    pub is_indented: bool,
    /// The maximal depth of brackets alone. Lower than [`MAX_NESTING`] where the time of a parser doubles with every bracket.
    pub max_brackets: usize,
}

/// Where a limit is exceeded: line and column in characters, from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NestingPosition {
    /// The limit.
    pub limit: usize,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Checks that a script is nested at most [`MAX_NESTING`] levels deep, and its brackets as deep as its language allows.
///
/// # Errors
/// The position of the first token that is nested deeper.
pub fn check_nesting(text: &str, syntax: &Syntax) -> Result<(), NestingPosition> {
    // A level needs at least one byte.
    if text.len() <= MAX_NESTING.min(syntax.max_brackets) {
        return Ok(());
    }
    let mut scanner =
        Scanner { text, syntax, at: 0, levels: vec![0], depth: 0, blocks: Vec::new() };
    match scanner.find_too_deep() {
        None => Ok(()),
        Some((at, limit)) => {
            let before = &text[..at];
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            Err(NestingPosition {
                limit,
                line: before.matches('\n').count(),
                column: text[line_start..at].chars().count(),
            })
        }
    }
}

struct Scanner<'a> {
    text: &'a str,
    syntax: &'a Syntax,
    at: usize,
    /// For each open bracket, and for the statement: the operators of the current expression.
    levels: Vec<usize>,
    /// The sum of `levels`.
    depth: usize,
    /// The indentation of each block, and its `elif` branches, each of which is nested in the one before.
    blocks: Vec<(usize, usize)>,
}

impl<'a> Scanner<'a> {
    /// The offset of the first token that is nested too deep, and the limit that it exceeds.
    fn find_too_deep(&mut self) -> Option<(usize, usize)> {
        // Whether an expression goes on after a line break: the last token was an operator.
        let (mut is_open, mut is_new_line) = (false, true);
        while let Some(first) = self.text[self.at..].chars().next() {
            let start = self.at;
            if first == '\n' {
                (is_new_line, self.at) = (true, self.at + 1);
                continue;
            }
            if first.is_whitespace() {
                self.at += first.len_utf8();
                continue;
            }
            if self.text[start..].starts_with(self.syntax.comment) {
                self.at += self.text[start..].find('\n').unwrap_or(self.text.len() - start);
                continue;
            }
            if first == '\\' {
                // The line goes on after it.
                let rest = &self.text[start + 1..];
                self.at += 1 + rest.chars().next().map_or(0, char::len_utf8);
                continue;
            }
            let word = self.word();
            if std::mem::take(&mut is_new_line) {
                self.begin_line(start, word, is_open || is_operator(first));
            }
            is_open = self.token(first, word);
            if self.depth + self.nested_blocks() > MAX_NESTING {
                return Some((start, MAX_NESTING));
            }
            if self.levels.len() - 1 > self.syntax.max_brackets {
                return Some((start, self.syntax.max_brackets));
            }
        }
        None
    }

    /// The first token of a line ends the expression of the line before, unless the language lets it go on.
    fn begin_line(&mut self, start: usize, word: &str, continues: bool) {
        if !self.syntax.is_indented {
            if !continues && !self.syntax.keywords.contains(&word) {
                self.reset();
            }
        } else if self.levels.len() == 1 {
            self.reset();
            let line = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
            self.enter_block(start - line, word == "elif");
        }
    }

    fn enter_block(&mut self, indent: usize, is_elif: bool) {
        while self.blocks.last().is_some_and(|(last, _)| *last > indent) {
            self.blocks.pop();
        }
        match self.blocks.last_mut() {
            Some((last, branches)) if *last == indent => {
                *branches = if is_elif { *branches + 1 } else { 0 };
            }
            _ => self.blocks.push((indent, 0)),
        }
    }

    fn nested_blocks(&self) -> usize {
        // Scripts without blocks have one: that of the script.
        self.blocks.iter().map(|(_, branches)| 1 + branches).sum()
    }

    /// Reads one token. Returns whether the expression goes on after it.
    fn token(&mut self, first: char, word: &str) -> bool {
        if !word.is_empty() {
            self.at += word.len();
            let is_keyword =
                self.syntax.keywords.contains(&word) || self.syntax.prefixes.contains(&word);
            if is_keyword {
                self.add();
            }
            return is_keyword;
        }
        if self.syntax.quotes.contains(first) {
            let prefix = self.text[..self.at].ends_with(['r', 'R']);
            self.at += self.string_length(first, prefix && self.syntax.has_raw_prefix);
            return false;
        }
        self.at += first.len_utf8();
        if Some(first) == self.syntax.raw_quote {
            self.at +=
                self.text[self.at..].find(first).map_or(self.text.len() - self.at, |at| at + 1);
            return false;
        }
        match first {
            '(' | '[' | '{' => {
                self.add();
                self.levels.push(0);
            }
            ')' | ']' | '}' if self.levels.len() > 1 => {
                self.depth -= self.levels.pop().unwrap_or(0);
                return false;
            }
            ',' | ';' => self.reset(),
            _ if is_operator(first) => {
                // `==`, `&&` and `+=` are one operator each, `--` and `!!` are two.
                let second = self.text[self.at..].chars().next();
                let is_pair = second == Some('=')
                    || (second == Some(first)
                        && matches!(first, '&' | '|' | '/' | '<' | '>' | '*'));
                self.at += usize::from(is_pair);
                self.add();
            }
            _ => return false,
        }
        true
    }

    fn add(&mut self) {
        self.depth += 1;
        if let Some(level) = self.levels.last_mut() {
            *level += 1;
        }
    }

    /// Begins a new expression in the innermost brackets.
    fn reset(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.depth -= std::mem::take(level);
        }
    }

    /// The identifier or number at the current position; empty if there is another token.
    fn word(&self) -> &'a str {
        let text: &'a str = self.text;
        let rest = &text[self.at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    }

    /// The length of the string literal at the current position, with its quotes.
    fn string_length(&self, quote: char, is_raw: bool) -> usize {
        let rest = &self.text[self.at..];
        let triple = quote.to_string().repeat(3);
        let is_triple = self.syntax.has_triple_quotes && rest.starts_with(&triple);
        let quotes = if is_triple { &*triple } else { &triple[..1] };
        let (bytes, mut at) = (rest.as_bytes(), quotes.len());
        while at < bytes.len() {
            match bytes[at] {
                b'\\' if !is_raw => at += 2,
                b'\n' if !is_triple => return at,
                _ if bytes[at..].starts_with(quotes.as_bytes()) => return at + quotes.len(),
                _ => at += 1,
            }
        }
        rest.len()
    }
}

fn is_operator(c: char) -> bool {
    "+-*/%<>=!&|^~.?:".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: Syntax = Syntax {
        comment: "#",
        quotes: "'\"",
        has_triple_quotes: true,
        has_raw_prefix: false,
        raw_quote: None,
        keywords: &["and", "else", "for", "if", "in", "or"],
        prefixes: &["lambda", "not"],
        is_indented: true,
        max_brackets: MAX_NESTING,
    };
    const LINES: Syntax = Syntax {
        comment: "//",
        raw_quote: Some('`'),
        has_raw_prefix: true,
        keywords: &["else"],
        prefixes: &["not"],
        is_indented: false,
        ..PYTHON
    };

    fn column(text: &str, syntax: &Syntax) -> Option<usize> {
        check_nesting(text, syntax).err().map(|at| at.column)
    }

    #[test]
    fn brackets_operators_and_keywords_are_counted() {
        let n = MAX_NESTING;
        assert_eq!(column(&format!("x{}{}", "[".repeat(n - 1), "]".repeat(n - 1)), &PYTHON), None);
        assert_eq!(column(&"(".repeat(2 * n), &PYTHON), Some(n - 1));
        assert_eq!(column(&format!("x = {}", "a+".repeat(n)), &PYTHON), Some(2 * n + 1));
        assert_eq!(column(&"-".repeat(n + 1), &LINES), Some(n));
        for item in
            ["not ", "lambda: ", "a.", "f()", "x[0]", "1 if 2 else ", "a and ", "a == ", "'' + "]
        {
            assert!(column(&item.repeat(2 * n), &PYTHON).is_some(), "{item}");
        }
    }

    #[test]
    fn long_lists_and_scripts_are_not_deep() {
        for item in [
            "f(a + b),",
            "'((' + '\\'((',\n",
            "# ((((\n1,",
            "{'a': [1, 2 + 3]},",
            "\"\"\"\n((\"\"\",",
        ] {
            let text = format!("x = [{}]", item.repeat(MAX_NESTING));
            assert_eq!(column(&text, &PYTHON), None, "{item}");
        }
        for line in [
            "x = f(a)[1] + 2\n",
            "if a:\n  b\nelif c:\n  d\nelse:\n  e\n",
            "-1\n",
            "x = 'é' \\\n + 1\n",
        ] {
            assert_eq!(column(&line.repeat(MAX_NESTING), &PYTHON), None, "{line}");
        }
        for line in [
            "x := f(a) // ((\n",
            "a == 1; b\n",
            "`((`\n",
            "f(x) { y\n z }\n",
            "not a.b(x)\n",
            "r'\\'\n",
        ] {
            assert_eq!(column(&line.repeat(MAX_NESTING), &LINES), None, "{line}");
        }
    }

    #[test]
    fn expression_can_go_on_in_the_next_line() {
        for line in ["1 +\n", "1\n+ ", "not\n", "{ a } else\n", "1 \\\n+"] {
            assert!(check_nesting(&line.repeat(MAX_NESTING + 1), &LINES).is_err(), "{line}");
        }
        assert!(check_nesting(&"1 \\\n+".repeat(MAX_NESTING + 1), &PYTHON).is_err());
        assert!(check_nesting(&format!("({}", "1\n+".repeat(MAX_NESTING + 1)), &PYTHON).is_err());
    }

    #[test]
    fn blocks_and_branches_are_counted() {
        let blocks: String =
            (0..MAX_NESTING + 1).map(|at| format!("{}if a:\n", " ".repeat(at))).collect();
        let at = check_nesting(&blocks, &PYTHON).unwrap_err();
        let limit = MAX_NESTING;
        assert_eq!(at, NestingPosition { limit, line: MAX_NESTING - 2, column: MAX_NESTING + 2 });
        let branches = format!("if a:\n  b\n{}", "elif a:\n  b\n".repeat(MAX_NESTING + 1));
        assert!(check_nesting(&branches, &PYTHON).is_err());
    }

    #[test]
    fn brackets_can_have_a_limit_of_their_own() {
        let syntax = Syntax { max_brackets: 3, ..LINES };
        assert_eq!(check_nesting("x := [[[1 + 2], 3]]\n{ [(4)] }", &syntax), Ok(()));
        let at = check_nesting("x := 1\ny := [{({5})}]", &syntax).unwrap_err();
        assert_eq!(at, NestingPosition { limit: 3, line: 1, column: 8 });
    }

    #[test]
    fn unfinished_tokens_do_not_panic() {
        for end in ["'\\", "'\\é", "\"\"\"é", "`é", "é", "\\", "\\é", "#é"] {
            let text = format!("{}{end}", "x\n".repeat(MAX_NESTING));
            assert_eq!(column(&text, &PYTHON), None);
            assert_eq!(column(&text, &LINES), None);
        }
    }
}
