//! Waiting that ends soon after a transfer is stopped, also while a server sends nothing.
//!
//! A blocking call on a socket cannot be ended from outside. So the calls of a client that can be stopped run on threads of their own,
//! which are left behind: they end with their time limits, or with the process.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Control, OciKind};

/// How often the flag is looked at.
const INTERVAL: Duration = Duration::from_millis(50);
/// The size of a piece of a response, and how many of them wait for the reader.
const PIECE: usize = 128 << 10;
const PIECES: usize = 2;

/// Runs blocking work.
pub(super) fn run<T: Send + 'static>(
    control: &Control,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    if !control.can_stop() {
        return Ok(work());
    }
    let (sender, receiver) = sync_channel(1);
    // Nobody receives the result of work that was left behind.
    start(move || drop(sender.send(work())))?;
    receive(control, &receiver)?.ok_or_else(|| io::Error::other("the thread ended early"))
}

/// Waits for a time.
pub(super) fn pause(control: &Control, time: Duration) -> Result<(), OciKind> {
    let end = Instant::now() + time;
    loop {
        control.check()?;
        match end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => return Ok(()),
            rest => thread::sleep(rest.min(INTERVAL)),
        }
    }
}

/// The content of a response.
pub(super) enum Body {
    Direct(Box<dyn Read + Send>),
    /// Read by another thread, which is started by the first read.
    Interruptible(Pieces),
}

impl Body {
    pub(super) fn new(control: &Control, source: impl Read + Send + 'static) -> Self {
        match control.can_stop() {
            true => Self::Interruptible(Pieces {
                control: control.clone(),
                source: Some(Box::new(source)),
                receiver: None,
                piece: io::Cursor::default(),
            }),
            false => Self::Direct(Box::new(source)),
        }
    }

    /// An error if the transfer was stopped.
    pub(super) fn check(&self) -> Result<(), OciKind> {
        match self {
            Self::Direct(_) => Ok(()),
            Self::Interruptible(pieces) => pieces.control.check(),
        }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Direct(source) => source.read(buffer),
            Self::Interruptible(pieces) => pieces.read(buffer),
        }
    }
}

/// A response in pieces that another thread reads.
pub(super) struct Pieces {
    control: Control,
    source: Option<Box<dyn Read + Send>>,
    receiver: Option<Receiver<io::Result<Vec<u8>>>>,
    piece: io::Cursor<Vec<u8>>,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(source) = self.source.take() {
            let (sender, receiver) = sync_channel(PIECES);
            start(move || send_pieces(source, &sender))?;
            self.receiver = Some(receiver);
        }
        loop {
            let count = self.piece.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(receiver) = &self.receiver else { return Ok(0) };
            match receive(&self.control, receiver)? {
                Some(piece) => self.piece = io::Cursor::new(piece?),
                // The thread has read everything.
                None => return Ok(0),
            }
        }
    }
}

/// Reads until the end, an error, or until nobody receives any more.
fn send_pieces(mut source: Box<dyn Read + Send>, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut piece = vec![0; PIECE];
        let read = match source.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                piece.truncate(count);
                Ok(piece)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = read.is_err();
        if sender.send(read).is_err() || is_last {
            return;
        }
    }
}

fn start(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("registry".to_owned()).spawn(work).map(drop)
}

/// The next value of a thread; none if it has ended.
fn receive<T>(control: &Control, receiver: &Receiver<T>) -> io::Result<Option<T>> {
    loop {
        // Not `ErrorKind::Interrupted`, after which readers try again.
        control.check().map_err(|_| io::Error::other("interrupted"))?;
        match receiver.recv_timeout(INTERVAL) {
            Ok(value) => return Ok(Some(value)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A control that is stopped after a time.
    fn stopped_after(time: Duration) -> Control {
        let flag = Arc::new(AtomicBool::new(false));
        let control = Control::default().stopped_by(Arc::clone(&flag));
        thread::spawn(move || {
            thread::sleep(time);
            flag.store(true, Ordering::SeqCst);
        });
        control
    }

    /// Sends some bytes and then nothing.
    struct Stalled(&'static [u8]);

    impl Read for Stalled {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                thread::sleep(Duration::from_secs(30));
            }
            self.0.read(buffer)
        }
    }

    #[test]
    fn body_is_the_same_with_and_without_a_flag() {
        let bytes: Vec<u8> = (0..3 * PIECE + 17).map(|at| at as u8).collect();
        for control in [Control::default(), stopped_after(Duration::from_secs(60))] {
            let mut read = Vec::new();
            Body::new(&control, io::Cursor::new(bytes.clone())).read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes);
        }
    }

    #[test]
    fn errors_of_the_source_reach_the_reader() {
        let source = (&b"abc"[..]).chain(Broken);
        let control = stopped_after(Duration::from_secs(60));
        let mut read = Vec::new();
        let error = Body::new(&control, source).read_to_end(&mut read).unwrap_err();
        assert_eq!((read.as_slice(), error.kind()), (&b"abc"[..], io::ErrorKind::ConnectionReset));
    }

    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }

    #[test]
    fn waiting_ends_soon_after_the_flag_is_set() {
        let start = Instant::now();
        let control = || stopped_after(Duration::from_millis(100));
        let mut read = Vec::new();
        assert!(Body::new(&control(), Stalled(b"abc")).read_to_end(&mut read).is_err());
        assert_eq!(read, b"abc");
        assert!(run(&control(), || thread::sleep(Duration::from_secs(30))).is_err());
        assert_eq!(pause(&control(), Duration::from_secs(30)), Err(OciKind::Interrupted));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
