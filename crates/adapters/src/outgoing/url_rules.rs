//! The URLs that may be called.

use std::net::IpAddr;

use http::Uri;
use thiserror::Error;
use url::{Host, Url};

use super::address_filter::AddressFilter;

/// The reason for which a URL may not be called. The texts complete "the URL …".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum UrlRefusal {
    /// The text does not begin with https:// or, where it is permitted, http://.
    #[error("must begin with https://")]
    Scheme,
    /// The text contains a backslash, which some programs read as a slash.
    #[error("must not contain a backslash")]
    Backslash,
    /// The URL contains a user or a password.
    #[error("must not contain a user or a password")]
    Credentials,
    /// The URL contains a fragment, which is never sent.
    #[error("must not contain a fragment")]
    Fragment,
    /// The URL has no host, or HTTP cannot transmit it: its host has unusual characters, or it or its host is too
    /// long.
    #[error("must be a valid URL with a host name")]
    Form,
    /// The host is an IP address that may not be called.
    #[error("must have a public address")]
    Address,
}

/// The maximum length of a host, in characters, as in the DNS.
const MAX_HOST: usize = 253;

/// Parses a URL that is written as it is read: it begins with the scheme and `//`, and has no backslash. The text of
/// the result is its canonical form.
///
/// # Errors
/// [`UrlRefusal::Scheme`], [`UrlRefusal::Backslash`] and [`UrlRefusal::Form`].
pub fn parse_written(text: &str, plain_http: bool) -> Result<Url, UrlRefusal> {
    if !(text.starts_with("https://") || (plain_http && text.starts_with("http://"))) {
        return Err(UrlRefusal::Scheme);
    }
    if text.contains('\\') {
        return Err(UrlRefusal::Backslash);
    }
    Url::parse(text).map_err(|_| UrlRefusal::Form)
}

/// Returns the origin of an http(s) URL without user, path, query and fragment: the scheme, the host, and the port if it
/// is not the usual one. A final slash is accepted.
#[must_use]
pub fn origin(written: &str) -> Option<String> {
    let url = parse_written(written.trim_end_matches('/'), true).ok()?;
    let bare = url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    (bare && matches!(url.scheme(), "http" | "https")).then(|| url.origin().ascii_serialization())
}

/// Whether the URL leads to this machine, so that no other machine can read what is sent there.
#[must_use]
pub fn is_on_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        // For schemes other than http(s), the `url` crate parses an IPv4 address as a domain.
        Some(Host::Domain(name)) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

/// The rules for URLs, apart from those for the addresses of host names.
pub(super) struct UrlRules {
    pub(super) accepted: AddressFilter,
    pub(super) plain_http: bool,
}

impl UrlRules {
    /// Returns the URL that a user wrote.
    ///
    /// # Errors
    /// [`UrlRefusal`] of the first rule that is violated.
    pub(super) fn accept(&self, text: &str) -> Result<Url, UrlRefusal> {
        let url = parse_written(text, self.plain_http)?;
        self.check(&url)?;
        Ok(url)
    }

    /// Returns the URL in the form in which it is called.
    ///
    /// # Errors
    /// [`UrlRefusal`] of the first rule that is violated.
    pub(super) fn check(&self, url: &Url) -> Result<Uri, UrlRefusal> {
        let refuse = |violated: bool, refusal| if violated { Err(refusal) } else { Ok(()) };
        refuse(!self.permits(url.scheme()), UrlRefusal::Scheme)?;
        refuse(!url.username().is_empty() || url.password().is_some(), UrlRefusal::Credentials)?;
        refuse(url.fragment().is_some(), UrlRefusal::Fragment)?;
        let uri: Uri = url.as_str().parse().map_err(|_| UrlRefusal::Form)?;
        let host = uri.host().ok_or(UrlRefusal::Form)?;
        refuse(host.len() > MAX_HOST, UrlRefusal::Form)?;
        // The connector does not ask its resolver for the address of a host that is an IP address.
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        refuse(address.is_ok_and(|address| !self.accepted.accepts(address)), UrlRefusal::Address)?;
        Ok(uri)
    }

    fn permits(&self, scheme: &str) -> bool {
        scheme == "https" || (scheme == "http" && self.plain_http)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::Networks;

    fn check(plain_http: bool, url: &str) -> Result<(), UrlRefusal> {
        let accepted = AddressFilter::new(Networks::default()).unwrap();
        let rules = UrlRules { accepted, plain_http };
        rules.check(&Url::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))).map(drop)
    }

    #[test]
    fn https_urls_are_accepted_and_http_urls_only_if_permitted() {
        for (url, encrypted_only, any) in [
            ("https://example.com/hook", Ok(()), Ok(())),
            ("HTTPS://EXAMPLE.COM", Ok(()), Ok(())),
            ("http://example.com/hook", Err(UrlRefusal::Scheme), Ok(())),
            ("ftp://example.com", Err(UrlRefusal::Scheme), Err(UrlRefusal::Scheme)),
            ("file:///etc/passwd", Err(UrlRefusal::Scheme), Err(UrlRefusal::Scheme)),
            ("gopher://127.0.0.1:6379/x", Err(UrlRefusal::Scheme), Err(UrlRefusal::Scheme)),
            ("unix:/var/run/docker.sock", Err(UrlRefusal::Scheme), Err(UrlRefusal::Scheme)),
            ("data:text/plain,x", Err(UrlRefusal::Scheme), Err(UrlRefusal::Scheme)),
        ] {
            assert_eq!(check(false, url), encrypted_only, "{url}");
            assert_eq!(check(true, url), any, "{url}");
        }
    }

    #[test]
    fn ambiguous_urls_are_refused_and_others_normalized() {
        let accepted = AddressFilter::new(Networks::default()).unwrap();
        let accept = |plain_http, text: &str| {
            let rules = UrlRules { accepted: accepted.clone(), plain_http };
            rules.accept(text).map(|url| url.to_string())
        };
        for (text, expected) in [
            ("https://example.com", Ok("https://example.com/")),
            ("https://EXAMPLE.com:443/a/../b?q", Ok("https://example.com/b?q")),
            ("https:///evil.example/collect", Ok("https://evil.example/collect")),
            ("https://b%C3%BCcher.example", Ok("https://xn--bcher-kva.example/")),
            ("https:evil.example/collect", Err(UrlRefusal::Scheme)),
            ("https:/evil.example/collect", Err(UrlRefusal::Scheme)),
            ("HTTPS://example.com", Err(UrlRefusal::Scheme)),
            (" https://example.com", Err(UrlRefusal::Scheme)),
            ("//example.com", Err(UrlRefusal::Scheme)),
            ("example.com", Err(UrlRefusal::Scheme)),
            ("https:\\\\evil.example", Err(UrlRefusal::Scheme)),
            ("https://evil.example\\@hooks.good.example/", Err(UrlRefusal::Backslash)),
            ("https://hooks.good.example/\\evil.example", Err(UrlRefusal::Backslash)),
            ("https://good.example@evil.example/", Err(UrlRefusal::Credentials)),
            ("https://good.example:443@evil.example/", Err(UrlRefusal::Credentials)),
            ("https://", Err(UrlRefusal::Form)),
            ("https://:8443/", Err(UrlRefusal::Form)),
            ("https://example.com:99999/", Err(UrlRefusal::Form)),
            ("https:///127.0.0.1/", Err(UrlRefusal::Address)),
        ] {
            let expected = expected.map(str::to_owned);
            assert_eq!(accept(false, text), expected, "{text}");
            assert_eq!(accept(true, text), expected, "{text}");
        }
        assert_eq!(accept(false, "http://example.com"), Err(UrlRefusal::Scheme));
        assert_eq!(accept(true, "http://example.com"), Ok("http://example.com/".to_owned()));
        assert_eq!(accept(true, "http:example.com"), Err(UrlRefusal::Scheme));
        let labels = |count: usize| format!("https://{}example/", "abcdefg.".repeat(count));
        assert!(accept(false, &labels(30)).is_ok());
        assert_eq!(accept(false, &labels(31)), Err(UrlRefusal::Form));
    }

    #[test]
    fn urls_with_credentials_or_fragments_are_refused() {
        let long = format!("https://example.com/{}", "a".repeat(70_000));
        for (url, expected) in [
            ("https://example.com:8443/hook?key=1&b=%23", Ok(())),
            ("https://example.com:22", Ok(())),
            ("https://bücher.example", Ok(())),
            ("https://8.8.8.8/hook", Ok(())),
            ("https://[2606:4700::1111]:8443", Ok(())),
            ("https://user@example.com", Err(UrlRefusal::Credentials)),
            ("https://:password@example.com", Err(UrlRefusal::Credentials)),
            ("https://example.com@127.0.0.1", Err(UrlRefusal::Credentials)),
            ("https://example.com/#part", Err(UrlRefusal::Fragment)),
            ("https://example.com/#", Err(UrlRefusal::Fragment)),
            ("https://a{b}.example", Err(UrlRefusal::Form)),
            (long.as_str(), Err(UrlRefusal::Form)),
        ] {
            assert_eq!(check(false, url), expected, "{url}");
        }
    }

    #[test]
    fn alternative_spellings_of_internal_addresses_are_refused() {
        for host in [
            "127.0.0.1",
            "127.0.0.1.",
            "127.1",
            "127.0.1",
            "127.00.00.01",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0X7F.0x0.0x0.0x1",
            "0177.0.0.1",
            "017700000001",
            "127.0.0.1:8080",
            "%31%32%37.0.0.1",
            "１２７.０.０.１",
            "①②⑦.0.0.1",
            "127。0。0。1",
            "0",
            "0.0.0.0",
            "[::]",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::1]:8080",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::127.0.0.1]",
            "[64:ff9b::127.0.0.1]",
            "[64:ff9b:1::7f00:1]",
            "[2002:7f00:1::]",
            "[fe80::1]",
            "[fd00:ec2::254]",
            "169.254.169.254",
            "2852039166",
            "0xa9fea9fe",
            "10.1",
            "192.168.257",
            "172.1048577",
        ] {
            let url = format!("https://{host}/latest/meta-data");
            assert_eq!(check(false, &url), Err(UrlRefusal::Address), "{url}");
            let url = format!("http://{host}");
            assert_eq!(check(true, &url), Err(UrlRefusal::Address), "{url}");
        }
    }

    #[test]
    fn urls_with_malformed_hosts_fail_to_parse() {
        for host in [
            "[fe80::1%25eth0]",
            "[fe80::1%eth0]",
            "[::1",
            "[::1]]",
            "[127.0.0.1]",
            "127.0.0.256",
            "0x7f.0x1g.1.1",
            "",
        ] {
            Url::parse(&format!("https://{host}/")).expect_err(host);
        }
    }

    #[test]
    fn host_names_are_accepted_without_being_resolved() {
        for host in ["localhost", "localhost.", "LOCALHOST", "127.0.0.1.nip.io", "example.com."] {
            assert_eq!(check(false, &format!("https://{host}/")), Ok(()), "{host}");
        }
    }
}
