//! Tables with aligned columns, as plain text or Markdown.

use krm_core::print::visible_line;

/// Rows of cells below a header.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub(crate) fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|name| (*name).to_owned()).collect()] }
    }

    /// Adds a row. A cell has one line: line breaks in it become spaces, and control characters are escaped.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        let one_line = |cell: String| visible_line(&cell.replace(['\n', '\r'], " ")).into_owned();
        self.rows.push(cells.into_iter().map(one_line).collect());
    }

    /// Renders the table without trailing spaces.
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

/// Compat: kustomize centers headers and aligns cells to the left.
fn pad(cell: &str, width: usize, centered: bool) -> String {
    let padding = width - length(cell);
    let left = if centered { padding / 2 } else { 0 };
    format!("{}{cell}{}", " ".repeat(left), " ".repeat(padding - left))
}
