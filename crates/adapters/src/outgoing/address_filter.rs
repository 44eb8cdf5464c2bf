//! The addresses that outgoing calls may reach.

use std::net::IpAddr;

use anyhow::anyhow;

use crate::networks::Networks;

/// The networks that are not public, after IANA's registries of special-purpose addresses.
const NOT_PUBLIC: &[&str] = &[
    // Unspecified addresses and addresses of this network.
    "0.0.0.0/8",
    // Private networks.
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    // Networks of carriers, behind their address translation.
    "100.64.0.0/10",
    // This machine.
    "127.0.0.0/8",
    // Link-local addresses, such as the metadata services of clouds.
    "169.254.0.0/16",
    // Assignments of protocols.
    "192.0.0.0/24",
    // Documentation.
    "192.0.2.0/24",
    "198.51.100.0/24",
    "203.0.113.0/24",
    // Relays from IPv6 (6to4).
    "192.88.99.0/24",
    // Benchmarks.
    "198.18.0.0/15",
    // Multicast, reserved addresses (class E) and broadcast.
    "224.0.0.0/3",
    // All of IPv6 outside of its public block 2000::/3. This includes addresses that contain one of IPv4, except
    // for mapped ones (::ffff:0:0/96), which count as IPv4.
    "::/3",
    "4000::/2",
    "8000::/1",
    // Assignments of protocols, such as Teredo (2001::/32), benchmarks (2001:2::/48) and ORCHID.
    "2001::/23",
    // Documentation.
    "2001:db8::/32",
    "3fff::/20",
    // Addresses that contain one of IPv4 (6to4).
    "2002::/16",
];

/// Public addresses, and addresses in allowed networks.
#[derive(Clone, Debug)]
pub(super) struct AddressFilter {
    not_public: Networks,
    allowed: Networks,
}

impl AddressFilter {
    /// Creates a filter with exceptions.
    ///
    /// # Errors
    /// When a network in the list of this file is invalid.
    pub(super) fn new(allowed: Networks) -> anyhow::Result<Self> {
        let not_public = Networks::parse(NOT_PUBLIC.iter().copied()).map_err(|error| anyhow!("{error}"))?;
        Ok(Self { not_public, allowed })
    }

    /// Whether the address may be called. IPv4-mapped IPv6 addresses count as IPv4.
    pub(super) fn accepts(&self, address: IpAddr) -> bool {
        self.allowed.contain(address) || !self.not_public.contain(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(allowed: &[&str], accepted: bool, addresses: &str) {
        let filter = AddressFilter::new(Networks::parse(allowed.iter().copied()).unwrap()).unwrap();
        for address in addresses.split_whitespace() {
            assert_eq!(filter.accepts(address.parse().unwrap()), accepted, "{address}");
        }
    }

    #[test]
    fn special_networks_are_refused_up_to_their_exact_boundaries() {
        for (inside, outside) in [
            ("0.0.0.0 0.0.0.1 0.255.255.255", "1.0.0.0"),
            ("10.0.0.0 10.255.255.255", "9.255.255.255 11.0.0.0"),
            ("100.64.0.0 100.127.255.255", "100.63.255.255 100.128.0.0"),
            ("127.0.0.0 127.0.0.1 127.255.255.255", "126.255.255.255 128.0.0.0"),
            ("169.254.0.0 169.254.169.254 169.254.255.255", "169.253.255.255 169.255.0.0"),
            ("172.16.0.0 172.31.255.255", "172.15.255.255 172.32.0.0"),
            ("192.0.0.0 192.0.0.255", "191.255.255.255 192.0.1.0"),
            ("192.0.2.0 192.0.2.255", "192.0.1.255 192.0.3.0"),
            ("192.88.99.0 192.88.99.255", "192.88.98.255 192.88.100.0"),
            ("192.168.0.0 192.168.255.255", "192.167.255.255 192.169.0.0"),
            ("198.18.0.0 198.19.255.255", "198.17.255.255 198.20.0.0"),
            ("198.51.100.0 198.51.100.255", "198.51.99.255 198.51.101.0"),
            ("203.0.113.0 203.0.113.255", "203.0.112.255 203.0.114.0"),
            ("224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255", "223.255.255.255"),
            (":: ::1 ::2 100:: 100::ffff:ffff:ffff:ffff 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"),
            ("2001:: 2001:0:ffff:: 2001:1::1 2001:2:: 2001:2:0:ffff:ffff:ffff:ffff:ffff", ""),
            ("2001:10:: 2001:1f:ffff:: 2001:20:: 2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", ""),
            ("2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff:: 2001:200:: 2001:4860:4860::8888"),
            ("2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff:: 2001:db9::"),
            ("2002:: 2002:808:808::1 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff:: 2003::"),
            ("3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff:: 3fff:1000::"),
            ("4000:: 5f00:: 5f00:ffff:: 7fff::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("8000:: fbff:: fc00:: fd00:ec2::254 fdff:: fe00::", ""),
            ("fe80:: fe80::1 febf:ffff:: fec0:: feff:ffff:: ff00:: ff02::1", ""),
            ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2606:4700::1111 2a00:1450:4001::1"),
        ] {
            check(&[], false, inside);
            check(&[], true, outside);
        }
    }

    #[test]
    fn refused_ipv4_addresses_are_also_refused_when_embedded_in_ipv6() {
        check(&[], false, "::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0.0.0.0");
        check(&[], false, "::127.0.0.1 ::10.0.0.1 ::ffff:0:127.0.0.1");
        check(&[], false, "64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b:1::7f00:1 64:ff9b:1:ffff::a00:1");
        check(&[], false, "2002:7f00:1:: 2002:a00:1::1 2001:0:4136:e378:8000:63bf:80ff:fffe");
        check(&[], true, "::ffff:8.8.8.8");
    }

    #[test]
    fn an_allowed_network_exempts_only_its_own_addresses() {
        let allowed = &["10.1.0.0/16", "fd00::5", "192.168.1.1"];
        check(allowed, true, "10.1.0.0 10.1.255.255 ::ffff:10.1.2.3 fd00::5 192.168.1.1 8.8.8.8 2600::1");
        check(allowed, false, "10.0.255.255 10.2.0.0 fd00::4 fd00::6 192.168.1.2 127.0.0.1 ::10.1.0.1");
        check(allowed, false, "64:ff9b::a01:1 2002:a01:1::");
    }
}
