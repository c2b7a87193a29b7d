//! The line that says how far a long run has come: on a terminal only, after a while, and gone at the end.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Work that is done sooner needs no line.
const DELAY: Duration = Duration::from_millis(500);
/// Nobody reads faster.
const PAUSE: Duration = Duration::from_millis(100);
/// Tests cannot wait, so they say how long the delay is in milliseconds.
const DELAY_VARIABLE: &str = "KRM_TEST_PROGRESS_DELAY_MS";

/// Whether there is somebody who wants to see the line; the terminal is one for the whole process.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Decides once whether lines are drawn.
pub(super) fn allow(quiet: bool) {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_dumb = variable("TERM").is_none_or(|term| term == "dumb");
    let wanted = !quiet && !is_dumb && variable("CI").is_none() && io::stderr().is_terminal();
    WANTED.store(wanted, Ordering::Relaxed);
}

/// How far one list of files has come. The line goes away with it.
pub(crate) struct Progress {
    total: usize,
    done: AtomicUsize,
    started: Instant,
    line: Option<Mutex<Line>>,
}

impl Progress {
    /// Begins to count to `total`.
    pub(crate) fn of(total: usize) -> Self {
        let line =
            (total > 1 && WANTED.load(Ordering::Relaxed)).then(|| Mutex::new(Line::new(delay())));
        Self { total, done: AtomicUsize::new(0), started: Instant::now(), line }
    }

    /// One more is done.
    pub(crate) fn step(&self) {
        let Some(line) = &self.line else { return };
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        // Who cannot draw because another thread does has nothing newer to say.
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

/// What is being done right now: a line that goes away when it is done.
pub(crate) struct Activity {
    drawn: bool,
}

impl Activity {
    /// Says what begins, to somebody who looks.
    pub(crate) fn begin(words: &str) -> Self {
        let drawn = WANTED.load(Ordering::Relaxed);
        show(drawn.then(|| format!("\r\u{1b}[K{words} …")));
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
    let told = std::env::var(DELAY_VARIABLE).ok().and_then(|text| text.parse().ok());
    told.map_or(DELAY, Duration::from_millis)
}

/// When the line is drawn, and what with; it knows no clock and no terminal.
struct Line {
    delay: Duration,
    drawn: Option<Duration>,
}

impl Line {
    fn new(delay: Duration) -> Self {
        Self { delay, drawn: None }
    }

    /// What to draw so long after the start.
    fn at(&mut self, now: Duration, done: usize, total: usize) -> Option<String> {
        let due = self.drawn.map_or(self.delay, |drawn| drawn + PAUSE);
        (now >= due && done < total).then(|| {
            self.drawn = Some(now);
            format!("\r\u{1b}[Kread {done} of {total} files")
        })
    }

    /// What wipes the line away, where there is one.
    fn end(&self) -> Option<String> {
        self.drawn.map(|_| "\r\u{1b}[K".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_late_and_seldom_and_goes_away() {
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
