//! Whose calls are counted together.

use std::hash::BuildHasher;
use std::net::{IpAddr, Ipv6Addr};

use cuepoint_domain::ids::UserId;

/// The bits of an IPv6 address that name a network; one client commonly has all the others.
const NETWORK_BITS: u128 = !0 << 64;

/// Who calls, or what is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Subject {
    /// Who has a token.
    Caller(UserId),
    /// A client's address: all of IPv4, the network of IPv6.
    Address(IpAddr),
    /// The name of an account, as a number.
    Account(u64),
}

impl Subject {
    /// The client at this address; all whose address is unknown are one.
    #[must_use]
    pub fn address(address: Option<IpAddr>) -> Self {
        let address = match address.map(|address| address.to_canonical()) {
            Some(IpAddr::V4(address)) => IpAddr::V4(address),
            Some(IpAddr::V6(address)) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK_BITS)),
            None => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        Self::Address(address)
    }

    pub(super) fn account(names: &impl BuildHasher, folded_name: &str) -> Self {
        Self::Account(names.hash_one(folded_name))
    }
}
