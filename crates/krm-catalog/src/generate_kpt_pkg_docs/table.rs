//! Tables in Markdown.

/// A table with columns of equal width. Compat: headers are centered, numbers are right-aligned.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |at: usize| {
        let cells = rows.iter().flat_map(|row| row[at].split('\n'));
        cells.chain([header[at]]).map(|it| it.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = String::new();
    let centered = header.iter().zip(&widths).map(|(cell, width)| format!("{cell:^width$}"));
    push_line(&mut text, centered);
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(width + 2)).collect();
    text.push_str(&format!("|{}|\n", rules.join("|")));
    for row in rows {
        let cells: Vec<Vec<&str>> = row.iter().map(|cell| cell.split('\n').collect()).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| match cell.get(line) {
                Some(cell) if is_number(cell.trim()) => format!("{cell:>width$}"),
                cell => format!("{:<width$}", cell.unwrap_or(&"")),
            });
            push_line(&mut text, cells);
        }
    }
    text
}

fn push_line(text: &mut String, cells: impl Iterator<Item = String>) {
    for cell in cells {
        text.push_str(&format!("| {cell} "));
    }
    text.push_str("|\n");
}

/// Whether a cell is a number, which may have commas between thousands.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let is_digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let is_grouped = whole.contains(',');
    let is_whole = is_digits(first)
        && (!is_grouped || first.len() <= 3)
        && groups.all(|it| it.len() == 3 && is_digits(it));
    is_whole && fraction.is_none_or(is_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_width_of_their_widest_cell() {
        let rows = [
            ["a".to_owned(), "1".to_owned()].to_vec(),
            ["b\nlong".to_owned(), "x".to_owned()].to_vec(),
        ];
        let expected = "|  No  | Count |\n|------|-------|\n| a    |     1 |\n| b    | x     |\n| long |       |\n";
        assert_eq!(table(&["No", "Count"], &rows), expected);
    }

    #[test]
    fn numbers_may_have_fractions_and_thousands() {
        for number in ["1", "-12", "1,234", "1.5", "12345"] {
            assert!(is_number(number), "{number}");
        }
        for other in ["", "-", "a", "1,23", "1.", "1234,567", ".5", "1 2"] {
            assert!(!is_number(other), "{other}");
        }
    }
}
