//! Addresses: every accepted address has one canonical spelling, which its network accepts unchanged. An account
//! whose 2nd to 16th bytes are equal is accepted by no network.

use std::iter;

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
/// The number of bytes that make a uniform account of 32 bytes, less than an address has characters.
const MAX_UNIFORM: usize = 18;

/// The input is an address, or a payload to which a checksum is added here, because a fuzzer cannot guess
/// one, or the bytes of a uniform account.
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
    if input.len() <= MAX_UNIFORM {
        check_uniform(input);
    }
}

/// Makes an account of a byte, one that is repeated, and others.
fn check_uniform(input: &[u8]) {
    let [first, repeated, others @ ..] = input else { return };
    for length in [20, 32] {
        let middle = iter::repeat_n(repeated, 15);
        let account = iter::once(first).chain(middle).chain(others).chain(iter::repeat(&0)).take(length);
        let account: Vec<u8> = account.copied().collect();
        for text in spellings(&account) {
            for network in Network::all() {
                let judged = network.canonical(&text);
                assert!(judged.is_err(), "{} accepts {text:?} of {account:?}", network.name());
            }
        }
    }
}

/// The addresses of an account on all networks that have accounts of its length, except for Stellar.
fn spellings(account: &[u8]) -> Vec<String> {
    let digits: String = account.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut texts = vec![format!("0x{digits}"), format!("0:{digits}"), format!("-1:{digits}")];
    let checked = |version: u8, alphabet| {
        bs58::encode([&[version], account].concat()).with_alphabet(alphabet).with_check().into_string()
    };
    if account.len() == 20 {
        let versions = [0x00, 0x05, 0x30, 0x32, 0x1e, 0x16, 0x41];
        texts.extend(versions.map(|version| checked(version, bs58::Alphabet::BITCOIN)));
        texts.push(checked(0x00, bs58::Alphabet::RIPPLE));
    } else {
        // Solana's addresses have no checksum.
        texts.push(bs58::encode(account).into_string());
    }
    for part in ["bc", "ltc"].into_iter().filter_map(|part| bech32::Hrp::parse(part).ok()) {
        let versions = [bech32::Fe32::Q, bech32::Fe32::P];
        texts.extend(
            versions.into_iter().filter_map(|version| bech32::segwit::encode(part, version, account).ok()),
        );
    }
    texts
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
