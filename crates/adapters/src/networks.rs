//! Lists of networks, and client addresses.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// The header to which each proxy appends the address of its client.
pub const FORWARDED_FOR: &str = "x-forwarded-for";

/// A set of networks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Networks(Vec<IpNet>);

/// Text that is neither a network nor an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidNetwork(String);

impl fmt::Display for InvalidNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not an IP address or a network such as 10.0.0.0/8", self.0)
    }
}

/// The origin of a call, as far as known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClientAddress {
    /// The last address reported by a trusted peer.
    pub address: Option<IpAddr>,
    /// Whether the call originates from the address; otherwise the address is an intermediate hop.
    pub proven: bool,
}

impl Networks {
    /// Parses networks, each with a prefix length unless it is a single address.
    ///
    /// # Errors
    /// [`InvalidNetwork`] for the first invalid one.
    pub fn parse<'a>(written: impl IntoIterator<Item = &'a str>) -> Result<Self, InvalidNetwork> {
        let one = |written: &str| {
            let network = IpNet::from_str(written).or_else(|_| IpAddr::from_str(written).map(IpNet::from));
            network.map_err(|_| InvalidNetwork(written.to_owned()))
        };
        written.into_iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there is no network.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of the networks contains the address; IPv4-mapped IPv6 addresses count as IPv4.
    #[must_use]
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Whether the client is admitted. An unproven address is in no network, unless the networks contain
    /// every address.
    #[must_use]
    pub fn admit(&self, client: ClientAddress) -> bool {
        self.are_all() || (client.proven && client.address.is_some_and(|address| self.contain(address)))
    }

    fn are_all(&self) -> bool {
        let all_of = |v4: bool| {
            self.0.iter().any(|network| network.prefix_len() == 0 && network.addr().is_ipv4() == v4)
        };
        all_of(true) && all_of(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn networks(written: &str) -> Networks {
        Networks::parse(written.split_whitespace()).unwrap()
    }

    fn at(address: &str, proven: bool) -> ClientAddress {
        ClientAddress { address: Some(address.parse().unwrap()), proven }
    }

    #[test]
    fn networks_contain_only_the_addresses_in_their_ranges() {
        for (list, address, inside) in [
            ("127.0.0.0/8 ::1", "127.9.9.9", true),
            ("127.0.0.0/8 ::1", "::1", true),
            ("127.0.0.0/8 ::1", "::ffff:127.0.0.1", true),
            ("127.0.0.0/8 ::1", "128.0.0.1", false),
            ("127.0.0.0/8 ::1", "::2", false),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.4", false),
            ("2001:db8::/32", "2001:db8:1::1", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("", "127.0.0.1", false),
        ] {
            assert_eq!(networks(list).contain(address.parse().unwrap()), inside, "{address} in {list}");
        }
    }

    #[test]
    fn an_unproven_address_is_admitted_only_where_all_addresses_are_allowed() {
        let (local, all) = (networks("127.0.0.0/8"), networks("0.0.0.0/0 ::/0"));
        assert!(local.admit(at("127.0.0.1", true)) && !local.admit(at("127.0.0.1", false)));
        assert!(!local.admit(at("10.0.0.1", true)));
        assert!(all.admit(at("127.0.0.1", false)));
        assert!(all.admit(ClientAddress { address: None, proven: false }));
        assert!(!local.admit(ClientAddress { address: None, proven: true }));
    }

    #[test]
    fn invalid_networks_are_refused() {
        for written in ["", "10.0.0.0/33", "localhost", "10.0.0", "::/129", "10.0.0.0/8/8", "10.0.0.1:80"] {
            let refused = Networks::parse([written]).unwrap_err().to_string();
            assert_eq!(
                refused,
                format!("{written:?} is not an IP address or a network such as 10.0.0.0/8"),
                "{written}"
            );
        }
    }
}
