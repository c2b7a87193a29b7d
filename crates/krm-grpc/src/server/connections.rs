//! The connections of clients, with a pause while the system has no file for one.

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

/// Accepts connections.
///
/// The library tries again at once after an error. With too many open files, which clients cause by opening connections, that would keep a
/// processor busy until some are closed.
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
