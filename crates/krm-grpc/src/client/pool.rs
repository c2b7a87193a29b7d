//! The servers of a client: which one gets the next request.

use std::collections::BTreeSet;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tonic::transport::{Channel, ClientTlsConfig, Endpoint};

use super::ClientSettings;
use crate::server::chain;

/// The time for a connection.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// How long a server is avoided after it could not be reached, if there is another one.
const AVOIDED: Duration = Duration::from_secs(2);
/// The longest headers of a response: failures have their results there.
const MAX_HEADERS: u32 = 1 << 20;
/// Pings of HTTP/2 would be punished by servers of Go.
const TCP_KEEP_ALIVE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Pool {
    servers: Vec<Server>,
    /// Where the search for the next server begins.
    next: AtomicUsize,
}

#[derive(Debug)]
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) channel: Channel,
    in_flight: AtomicUsize,
    avoided_until: Mutex<Option<Instant>>,
}

/// A server that has a request of this client, until it is dropped.
pub(super) struct Busy {
    pool: Arc<Pool>,
    at: usize,
}

impl Pool {
    /// All addresses of all hosts, without connections.
    pub(super) fn new(
        settings: &ClientSettings,
        tls: Option<&ClientTlsConfig>,
    ) -> Result<Self, String> {
        let (mut servers, mut known) = (Vec::new(), BTreeSet::new());
        for (host, port) in settings.address.hosts() {
            let addresses = (host.as_str(), *port).to_socket_addrs();
            let addresses = addresses.map_err(|error| format!("cannot find `{host}`: {error}"))?;
            for address in addresses {
                if known.insert(address) {
                    servers.push(Server::new(address, (host, *port), tls)?);
                }
            }
        }
        match servers.is_empty() {
            true => Err(format!("{} has no address", settings.address)),
            false => Ok(Self { servers, next: AtomicUsize::new(0) }),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.servers.len()
    }

    /// The least busy server, of those that were not tried and can be reached, where there are any.
    pub(super) fn pick(self: &Arc<Self>, tried: &BTreeSet<SocketAddr>) -> Busy {
        let count = self.servers.len();
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        let order = (0..count).map(|offset| (start + offset) % count);
        let now = Instant::now();
        let load = |at: &usize| {
            let server = &self.servers[*at];
            (
                tried.contains(&server.address),
                server.is_avoided(now),
                server.in_flight.load(Ordering::Relaxed),
            )
        };
        let at = order.min_by_key(load).unwrap_or_default();
        self.servers[at].in_flight.fetch_add(1, Ordering::Relaxed);
        Busy { pool: Arc::clone(self), at }
    }
}

impl Server {
    fn new(
        address: SocketAddr,
        (host, port): (&str, u16),
        tls: Option<&ClientTlsConfig>,
    ) -> Result<Self, String> {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let name = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let origin = format!("{scheme}://{name}:{port}").parse();
        let origin = origin.map_err(|_| format!("`{host}` is not the name of a host"))?;
        let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"));
        let mut endpoint = endpoint
            .map_err(|error| chain(&error))?
            .origin(origin)
            .connect_timeout(CONNECT_TIME)
            .tcp_keepalive(Some(TCP_KEEP_ALIVE))
            .http2_max_header_list_size(MAX_HEADERS)
            .initial_stream_window_size(1 << 20)
            .initial_connection_window_size(8 << 20)
            .user_agent(concat!("krm/", env!("CARGO_PKG_VERSION")))
            .map_err(|error| chain(&error))?;
        if let Some(tls) = tls {
            let config = tls.clone().domain_name(host);
            endpoint = endpoint.tls_config(config).map_err(|error| chain(&error))?;
        }
        Ok(Self {
            address,
            channel: endpoint.connect_lazy(),
            in_flight: AtomicUsize::new(0),
            avoided_until: Mutex::new(None),
        })
    }

    fn is_avoided(&self, now: Instant) -> bool {
        let until = *self.avoided_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| until > now)
    }
}

impl Busy {
    pub(super) fn server(&self) -> &Server {
        &self.pool.servers[self.at]
    }

    /// Prefers other servers for a while.
    pub(super) fn avoid(&self) {
        let mut until = self.server().avoided_until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = Some(Instant::now() + AVOIDED);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.server().in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, TlsFiles};

    #[test]
    fn the_least_busy_server_gets_the_request_and_a_failed_one_is_avoided() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _inside = runtime.enter();
        let address =
            Address::parse("grpc://127.0.0.1:1,127.0.0.1:2,127.0.0.1:1").unwrap().unwrap();
        let settings = ClientSettings { address, tls: TlsFiles::default(), max_message: 1 };
        let pool = Arc::new(Pool::new(&settings, None).unwrap());
        assert_eq!(pool.count(), 2, "an address that is named twice is one server");
        let port = |busy: &Busy| busy.server().address.port();
        let none = BTreeSet::new();
        let (first, second) = (pool.pick(&none), pool.pick(&none));
        assert_ne!(port(&first), port(&second));
        drop(second);
        let third = pool.pick(&none);
        assert_ne!(port(&first), port(&third), "the other one is busy");
        third.avoid();
        drop(third);
        for _ in 0..4 {
            let next = pool.pick(&none);
            assert_eq!(port(&next), port(&first));
        }
        let tried = BTreeSet::from([first.server().address]);
        assert_ne!(port(&pool.pick(&tried)), port(&first));
    }
}
