//! Tables for people: columns as wide as what stands in them, plain or in Markdown.

/// Rows of cells below a header.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub(crate) fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|name| (*name).to_owned()).collect()] }
    }

    /// Adds a row. A cell has one line: a break in it becomes a blank.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| cell.replace(['\n', '\r'], " ")).collect());
    }

    /// The table with a line break at the end of each row, and no blanks there.
    pub(crate) fn render(&self, markdown: bool) -> String {
        let columns = self.rows[0].len();
        let width = |at: usize| self.rows.iter().map(|row| length(&row[at])).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| pad(cell, *width, at == 0)).collect();
            if markdown {
                out.push_str(&format!("| {} |\n", cells.join(" | ")));
            } else {
                out.push_str(format!("  {}", cells.join("   ")).trim_end());
                out.push('\n');
            }
            if markdown && at == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "-".repeat(width + 2)).collect();
                out.push_str(&format!("|{}|\n", rules.join("|")));
            }
        }
        out
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Compat: headers stand in the middle of their columns, cells to the left.
fn pad(cell: &str, width: usize, centred: bool) -> String {
    let room = width - length(cell);
    let left = if centred { room / 2 } else { 0 };
    format!("{}{cell}{}", " ".repeat(left), " ".repeat(room - left))
}
