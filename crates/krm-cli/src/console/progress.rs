//! The progress line of a long run: drawn on a terminal only, after a delay, and erased at the end.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use krm_core::print::visible_line;

/// Work that is done sooner needs no progress line.
const DELAY: Duration = Duration::from_millis(500);
/// The shortest time between two updates of the line.
const PAUSE: Duration = Duration::from_millis(100);
/// The delay in milliseconds, set by tests that cannot wait.
const DELAY_VARIABLE: &str = "KRM_TEST_PROGRESS_DELAY_MS";

/// Whether progress is drawn. Static, as the process has one terminal.
static ENABLED: AtomicBool = AtomicBool::new(false);

/// Decides once per process whether progress is drawn.
pub(super) fn init(quiet: bool) {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_dumb = variable("TERM").is_none_or(|term| term == "dumb");
    let enabled = !quiet && !is_dumb && variable("CI").is_none() && io::stderr().is_terminal();
    ENABLED.store(enabled, Ordering::Relaxed);
}

/// Counts the files of one run that are done. Dropping it erases the line.
pub(crate) struct Progress {
    total: usize,
    done: AtomicUsize,
    started: Instant,
    line: Option<Mutex<Line>>,
}

impl Progress {
    /// Starts to count to `total`.
    pub(crate) fn of(total: usize) -> Self {
        let line =
            (total > 1 && ENABLED.load(Ordering::Relaxed)).then(|| Mutex::new(Line::new(delay())));
        Self { total, done: AtomicUsize::new(0), started: Instant::now(), line }
    }

    /// Counts one more file.
    pub(crate) fn step(&self) {
        let Some(line) = &self.line else { return };
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        // A thread that finds the line locked skips its update: the other thread draws one that is as recent.
        if let Ok(mut line) = line.try_lock() {
            show(line.at(self.started.elapsed(), done, self.total));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(line) = self.line.as_ref().and_then(|line| line.lock().ok()) {
            show(line.end());
        }
    }
}

/// What is being done right now. Dropping it erases the line.
pub(crate) struct Activity {
    drawn: bool,
}

impl Activity {
    /// Draws the line `DESCRIPTION …`.
    pub(crate) fn begin(description: &str) -> Self {
        let drawn = ENABLED.load(Ordering::Relaxed);
        show(drawn.then(|| format!("\r\u{1b}[K{} …", visible_line(description))));
        Self { drawn }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        show(self.drawn.then(|| "\r\u{1b}[K".to_owned()));
    }
}

fn show(text: Option<String>) {
    if let Some(text) = text {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

fn delay() -> Duration {
    let delay = std::env::var(DELAY_VARIABLE).ok().and_then(|text| text.parse().ok());
    delay.map_or(DELAY, Duration::from_millis)
}

/// Decides when the line is drawn. It has no clock and no terminal of its own, so that it can be tested.
struct Line {
    delay: Duration,
    drawn: Option<Duration>,
}

impl Line {
    fn new(delay: Duration) -> Self {
        Self { delay, drawn: None }
    }

    /// What to draw at the time `now` after the start.
    fn at(&mut self, now: Duration, done: usize, total: usize) -> Option<String> {
        let due = self.drawn.map_or(self.delay, |drawn| drawn + PAUSE);
        (now >= due && done < total).then(|| {
            self.drawn = Some(now);
            format!("\r\u{1b}[Kread {done} of {total} files")
        })
    }

    /// What erases the line, if it was drawn.
    fn end(&self) -> Option<String> {
        self.drawn.map(|_| "\r\u{1b}[K".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_drawn_after_a_delay_rarely_and_erased_at_the_end() {
        let ms = Duration::from_millis;
        let mut line = Line::new(DELAY);
        assert_eq!(line.at(ms(499), 3, 10), None);
        assert_eq!(line.end(), None);
        assert_eq!(line.at(ms(500), 4, 10).as_deref(), Some("\r\u{1b}[Kread 4 of 10 files"));
        assert_eq!(line.at(ms(599), 5, 10), None);
        assert_eq!(line.at(ms(600), 6, 10).as_deref(), Some("\r\u{1b}[Kread 6 of 10 files"));
        assert_eq!(line.at(ms(900), 10, 10), None);
        assert_eq!(line.end().as_deref(), Some("\r\u{1b}[K"));
    }
}
