//! URLs of webhook endpoints: an accepted URL has one canonical form, whose host is the one that is shown and called.

use std::net::IpAddr;
use std::sync::LazyLock;

use cuepoint_adapters::networks::Networks;
use cuepoint_adapters::outgoing::{NameServers, OutgoingCalls};
use cuepoint_domain::webhook::EndpointUrl;
use http::Uri;
use url::Url;

/// Calls through https and plain http, without exceptions from the refused networks.
static CALLS: LazyLock<Option<OutgoingCalls>> =
    LazyLock::new(|| OutgoingCalls::new(Networks::default(), true, NameServers::default()).ok());

/// The input is a URL.
pub(crate) fn check(input: &[u8]) {
    let (Ok(text), Some(calls)) = (std::str::from_utf8(input), CALLS.as_ref()) else { return };
    let is_visible = text.bytes().all(|byte| (b'!'..=b'~').contains(&byte));
    let fits = (1..=EndpointUrl::MAX_CHARACTERS).contains(&text.len()) && is_visible;
    let written = EndpointUrl::new(text);
    assert_eq!(written.is_ok(), fits, "{text:?}");
    let (Ok(written), Ok(accepted)) = (written, calls.accept(text)) else { return };
    assert_eq!(written.as_str(), text);
    let begin = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    assert!(begin.is_some_and(|rest| !rest.contains(['\\', '#'])), "{text:?} is not as it is read");

    let Ok(stored) = EndpointUrl::new(accepted.as_str()) else {
        assert!(accepted.as_str().len() > EndpointUrl::MAX_CHARACTERS, "{accepted} cannot be stored");
        return;
    };
    check_stored(calls, &stored);
    assert_eq!(EndpointUrl::from_stored(text.to_owned()), stored, "as an earlier version stored it");
}

fn check_stored(calls: &OutgoingCalls, stored: &EndpointUrl) {
    let text = stored.as_str();
    let again = calls.accept(text).map(String::from);
    assert_eq!(again.as_deref(), Ok(text), "the canonical form is not accepted unchanged");
    assert_eq!(&EndpointUrl::from_stored(text.to_owned()), stored, "{text:?}");

    let called = Url::parse(text).ok();
    let host = called.as_ref().and_then(Url::host_str).unwrap_or_default();
    let port = called.as_ref().and_then(Url::port).map(|port| format!(":{port}")).unwrap_or_default();
    assert!(!host.is_empty(), "{text:?} has no host");
    assert_eq!(stored.authority(), format!("{host}{port}"), "{text:?}");
    let sent = text.parse::<Uri>().ok();
    let sent = sent.as_ref().and_then(Uri::authority).map(|authority| authority.as_str());
    assert_eq!(sent, Some(stored.authority().as_str()), "{text:?} is called elsewhere");
    if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
        assert!(!is_internal(address), "{text:?}");
    }
}

/// Whether an address is surely not public.
fn is_internal(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            address.is_loopback()
                || address.is_private()
                || address.is_link_local()
                || address.is_unspecified()
        }
        IpAddr::V6(address) => {
            address.is_loopback()
                || address.is_unique_local()
                || address.is_unicast_link_local()
                || address.is_unspecified()
        }
    }
}
