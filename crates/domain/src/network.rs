//! Client networks.

use core::fmt;
use core::net::{IpAddr, Ipv6Addr};
use core::num::NonZeroU32;
use core::str::FromStr;

use thiserror::Error;
use time::Duration;

use crate::timestamp::Timestamp;

/// The mask of an IPv6 address's network prefix.
const IPV6_PREFIX: u128 = !0 << 64;
/// The mask of an IPv6 address's site prefix.
const IPV6_SITE_PREFIX: u128 = !0 << 80;

/// The part of an address assigned to one client: all of an IPv4 address, the first 64 bits of an IPv6
/// address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClientNetwork(IpAddr);

/// A text that is not a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("not a network")]
pub struct InvalidClientNetwork;

impl ClientNetwork {
    /// The network of an address; an IPv4-mapped IPv6 address belongs to the network of its IPv4 address.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(IpAddr::V4(address)),
            IpAddr::V6(address) => Self(IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & IPV6_PREFIX))),
        }
    }

    /// The site of an IPv6 network; `None` for IPv4, where a client has single addresses.
    #[must_use]
    pub fn site(self) -> Option<ClientSite> {
        match self.0 {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => {
                Some(ClientSite(Ipv6Addr::from_bits(address.to_bits() & IPV6_SITE_PREFIX)))
            }
        }
    }
}

/// The first 48 bits of an IPv6 address: the 65 536 networks that one customer can have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClientSite(Ipv6Addr);

impl ClientSite {
    /// How many times the quota of a network all networks of a site have together.
    pub const QUOTA: NonZeroU32 = NonZeroU32::MIN.saturating_add(7);
}

impl fmt::Display for ClientSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/48", self.0)
    }
}

impl fmt::Display for ClientNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = if self.0.is_ipv4() { 32 } else { 64 };
        write!(f, "{}/{bits}", self.0)
    }
}

impl FromStr for ClientNetwork {
    type Err = InvalidClientNetwork;

    /// Parses the `Display` form, and nothing else.
    fn from_str(text: &str) -> Result<Self, InvalidClientNetwork> {
        let address = text.split_once('/').and_then(|(address, _)| address.parse().ok());
        let network = address.map(Self::of).filter(|network| network.to_string() == text);
        network.ok_or(InvalidClientNetwork)
    }
}

/// A network from which a user has logged in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownNetwork {
    pub network: ClientNetwork,
    /// The time at which a session of the user last began or was refreshed from it.
    pub seen_at: Timestamp,
}

impl KnownNetwork {
    /// The retention of a known network: failed logins from elsewhere do not lock out a user who has logged
    /// in from it.
    pub const RETENTION: Duration = Duration::days(30);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(address: &str) -> String {
        ClientNetwork::of(address.parse().unwrap()).to_string()
    }

    #[test]
    fn a_client_network_is_an_ipv4_address_or_an_ipv6_slash_64() {
        for (address, expected) in [
            ("192.0.2.7", "192.0.2.7/32"),
            ("::ffff:192.0.2.7", "192.0.2.7/32"),
            ("2001:db8:0:1::7", "2001:db8:0:1::/64"),
            ("2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64"),
            ("2001:db8:0:2::7", "2001:db8:0:2::/64"),
            ("::1", "::/64"),
        ] {
            assert_eq!(network(address), expected);
            assert_eq!(expected.parse::<ClientNetwork>().unwrap().to_string(), expected);
        }
    }

    #[test]
    fn only_an_ipv6_network_belongs_to_a_site() {
        for (address, expected) in [
            ("192.0.2.7", None),
            ("::ffff:192.0.2.7", None),
            ("2001:db8:1:2::7", Some("2001:db8:1::/48")),
            ("2001:db8:1:ffff::7", Some("2001:db8:1::/48")),
            ("2001:db8:2::7", Some("2001:db8:2::/48")),
        ] {
            let site = ClientNetwork::of(address.parse().unwrap()).site();
            assert_eq!(site.map(|site| site.to_string()).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn invalid_client_networks_are_refused() {
        for text in
            ["", "192.0.2.7", "192.0.2.7/24", "192.0.2.7/032", "2001:db8::1/64", "2001:DB8::/64", "x/32"]
        {
            assert_eq!(text.parse::<ClientNetwork>(), Err(InvalidClientNetwork), "{text}");
        }
    }
}
