//! The connections of clients, also after the system had no file for one.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream;
use tonic::transport::server::TcpIncoming;

/// The pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// Accepts connections for ever.
///
/// The library ends the server with the first error that it does not know. Too many open files is one of these, and clients cause it
/// by opening connections.
pub(super) struct Connections {
    incoming: TcpIncoming,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Connections {
    pub(super) fn new(incoming: TcpIncoming) -> Self {
        Self { incoming, pause: None }
    }
}

impl Stream for Connections {
    type Item = io::Result<TcpStream>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(context));
                self.pause = None;
            }
            match ready!(Pin::new(&mut self.incoming).poll_next(context)) {
                Some(Err(_)) => self.pause = Some(Box::pin(sleep(PAUSE))),
                accepted => return Poll::Ready(accepted),
            }
        }
    }
}
