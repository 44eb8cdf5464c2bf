//! Address validation per network, and the destinations that a strict policy accepts.

mod documents;
mod policy;
mod vectors;

use self::vectors::{ANYONE_CAN_SPEND, CANONICAL, MALFORMED, OWNERLESS, SPELLINGS, TEST_NETWORKS};
use bech32::Fe32;
use bs58::Alphabet;
use cuepoint_domain::address::{AddressError, Network};
use curve25519_dalek::{EdwardsPoint, Scalar};
use data_encoding::{BASE32_NOPAD, HEXLOWER};
use k256::elliptic_curve::PrimeField;
use k256::elliptic_curve::sec1::ToSec1Point;
use proptest::prelude::*;
use proptest::sample::select;

/// The networks that share Ethereum's addresses.
const EVM: [Network; 7] = [
    Network::Ethereum,
    Network::Arbitrum,
    Network::Optimism,
    Network::Base,
    Network::Polygon,
    Network::Bsc,
    Network::Avalanche,
];

fn each(
    table: &'static [(Network, &'static [&'static str])],
) -> impl Iterator<Item = (Network, &'static str)> {
    table.iter().flat_map(|(network, texts)| texts.iter().map(|text| (*network, *text)))
}

fn refused(table: &'static [(Network, &'static [&'static str])], error: AddressError) {
    for (network, text) in each(table) {
        assert_eq!(network.canonical(text), Err(error), "{text} on {}", network.name());
    }
}

#[test]
fn published_addresses_are_canonical() {
    for (network, text) in each(CANONICAL) {
        assert_eq!(network.canonical(text).as_deref(), Ok(text), "on {}", network.name());
    }
}

#[test]
fn all_spellings_of_an_address_have_the_same_canonical_form() {
    for (network, text, canonical) in SPELLINGS {
        assert_eq!(network.canonical(text).as_deref(), Ok(*canonical), "{text}");
        assert_eq!(network.canonical(canonical).as_deref(), Ok(*canonical), "{text}");
    }
}

#[test]
fn evm_networks_share_their_addresses() {
    for (_, text) in each(CANONICAL).filter(|(network, _)| *network == Network::Ethereum) {
        for network in EVM {
            assert_eq!(network.canonical(text).as_deref(), Ok(text), "on {}", network.name());
        }
    }
}

#[test]
fn every_network_has_a_published_address() {
    for network in Network::all() {
        let known = EVM.contains(&network) || CANONICAL.iter().any(|(known, _)| *known == network);
        assert!(known, "{}", network.name());
    }
}

#[test]
fn malformed_addresses_are_refused() {
    refused(MALFORMED, AddressError::Malformed);
}

#[test]
fn addresses_of_test_networks_are_refused() {
    refused(TEST_NETWORKS, AddressError::TestNetwork);
}

#[test]
fn addresses_without_a_private_key_are_refused() {
    refused(OWNERLESS, AddressError::Ownerless);
}

#[test]
fn addresses_that_anyone_can_spend_from_are_refused() {
    refused(ANYONE_CAN_SPEND, AddressError::AnyoneCanSpend);
}

#[test]
fn an_address_is_refused_on_every_network_that_does_not_share_it() {
    for (home, text) in each(CANONICAL) {
        let others = Network::all().filter(|other| *other != home);
        for other in others.filter(|other| !(EVM.contains(other) && EVM.contains(&home))) {
            let judged = other.canonical(text);
            assert_eq!(judged, Err(AddressError::OtherNetwork), "{text} on {}", other.name());
        }
    }
}

#[test]
fn white_space_in_an_address_is_refused() {
    for (network, text) in each(CANONICAL) {
        for blank in [' ', '\t', '\n', '\u{a0}', '\u{200b}'] {
            for at in [0, 1, text.len() / 2, text.len()] {
                let (before, after) = text.split_at(at);
                let spaced = format!("{before}{blank}{after}");
                assert_eq!(network.canonical(&spaced), Err(AddressError::Malformed), "{spaced:?}");
            }
        }
    }
}

#[test]
fn a_flipped_letter_case_fails_the_eip_55_checksum() {
    for (network, text) in each(CANONICAL).filter(|(network, _)| *network == Network::Ethereum) {
        for at in (2..text.len()).filter(|at| text.as_bytes()[*at].is_ascii_alphabetic()) {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= 0x20;
            let flipped = String::from_utf8(bytes).unwrap();
            assert_eq!(network.canonical(&flipped), Err(AddressError::Malformed), "{flipped}");
        }
    }
}

#[test]
fn networks_are_known_by_name_in_any_letter_case() {
    for network in Network::all() {
        assert_eq!(Network::named(network.name()), Some(network));
        assert_eq!(Network::named(&network.name().to_uppercase()), Some(network));
    }
    for stranger in ["", "btc", "bitcoin ", "ethereum2", "ſolana"] {
        assert_eq!(Network::named(stranger), None, "{stranger}");
    }
}

/// The base58check encoding of these bytes, as written by wallets.
fn base58(version: &[u8], payload: &[u8], alphabet: &Alphabet) -> String {
    bs58::encode([version, payload].concat()).with_alphabet(alphabet).with_check().into_string()
}

/// The ed25519 public key of this private key.
fn ed25519_key(secret: [u8; 32]) -> [u8; 32] {
    EdwardsPoint::mul_base(&Scalar::from_bytes_mod_order(secret)).compress().to_bytes()
}

/// The taproot output key of this private key.
fn taproot_key(secret: [u8; 32]) -> [u8; 32] {
    let secret = k256::Scalar::from_repr(secret.into()).unwrap();
    (k256::ProjectivePoint::GENERATOR * secret).to_affine().to_sec1_point(true).as_bytes()[1..]
        .try_into()
        .unwrap()
}

/// The address of this witness program.
fn segwit(chain: &str, version: u8, program: &[u8]) -> String {
    bech32::segwit::encode(bech32::Hrp::parse(chain).unwrap(), Fe32::try_from(version).unwrap(), program)
        .unwrap()
}

/// The first key with uniform bytes at its beginning that satisfies a curve.
fn uniform_key(is_key: impl Fn(&[u8; 32]) -> bool) -> [u8; 32] {
    let mut keys = (0..=u16::MAX).map(|end| {
        let mut key = [7; 32];
        key[30..].copy_from_slice(&end.to_be_bytes());
        key
    });
    keys.find(is_key).unwrap()
}

#[test]
fn addresses_with_repeated_bytes_in_the_middle_are_refused() {
    let hash = [[0xab].as_slice(), &[7; 15], &[1, 2, 3, 4]].concat();
    let program = [hash.as_slice(), &[5; 12]].concat();
    let edwards = uniform_key(|key| {
        let point = curve25519_dalek::edwards::CompressedEdwardsY(*key).decompress();
        point.is_some_and(|point| point.is_torsion_free() && !point.is_small_order())
    });
    let taproot = uniform_key(|key| k256::PublicKey::from_sec1_bytes(&[&[2], &key[..]].concat()).is_ok());
    let (bitcoin, ripple) = (Alphabet::BITCOIN, Alphabet::RIPPLE);
    let stellar = |version: u8, rest: &[u8]| {
        let body = [[version].as_slice(), &edwards, rest].concat();
        BASE32_NOPAD.encode(&[body.as_slice(), &crc16(&body).to_le_bytes()].concat())
    };
    let hex = HEXLOWER.encode(&hash);
    let mut table = vec![
        (Network::Bitcoin, base58(&[0x00], &hash, bitcoin)),
        (Network::Bitcoin, base58(&[0x05], &hash, bitcoin)),
        (Network::Bitcoin, segwit("bc", 0, &hash)),
        (Network::Bitcoin, segwit("bc", 0, &program)),
        (Network::Bitcoin, segwit("bc", 1, &taproot)),
        (Network::Litecoin, base58(&[0x30], &hash, bitcoin)),
        (Network::Litecoin, base58(&[0x32], &hash, bitcoin)),
        (Network::Litecoin, segwit("ltc", 0, &hash)),
        (Network::Litecoin, segwit("ltc", 1, &taproot)),
        (Network::Dogecoin, base58(&[0x1e], &hash, bitcoin)),
        (Network::Dogecoin, base58(&[0x16], &hash, bitcoin)),
        (Network::Tron, base58(&[0x41], &hash, bitcoin)),
        (Network::Solana, bs58::encode(edwards).into_string()),
        (Network::Xrp, base58(&[0x00], &hash, ripple)),
        (Network::Xrp, base58(&[0x05, 0x44], &[&hash[..], &[0; 9]].concat(), ripple)),
        (Network::Stellar, stellar(6 << 3, &[])),
        (Network::Stellar, stellar(12 << 3, &[0, 0, 0, 0, 0, 0, 0, 9])),
        (Network::Ton, format!("0:{}", HEXLOWER.encode(&program))),
        (Network::Ton, format!("-1:{}", HEXLOWER.encode(&program))),
    ];
    table.extend(EVM.map(|network| (network, format!("0x{hex}"))));
    for (network, text) in &table {
        assert_eq!(network.canonical(text), Err(AddressError::Ownerless), "{text} on {}", network.name());
    }
    assert!(Network::all().all(|network| table.iter().any(|(listed, _)| *listed == network)));
}

#[test]
fn an_address_with_a_different_byte_among_the_repeated_ones_is_accepted() {
    for different in 0..20 {
        let mut account = [7; 20];
        account[0] = 1;
        account[16..].copy_from_slice(&[1, 2, 3, 4]);
        account[different] = 9;
        let text = format!("0x{}", HEXLOWER.encode(&account));
        let is_accepted = Network::Ethereum.canonical(&text).is_ok();
        assert_eq!(is_accepted, (1..16).contains(&different), "byte {}", different + 1);
    }
}

/// The checksum of Stellar's addresses: CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ (u16::from(*byte) << 8), |sum: u16, _| {
            if sum & 0x8000 == 0 { sum << 1 } else { (sum << 1) ^ 0x1021 }
        })
    })
}

/// Addresses with a checksum that detects every change of one character; Solana has none, and Ethereum's
/// detects most.
fn checksummed() -> Vec<(Network, &'static str)> {
    each(CANONICAL).filter(|(network, _)| !matches!(network, Network::Solana | Network::Ethereum)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_checksum_detects_one_wrong_character(
        (network, text) in select(checksummed()),
        at in any::<prop::sample::Index>(),
        other in "[0-9A-Za-z]",
    ) {
        let at = at.index(text.len());
        prop_assume!(text[at..=at] != other);
        let mistyped = format!("{}{other}{}", &text[..at], &text[at + 1..]);
        prop_assert!(network.canonical(&mistyped).is_err(), "{mistyped}");
    }

    #[test]
    fn a_checksum_detects_a_missing_or_doubled_character(
        (network, text) in select(checksummed()),
        at in any::<prop::sample::Index>(),
    ) {
        let at = at.index(text.len());
        let cut = format!("{}{}", &text[..at], &text[at + 1..]);
        let doubled = format!("{}{}", &text[..=at], &text[at..]);
        prop_assert!(network.canonical(&cut).is_err(), "{cut}");
        prop_assert!(network.canonical(&doubled).is_err(), "{doubled}");
    }

    #[test]
    fn any_text_is_handled_without_a_panic(text in ".{0,255}") {
        for network in Network::all() {
            let _ = network.canonical(&text);
        }
    }

    #[test]
    fn the_canonical_form_of_an_accepted_text_is_itself_canonical(
        beginning in select(vec!["", "bc1", "ltc1", "tb1", "0x", "T", "r", "X", "G", "M", "EQ", "0:", "-1:", "1", "D"]),
        rest in "[0-9A-Za-z_+/=:-]{0,100}",
    ) {
        for network in Network::all() {
            if let Ok(canonical) = network.canonical(&format!("{beginning}{rest}")) {
                prop_assert_eq!(network.canonical(&canonical), Ok(canonical));
            }
        }
    }

    #[test]
    fn generated_addresses_are_accepted_only_on_their_own_network(account in any::<[u8; 20]>(), secret in any::<[u8; 32]>()) {
        let bitcoin = Alphabet::BITCOIN;
        // Integers below 2^255 are below the order of the group, with exceptions that no test reaches.
        let mut secret = secret;
        secret[0] &= 0x7f;
        prop_assume!(secret != [0; 32]);
        for (network, text) in [
            (Network::Bitcoin, base58(&[0x00], &account, bitcoin)),
            (Network::Bitcoin, base58(&[0x05], &account, bitcoin)),
            (Network::Bitcoin, segwit("bc", 0, &account)),
            (Network::Bitcoin, segwit("bc", 0, &secret)),
            (Network::Bitcoin, segwit("bc", 1, &taproot_key(secret))),
            (Network::Litecoin, segwit("ltc", 1, &taproot_key(secret))),
            (Network::Litecoin, base58(&[0x30], &account, bitcoin)),
            (Network::Litecoin, base58(&[0x32], &account, bitcoin)),
            (Network::Dogecoin, base58(&[0x1e], &account, bitcoin)),
            (Network::Dogecoin, base58(&[0x16], &account, bitcoin)),
            (Network::Tron, base58(&[0x41], &account, bitcoin)),
            (Network::Solana, bs58::encode(ed25519_key(secret)).into_string()),
            (Network::Xrp, base58(&[0x00], &account, Alphabet::RIPPLE)),
        ] {
            prop_assert_eq!(network.canonical(&text), Ok(text));
        }
        for (network, version) in [(Network::Dogecoin, 0x71), (Network::Tron, 0xa0), (Network::Litecoin, 0x3a)] {
            let text = base58(&[version], &account, bitcoin);
            prop_assert_eq!(network.canonical(&text), Err(AddressError::TestNetwork));
        }
        // Litecoin's old script addresses are also Bitcoin's.
        let text = base58(&[0x05], &account, bitcoin);
        prop_assert_eq!(Network::Litecoin.canonical(&text), Err(AddressError::OtherNetwork));
    }

    #[test]
    fn a_key_that_is_not_a_curve_point_is_refused(key in any::<[u8; 32]>()) {
        let taproot = segwit("bc", 1, &key);
        let is_point = k256::PublicKey::from_sec1_bytes(&[&[2], &key[..]].concat()).is_ok();
        prop_assert_eq!(Network::Bitcoin.canonical(&taproot).is_ok(), is_point);
        let point = curve25519_dalek::edwards::CompressedEdwardsY(key).decompress();
        let wallet = bs58::encode(key).into_string();
        let refused = Network::Solana.canonical(&wallet) == Err(AddressError::Ownerless);
        prop_assert_eq!(refused, !point.is_some_and(|point| point.is_torsion_free()));
    }

    #[test]
    fn witness_programs_that_anyone_can_spend_from_are_refused(
        version in 1_u8..=16,
        program in prop::collection::vec(any::<u8>(), 2..=40),
    ) {
        prop_assume!(version > 1 || program.len() != 32);
        for (network, chain) in [(Network::Bitcoin, "bc"), (Network::Litecoin, "ltc")] {
            let judged = network.canonical(&segwit(chain, version, &program));
            prop_assert_eq!(judged, Err(AddressError::AnyoneCanSpend));
        }
    }

    #[test]
    fn a_payload_of_the_wrong_length_is_refused(payload in prop::collection::vec(any::<u8>(), 0..48)) {
        prop_assume!(payload.len() != 20);
        for (network, version) in
            [(Network::Bitcoin, 0x00), (Network::Litecoin, 0x30), (Network::Dogecoin, 0x1e), (Network::Tron, 0x41)]
        {
            prop_assert!(network.canonical(&base58(&[version], &payload, Alphabet::BITCOIN)).is_err());
        }
        prop_assert!(Network::Xrp.canonical(&base58(&[0x00], &payload, Alphabet::RIPPLE)).is_err());
    }

    #[test]
    fn the_flag_and_tag_of_an_x_address_must_agree(account in any::<[u8; 20]>(), tag in any::<[u8; 9]>()) {
        let text = base58(&[0x05, 0x44], &[account.as_slice(), &tag].concat(), Alphabet::RIPPLE);
        let agree = tag[5..] == [0; 4] && (tag[0] == 1 || tag[..5] == [0; 5]);
        prop_assert_eq!(Network::Xrp.canonical(&text).is_ok(), agree);
        let [_, a, b, c, d, ..] = tag;
        let text = base58(&[0x05, 0x44], &[account.as_slice(), &[1, a, b, c, d, 0, 0, 0, 0]].concat(), Alphabet::RIPPLE);
        prop_assert_eq!(Network::Xrp.canonical(&text), Ok(text));
    }
}
