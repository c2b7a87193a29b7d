//! `cargo xtask chart`: draws the bar charts of the documentation from the measured figures beside them.
//!
//! The figures are in `docs/benchmarks.csv`, in seconds of processor time. They are measured by hand with `cargo xtask bench`, because a
//! figure that CI measures on a shared machine means nothing.

use std::fmt::Write;
use std::fs;

use crate::{TaskResult, shell};

const FIGURES: &str = "docs/benchmarks.csv";
const CHART: &str = "docs/speed.svg";

/// The width of the longest bar, and of everything.
const BAR_WIDTH: f64 = 380.0;
const WIDTH: u32 = 720;
const ROW: u32 = 22;
const LABELS: u32 = 190;

/// One bar.
struct Figure {
    work: String,
    tool: String,
    seconds: f64,
}

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    if let Some(arg) = args.next()? {
        return Err(arg.unexpected().into());
    }
    let chart = draw(&figures(&fs::read_to_string(shell::root().join(FIGURES))?)?);
    fs::write(shell::root().join(CHART), chart)?;
    println!("wrote {CHART}");
    Ok(())
}

/// Reads `work,tool,seconds,…` after a line of titles.
fn figures(text: &str) -> TaskResult<Vec<Figure>> {
    let mut figures = Vec::new();
    for line in text.lines().skip(1) {
        let parts: Vec<&str> = line.split(',').collect();
        let [work, tool, seconds, ..] = parts[..] else {
            return Err(format!("{FIGURES}: expected work,tool,seconds, found `{line}`").into());
        };
        let seconds = seconds.parse()?;
        figures.push(Figure { work: work.to_owned(), tool: tool.to_owned(), seconds });
    }
    Ok(figures)
}

/// A group of bars for each kind of work, each group with its own scale.
fn draw(figures: &[Figure]) -> String {
    let mut body = String::new();
    let mut y = 16;
    for group in figures.chunk_by(|a, b| a.work == b.work) {
        let _ = writeln!(
            body,
            r#"<text class="work" x="0" y="{}">{}</text>"#,
            y + 8,
            escape(&group[0].work)
        );
        y += 20;
        let longest = group.iter().map(|it| it.seconds).fold(f64::MIN_POSITIVE, f64::max);
        for figure in group {
            let width = (figure.seconds / longest * BAR_WIDTH).max(1.0);
            let class = if figure.tool.starts_with("krm") { "krm" } else { "other" };
            let _ = writeln!(
                body,
                r#"<text x="{}" y="{}" text-anchor="end">{}</text><rect class="{class}" x="{LABELS}" y="{}" width="{width:.1}" height="14" rx="2"/><text x="{:.1}" y="{}">{}</text>"#,
                LABELS - 8,
                y + 12,
                escape(&figure.tool),
                y + 1,
                f64::from(LABELS) + width + 6.0,
                y + 12,
                duration(figure.seconds),
            );
            y += ROW;
        }
        y += 12;
    }
    let title =
        figures.iter().map(|it| format!("{}, {}: {}", it.work, it.tool, duration(it.seconds)));
    let title = title.collect::<Vec<_>>().join("; ");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y}\" width=\"{WIDTH}\" height=\"{y}\" role=\"img\">\n\
         <title>{}</title>\n\
         <style>text {{ font: 13px system-ui, sans-serif; fill: #57606a }} .work {{ font-weight: 600 }} .krm {{ fill: #1a7f37 }} .other {{ fill: #afb8c1 }} \
         @media (prefers-color-scheme: dark) {{ text {{ fill: #9ea7b3 }} .krm {{ fill: #3fb950 }} .other {{ fill: #57606a }} }}</style>\n{body}</svg>\n",
        escape(&title)
    )
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.0995 => format!("{:.0} ms", s * 1000.0),
        s if s < 10.0 => format!("{s:.2} s"),
        s => format!("{s:.0} s"),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chart_shows_the_figures_of_the_documentation() -> TaskResult {
        let text = fs::read_to_string(shell::root().join(FIGURES))?;
        let chart = fs::read_to_string(shell::root().join(CHART))?;
        assert!(chart == draw(&figures(&text)?), "run `cargo xtask chart`");
        let page = fs::read_to_string(shell::root().join("docs/benchmarks.md"))?;
        for figure in figures(&text)? {
            let shown = duration(figure.seconds);
            assert!(page.contains(&shown), "{shown} ({}) is not on the page", figure.tool);
        }
        Ok(())
    }

    #[test]
    fn bars_are_proportional_within_a_group() -> TaskResult {
        let chart =
            draw(&figures("work,tool,seconds\nread,krm,0.05\nread,a & b,0.1\nset,krm,1\n")?);
        assert!(chart.contains("width=\"190.0\"") && chart.contains("width=\"380.0\""), "{chart}");
        assert!(chart.contains("a &amp; b") && chart.contains(">50 ms<"), "{chart}");
        assert!(figures("work,tool,seconds\nread\n").is_err());
        Ok(())
    }
}
