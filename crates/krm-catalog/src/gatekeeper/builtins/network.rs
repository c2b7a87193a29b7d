//! Networks: `net.cidr_intersects` and `net.cidr_overlap`.

use core::net::IpAddr;

use regorus::Value;

/// A network, or an address as a network with one address.
#[derive(Clone, Copy)]
struct Network {
    /// The address as a number of 128 bits, IPv4 in the upper ones.
    bits: u128,
    prefix: u32,
    is_v4: bool,
}

impl Network {
    fn of(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let (bits, width) = match address {
            IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, 32),
            IpAddr::V6(address) => (u128::from(address), 128),
        };
        let prefix = match prefix {
            Some(text) if text.bytes().all(|it| it.is_ascii_digit()) => text.parse().ok()?,
            Some(_) => return None,
            None => width,
        };
        (prefix <= width).then(|| Self { bits, prefix, is_v4: address.is_ipv4() })
    }

    fn mask(prefix: u32) -> u128 {
        if prefix == 0 { 0 } else { u128::MAX << (128 - prefix) }
    }

    fn has_common_addresses(self, other: Self) -> bool {
        let mask = Self::mask(self.prefix.min(other.prefix));
        self.is_v4 == other.is_v4 && self.bits & mask == other.bits & mask
    }
}

fn networks(args: &[Value]) -> Option<(Network, Network)> {
    let network = |value: &Value| Network::of(value.as_string().ok()?);
    Some((network(&args[0])?, network(&args[1])?))
}

/// Whether two networks have an address in common.
pub(super) fn intersects(args: &[Value]) -> Value {
    let Some((a, b)) = networks(args) else { return Value::Undefined };
    a.has_common_addresses(b).into()
}

/// Whether the first network contains the second, or an address. Compat: `net.cidr_overlap` is an old name of `net.cidr_contains`.
pub(super) fn contains(args: &[Value]) -> Value {
    let Some((a, b)) = networks(args) else { return Value::Undefined };
    (a.prefix <= b.prefix && a.has_common_addresses(b)).into()
}
