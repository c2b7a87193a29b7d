//! Addresses and networks of Kubernetes' CEL.

use core::net::IpAddr;
use std::sync::Arc;

use cel::common::functions::Function;
use cel::common::types::{STRING_TYPE, Type};
use cel::common::value::CowVal;
use cel::objects::Opaque;
use cel::{DeclarationError, Env, ExecutionError, Value};

use super::kubernetes::{call, no_overload};

const ADDRESS: &str = "net.IP";
const NETWORK: &str = "net.CIDR";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Address(IpAddr);

impl Opaque for Address {
    fn runtime_type_name(&self) -> &str {
        ADDRESS
    }
}

impl Address {
    /// Compat: no zones, and no IPv4 addresses in IPv6 notation.
    fn parse(text: &str) -> Option<Self> {
        let address: IpAddr = text.parse().ok()?;
        let is_mapped = matches!(address, IpAddr::V6(it) if it.to_ipv4_mapped().is_some());
        (!is_mapped).then_some(Self(address))
    }

    /// The address in the upper bits, and the number of bits.
    fn bits(self) -> (u128, u8) {
        match self.0 {
            IpAddr::V4(it) => (u128::from(u32::from(it)) << 96, 32),
            IpAddr::V6(it) => (u128::from(it), 128),
        }
    }

    fn with_bits(self, bits: u128) -> Self {
        Self(match self.0 {
            IpAddr::V4(_) => IpAddr::V4(u32::try_from(bits >> 96).unwrap_or(0).into()),
            IpAddr::V6(_) => IpAddr::V6(bits.into()),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: Address,
    prefix: u8,
}

impl Opaque for Network {
    fn runtime_type_name(&self) -> &str {
        NETWORK
    }
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let address = Address::parse(address)?;
        let is_number = !prefix.is_empty() && prefix.bytes().all(|it| it.is_ascii_digit());
        let is_canonical = prefix == "0" || !prefix.starts_with('0');
        let prefix: u8 = prefix.parse().ok().filter(|_| is_number && is_canonical)?;
        (prefix <= address.bits().1).then_some(Self { address, prefix })
    }

    fn mask(self) -> u128 {
        if self.prefix == 0 { 0 } else { u128::MAX << (128 - u32::from(self.prefix)) }
    }

    fn masked(self) -> Self {
        Self { address: self.address.with_bits(self.address.bits().0 & self.mask()), ..self }
    }

    fn contains(self, address: Address) -> bool {
        let ((a, width), (b, other)) = (self.address.bits(), address.bits());
        width == other && a & self.mask() == b & self.mask()
    }
}

fn text(args: &[Value], at: usize) -> Option<&str> {
    match args.get(at) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn invalid(function: &str, text: &str) -> ExecutionError {
    ExecutionError::function_error(function, format!("`{text}` is not valid"))
}

/// An address, or a string that is one.
fn address(function: &str, args: &[Value], at: usize) -> Result<Address, ExecutionError> {
    match args.get(at) {
        Some(Value::Opaque(it)) => it.downcast_ref().copied().ok_or_else(|| no_overload(function)),
        Some(Value::String(text)) => Address::parse(text).ok_or_else(|| invalid(function, text)),
        _ => Err(no_overload(function)),
    }
}

/// A network, or a string that is one.
fn network(function: &str, args: &[Value], at: usize) -> Result<Network, ExecutionError> {
    match args.get(at) {
        Some(Value::Opaque(it)) => it.downcast_ref().copied().ok_or_else(|| no_overload(function)),
        Some(Value::String(text)) => Network::parse(text).ok_or_else(|| invalid(function, text)),
        _ => Err(no_overload(function)),
    }
}

fn opaque(value: impl Opaque) -> Value {
    Value::Opaque(Arc::new(value))
}

pub(super) fn extend(env: &mut Env) -> Result<(), DeclarationError> {
    let conversions: &[(&str, Function)] = &[
        ("isIP", |args| {
            call(&args, |args| Ok(text(args, 0).and_then(Address::parse).is_some().into()))
        }),
        ("ip", |args| call(&args, |args| Ok(opaque(address("ip", args, 0)?)))),
        ("isCIDR", |args| {
            call(&args, |args| Ok(text(args, 0).and_then(Network::parse).is_some().into()))
        }),
        ("cidr", |args| call(&args, |args| Ok(opaque(network("cidr", args, 0)?)))),
    ];
    for (name, function) in conversions {
        env.add_overload(name, name, vec![STRING_TYPE], *function)?;
    }
    let of_address: &[(&str, Function)] = &[
        ("family", |args| {
            call(&args, |args| {
                Ok(Value::Int(if address("family", args, 0)?.0.is_ipv4() { 4 } else { 6 }))
            })
        }),
        ("isLoopback", |args| {
            call(&args, |args| Ok(address("isLoopback", args, 0)?.0.is_loopback().into()))
        }),
        ("isUnspecified", |args| {
            call(&args, |args| Ok(address("isUnspecified", args, 0)?.0.is_unspecified().into()))
        }),
        ("isLinkLocalUnicast", |args| {
            call(&args, |args| Ok(is_link_local(address("isLinkLocalUnicast", args, 0)?.0).into()))
        }),
        ("isLinkLocalMulticast", |args| {
            call(&args, |args| {
                Ok(is_local_multicast(address("isLinkLocalMulticast", args, 0)?.0).into())
            })
        }),
        ("isGlobalUnicast", |args| {
            call(&args, |args| Ok(is_global_unicast(address("isGlobalUnicast", args, 0)?.0).into()))
        }),
    ];
    for (name, function) in of_address {
        env.add_member_overload(name, name, Type::new_opaque_type(ADDRESS), Vec::new(), *function)?;
    }
    let of_network: [(&str, Vec<Type>, Function); 7] = [
        ("containsIP", vec![Type::new_opaque_type(ADDRESS)], |args| contains_address(&args)),
        ("containsIP", vec![STRING_TYPE], |args| contains_address(&args)),
        ("containsCIDR", vec![Type::new_opaque_type(NETWORK)], |args| contains_network(&args)),
        ("containsCIDR", vec![STRING_TYPE], |args| contains_network(&args)),
        ("prefixLength", Vec::new(), |args| {
            call(&args, |args| Ok(Value::Int(network("prefixLength", args, 0)?.prefix.into())))
        }),
        ("masked", Vec::new(), |args| {
            call(&args, |args| Ok(opaque(network("masked", args, 0)?.masked())))
        }),
        ("ip", Vec::new(), |args| call(&args, |args| Ok(opaque(network("ip", args, 0)?.address)))),
    ];
    for (at, (name, arguments, function)) in of_network.into_iter().enumerate() {
        let id = format!("{name}-{at}");
        env.add_member_overload(name, &id, Type::new_opaque_type(NETWORK), arguments, function)?;
    }
    Ok(())
}

fn contains_address<'b, 'v>(args: &[CowVal<'b, 'v>]) -> Result<CowVal<'b, 'v>, ExecutionError> {
    call(args, |args| {
        let (network, address) = (network("containsIP", args, 0)?, address("containsIP", args, 1)?);
        Ok(network.contains(address).into())
    })
}

fn contains_network<'b, 'v>(args: &[CowVal<'b, 'v>]) -> Result<CowVal<'b, 'v>, ExecutionError> {
    call(args, |args| {
        let (a, b) = (network("containsCIDR", args, 0)?, network("containsCIDR", args, 1)?);
        Ok((a.prefix <= b.prefix && a.contains(b.address)).into())
    })
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => it.is_link_local(),
        IpAddr::V6(it) => it.is_unicast_link_local(),
    }
}

fn is_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => it.octets()[..3] == [224, 0, 0],
        IpAddr::V6(it) => it.segments()[0] & 0xff0f == 0xff02,
    }
}

fn is_global_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(it) if it.is_broadcast());
    !(is_broadcast
        || address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || is_link_local(address))
}
