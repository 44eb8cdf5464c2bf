//! Addresses: every accepted address has one canonical spelling, which its network accepts unchanged.

use cuepoint_domain::address::AddressError::{
    AnyoneCanSpend, Malformed, OtherNetwork, Ownerless, TestNetwork,
};
use cuepoint_domain::address::Network;
use cuepoint_domain::text::{Line, MAX_CHARACTERS};

/// Networks with the same address format.
const ALIKE: &[Network] = &[
    Network::Ethereum,
    Network::Arbitrum,
    Network::Optimism,
    Network::Base,
    Network::Polygon,
    Network::Bsc,
    Network::Avalanche,
];

/// The maximum payload of an address, in bytes.
const MAX_PAYLOAD: usize = 43;

/// The input is an address, or a payload to which a checksum is added here, because a fuzzer cannot guess
/// one.
pub(crate) fn check(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input)
        && text.len() <= MAX_CHARACTERS
    {
        check_text(text);
    }
    if input.len() > MAX_PAYLOAD {
        return;
    }
    for alphabet in [bs58::Alphabet::BITCOIN, bs58::Alphabet::RIPPLE] {
        check_text(&bs58::encode(input).with_alphabet(alphabet).with_check().into_string());
    }
    check_text(&bs58::encode(input).into_string());
    let (version, program) = input.split_first().unwrap_or((&0, input));
    for part in ["bc", "tb", "ltc"] {
        let encoded = bech32::Hrp::parse(part).ok().zip(bech32::Fe32::try_from(*version).ok());
        if let Some(Ok(text)) = encoded.map(|(part, version)| bech32::segwit::encode(part, version, program))
        {
            check_text(&text);
        }
    }
}

fn check_text(text: &str) {
    let judged: Vec<_> = Network::all().map(|network| (network, network.canonical(text))).collect();
    let known = judged
        .iter()
        .any(|(_, judged)| matches!(judged, Ok(_) | Err(TestNetwork | Ownerless | AnyoneCanSpend)));
    for (network, judgement) in &judged {
        match judgement {
            Ok(canonical) => check_canonical(*network, canonical),
            Err(OtherNetwork) => assert!(known, "{text:?} is of no network at all"),
            Err(Malformed) => assert!(!known, "{text:?} is an address of a network"),
            Err(TestNetwork | Ownerless | AnyoneCanSpend) => {}
        }
    }
    let mut alike = judged.iter().filter(|(network, _)| ALIKE.contains(network)).map(|(_, judged)| judged);
    let first = alike.next();
    assert!(alike.all(|judged| Some(judged) == first), "{text:?}");
}

fn check_canonical(network: Network, canonical: &str) {
    let again = network.canonical(canonical);
    assert_eq!(again.as_deref(), Ok(canonical), "{} rejects its own canonical form", network.name());
    assert!(canonical.bytes().all(|byte| byte.is_ascii_graphic()), "{canonical:?}");
    assert!(
        Line::new(canonical).is_ok_and(|line| line.as_str() == canonical),
        "{canonical:?} cannot be kept"
    );
}
