//! Tables that are aligned for a terminal and valid Markdown.

/// Rows under a header; the first columns are aligned left, the others right.
pub(super) struct Table {
    left_aligned: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table whose first `left_aligned` columns are aligned left.
    pub(super) fn new(left_aligned: usize, header: &[&str]) -> Self {
        Self { left_aligned, rows: vec![header.iter().map(ToString::to_string).collect()] }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(super) fn render(&self) -> String {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
        };
        let widths: Vec<usize> =
            (0..columns).map(|column| width(column).unwrap_or(0).max(3)).collect();
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            for (column, width) in widths.iter().enumerate() {
                let cell = row.get(column).map_or("", String::as_str);
                text += &if column < self.left_aligned {
                    format!("| {cell:<width$} ")
                } else {
                    format!("| {cell:>width$} ")
                };
            }
            text += "|\n";
            if number == 0 {
                text += &self.rule(&widths);
            }
        }
        text
    }

    fn rule(&self, widths: &[usize]) -> String {
        let mut text = String::new();
        for (column, width) in widths.iter().enumerate() {
            let end = if column < self.left_aligned { '-' } else { ':' };
            text += &format!("|{}{end}", "-".repeat(width + 1));
        }
        text + "|\n"
    }
}

/// An empty cell.
pub(super) const NONE: &str = "–";

pub(super) fn milliseconds(seconds: f64) -> String {
    format!("{:.1} ms", seconds * 1e3)
}

pub(super) fn ratio(seconds: f64, to: Option<f64>) -> String {
    to.map_or(NONE.to_owned(), |to| format!("{:.2}×", seconds / to))
}

pub(super) fn megabytes_per_second(bytes: u64, seconds: f64) -> String {
    format!("{:.1}", bytes as f64 / 1e6 / seconds)
}

pub(super) fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned_markdown() {
        let mut table = Table::new(1, &["tool", "time"]);
        table.row(vec!["krm".to_owned(), milliseconds(0.0015)]);
        table.row(vec!["another".to_owned(), NONE.to_owned()]);
        let want = "| tool    |   time |\n|---------|-------:|\n| krm     | 1.5 ms |\n| another |      – |\n";
        assert_eq!(table.render(), want);
    }

    #[test]
    fn a_ratio_without_reference_is_empty() {
        assert_eq!(ratio(3.0, Some(2.0)), "1.50×");
        assert_eq!(ratio(3.0, None), NONE);
    }
}
