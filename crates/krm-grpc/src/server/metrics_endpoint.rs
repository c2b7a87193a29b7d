//! `GET /metrics` over HTTP/1.1, which is all that Prometheus needs.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::admission::Admission;
use super::metrics::Metrics;

/// The longest request.
const MAX_REQUEST: usize = 8 << 10;
/// The time for a whole connection.
const TIME: Duration = Duration::from_secs(5);
/// How many connections are open at the same time.
const CONNECTIONS: usize = 16;

pub(super) async fn serve(listener: TcpListener, metrics: Arc<Metrics>, admission: Arc<Admission>) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (metrics, admission) = (Arc::clone(&metrics), Arc::clone(&admission));
                tokio::spawn(async move {
                    let answer = answer(stream, || metrics.text(admission.counts()));
                    let _ = tokio::time::timeout(TIME, answer).await;
                    drop(permit);
                });
            }
            // Too many open files, for example: it may pass.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn answer(mut stream: TcpStream, metrics: impl Fn() -> String) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|it| it == b"\r\n\r\n") && request.len() < MAX_REQUEST {
        if stream.read_buf(&mut request).await? == 0 {
            break;
        }
    }
    let line = request.split(|it| *it == b'\r').next().unwrap_or_default();
    let mut words = line.split(|it| *it == b' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, body) = match (method, path) {
        (b"GET", b"/metrics") => ("200 OK", metrics()),
        (b"GET", _) => ("404 Not Found", "expected /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "expected GET\n".to_owned()),
    };
    let length = body.len();
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await
}
