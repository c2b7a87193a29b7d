//! The progress line: what a command that takes longer than half a second is doing, drawn on a terminal and erased before anything
//! else is printed.
//!
//! One thread draws it, from a stack of what is being done. A function that runs for minutes makes no steps on which a line could be
//! drawn, so a line without a thread would be late.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use krm_core::print::visible_line;

use super::summary::number;

/// Work that is done sooner needs no progress line.
const DELAY: Duration = Duration::from_millis(500);
/// The time between two updates of the line.
const PAUSE: Duration = Duration::from_millis(100);
/// The delay in milliseconds, set by tests that cannot wait.
const DELAY_VARIABLE: &str = "KRM_TEST_PROGRESS_DELAY_MS";
/// The longest line: one that is wrapped by the terminal cannot be erased.
const WIDTH: usize = 79;
const ERASE: &str = "\r\u{1b}[K";

/// Whether progress is drawn. Static, as the process has one terminal.
static ENABLED: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<State> = Mutex::new(State { stack: Vec::new(), next: 0, drawn: None });

/// What is being done, and what the terminal shows of it.
struct State {
    stack: Vec<(u64, Label)>,
    /// The number of the next entry of the stack.
    next: u64,
    drawn: Option<String>,
}

/// What an entry of the stack shows.
enum Label {
    Text(String),
    Count(Arc<AtomicUsize>, usize),
    #[cfg(feature = "oci")]
    Observed(Box<dyn Fn() -> String + Send>),
}

impl Label {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            #[cfg(feature = "oci")]
            Self::Observed(text) => text(),
            Self::Count(done, total) => {
                let done = done.load(Ordering::Relaxed).min(*total);
                format!("{} of {} files", number(done), number(*total))
            }
        }
    }
}

/// Decides once per process whether progress is drawn, and starts the thread that draws it.
pub(super) fn init(is_shown: bool) {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_dumb = variable("TERM").is_none_or(|term| term == "dumb");
    if is_shown && !is_dumb && variable("CI").is_none() && io::stderr().is_terminal() {
        ENABLED.store(true, Ordering::Relaxed);
        let started = Instant::now();
        // Without a thread there is no progress line, which is not worth an error.
        let _ = thread::Builder::new().name("progress".to_owned()).spawn(move || draw(started));
    }
}

fn draw(started: Instant) {
    thread::sleep(delay());
    while ENABLED.load(Ordering::Relaxed) {
        let mut state = state();
        if let (true, Some((_, label))) = (ENABLED.load(Ordering::Relaxed), state.stack.last()) {
            let line = line(&label.text(), started.elapsed());
            if state.drawn.as_ref() != Some(&line) {
                write(&format!("{ERASE}{line}"));
                state.drawn = Some(line);
            }
        }
        drop(state);
        thread::sleep(PAUSE);
    }
}

/// The line: what is done, and for how many seconds already.
fn line(text: &str, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let time = if seconds < 1 { String::new() } else { format!(" ({seconds} s)") };
    let text = visible_line(text);
    let room = WIDTH - " …".chars().count() - time.chars().count();
    let text: String = text.chars().take(room).collect();
    format!("{text} …{time}")
}

/// Runs `work` with an erased line, so that what it prints is on a line of its own. The line is drawn again later.
pub(super) fn without_line<R>(work: impl FnOnce() -> R) -> R {
    if !ENABLED.load(Ordering::Relaxed) {
        return work();
    }
    let mut state = state();
    erase(&mut state);
    work()
}

/// Erases the line and draws no other: the command prints its output, or ends.
pub(crate) fn end_progress() {
    if ENABLED.swap(false, Ordering::Relaxed) {
        erase(&mut state());
    }
}

fn erase(state: &mut State) {
    if state.drawn.take().is_some() {
        write(ERASE);
    }
}

fn write(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn delay() -> Duration {
    let delay = std::env::var(DELAY_VARIABLE).ok().and_then(|text| text.parse().ok());
    delay.map_or(DELAY, Duration::from_millis)
}

/// Something that is being done, until it is dropped.
pub(crate) struct Activity {
    number: Option<u64>,
}

impl Activity {
    /// Shows `DESCRIPTION …`.
    pub(crate) fn begin(description: &str) -> Self {
        Self::push(|| Label::Text(description.to_owned()))
    }

    /// Shows a description that changes, `DESCRIPTION …`.
    #[cfg(feature = "oci")]
    pub(crate) fn observe(description: impl Fn() -> String + Send + 'static) -> Self {
        Self::push(|| Label::Observed(Box::new(description)))
    }

    fn push(label: impl FnOnce() -> Label) -> Self {
        if !ENABLED.load(Ordering::Relaxed) {
            return Self { number: None };
        }
        let mut state = state();
        let number = state.next;
        state.next += 1;
        state.stack.push((number, label()));
        Self { number: Some(number) }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            state().stack.retain(|(other, _)| *other != number);
        }
    }
}

/// Counts the files of one run that are done.
pub(crate) struct Progress {
    done: Arc<AtomicUsize>,
    _activity: Option<Activity>,
}

impl Progress {
    /// Starts to count to `total`.
    pub(crate) fn of(total: usize) -> Self {
        let done = Arc::new(AtomicUsize::new(0));
        let label = || Label::Count(Arc::clone(&done), total);
        let activity = (total > 1).then(|| Activity::push(label));
        Self { done, _activity: activity }
    }

    /// Counts one more file.
    pub(crate) fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_fits_a_terminal_and_shows_seconds() {
        let ms = Duration::from_millis;
        assert_eq!(line("3 of 10 files", ms(900)), "3 of 10 files …");
        assert_eq!(line("running a\nb", ms(2_100)), "running a\\nb … (2 s)");
        let long = line(&"x".repeat(200), ms(61_000));
        assert!(long.ends_with("x … (61 s)") && long.chars().count() == WIDTH, "{long}");
    }

    #[test]
    fn count_never_exceeds_the_total() {
        let done = Arc::new(AtomicUsize::new(12));
        assert_eq!(Label::Count(Arc::clone(&done), 10).text(), "10 of 10 files");
        assert_eq!(Label::Count(done, 4996).text(), "12 of 4,996 files");
    }
}
