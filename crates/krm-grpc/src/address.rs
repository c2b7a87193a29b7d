//! The address of one or more servers: `grpc://HOST:PORT[,HOST:PORT…]`, or `grpcs://` for TLS.

use std::fmt;

use crate::GrpcKind;

/// The scheme without TLS.
const PLAIN: &str = "grpc://";
/// The scheme with TLS.
const TLS: &str = "grpcs://";
/// The port of Porch's function-runner.
const DEFAULT_PORT: u16 = 9445;

/// Servers that answer the same requests.
///
/// ```
/// use krm_grpc::Address;
///
/// let address = Address::parse("grpc://10.0.0.1:9445,runner").expect("it has a scheme")?;
/// assert_eq!(address.hosts(), [("10.0.0.1".to_owned(), 9445), ("runner".to_owned(), 9445)]);
/// assert!(!address.uses_tls());
/// assert!(Address::parse("docker").is_none());
/// assert!(Address::parse("grpc://").expect("it has a scheme").is_err());
/// # Ok::<(), krm_grpc::GrpcKind>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    uses_tls: bool,
    hosts: Vec<(String, u16)>,
}

impl Address {
    /// The address in a text; none if it does not begin with a scheme of gRPC.
    pub fn parse(text: &str) -> Option<Result<Self, GrpcKind>> {
        let (uses_tls, rest) = match (text.strip_prefix(PLAIN), text.strip_prefix(TLS)) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => return None,
        };
        let hosts: Result<Vec<_>, _> = rest.split(',').map(host).collect();
        let invalid = |reason| GrpcKind::InvalidAddress { address: text.to_owned(), reason };
        Some(hosts.map(|hosts| Self { uses_tls, hosts }).map_err(invalid))
    }

    /// Whether the servers use TLS.
    pub fn uses_tls(&self) -> bool {
        self.uses_tls
    }

    /// Names or IP addresses, and ports.
    pub fn hosts(&self) -> &[(String, u16)] {
        &self.hosts
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.uses_tls { TLS } else { PLAIN })?;
        for (at, (host, port)) in self.hosts.iter().enumerate() {
            let separator = if at == 0 { "" } else { "," };
            match host.contains(':') {
                true => write!(f, "{separator}[{host}]:{port}")?,
                false => write!(f, "{separator}{host}:{port}")?,
            }
        }
        Ok(())
    }
}

fn host(text: &str) -> Result<(String, u16), &'static str> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or("expected `]` after an IPv6 address")?;
            if host.parse::<std::net::Ipv6Addr>().is_err() {
                return Err("expected an IPv6 address in brackets");
            }
            let port = match rest {
                "" => None,
                _ => Some(rest.strip_prefix(':').ok_or("expected `:` after the host")?),
            };
            (host, port)
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    if host.is_empty() {
        return Err("expected a host");
    }
    if !host.chars().all(is_name) {
        return Err("expected HOST:PORT without a path");
    }
    let port = match port {
        Some(port) => port.parse().ok().filter(|port| *port > 0).ok_or("expected a port")?,
        None => DEFAULT_PORT,
    };
    Ok((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_printed_as_they_are_written() {
        for text in ["grpc://a:1", "grpcs://a.b-c:1,10.0.0.1:2", "grpc://[::1]:9445"] {
            assert_eq!(Address::parse(text).unwrap().unwrap().to_string(), text);
        }
        assert_eq!(Address::parse("grpc://[::1]").unwrap().unwrap().hosts()[0].1, DEFAULT_PORT);
    }

    #[test]
    fn invalid_addresses_are_errors() {
        for text in [
            "grpc://",
            "grpc://a:",
            "grpc://a:0",
            "grpc://a:65536",
            "grpc://a:1/path",
            "grpc://user@a:1",
            "grpc://a:1,",
            "grpc://[::1:1",
            "grpc://[a]:1",
            "grpc://a b",
        ] {
            assert!(Address::parse(text).unwrap().is_err(), "{text}");
        }
        assert_eq!(Address::parse("http://a:1"), None);
    }
}
