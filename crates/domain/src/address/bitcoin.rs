//! Bitcoin and its descendants: base58check with a version byte, and segwit (BIP-173, BIP-350).

use bech32::segwit;
use bs58::Alphabet;

use super::{AddressError, Decoded, base58, curve};

/// The address parameters of a chain.
pub(super) struct ChainParameters {
    /// The version bytes of P2PKH and P2SH.
    versions: &'static [u8],
    /// The version bytes of its test networks.
    test_versions: &'static [u8],
    /// The human-readable parts of segwit addresses.
    hrps: &'static [&'static str],
    /// The human-readable parts of its test networks.
    test_hrps: &'static [&'static str],
    /// Published burn addresses.
    burnt: &'static [&'static str],
}

pub(super) const BITCOIN: ChainParameters = ChainParameters {
    versions: &[0x00, 0x05],
    test_versions: &[0x6f, 0xc4],
    hrps: &["bc"],
    test_hrps: &["tb", "bcrt"],
    burnt: &[
        "1BitcoinEaterAddressDontSendf59kuE",
        "1CounterpartyXXXXXXXXXXXXXXXUWLpVr",
        // The hash of the empty string, which faulty wallets have paid to; the empty string is not a public
        // key.
        "1HT7xU2Ngenf7D4yocz2SAcnNLW7rK8d4E",
    ],
};

/// Excludes 0x05, the old version of P2SH, because such an address may also be Bitcoin's.
pub(super) const LITECOIN: ChainParameters = ChainParameters {
    versions: &[0x30, 0x32],
    test_versions: &[0x6f, 0xc4, 0x3a],
    hrps: &["ltc"],
    test_hrps: &["tltc", "rltc"],
    burnt: &[],
};

pub(super) const DOGECOIN: ChainParameters = ChainParameters {
    versions: &[0x1e, 0x16],
    test_versions: &[0x71, 0xc4, 0x6f],
    hrps: &[],
    test_hrps: &[],
    burnt: &[],
};

const HASH_LENGTH: usize = 20;

pub(super) fn decode(chain: &ChainParameters, text: &str) -> Option<Decoded> {
    segwit_address(chain, text).or_else(|| hash_address(chain, text))
}

/// The library checks the program's length, its version and the version's checksum against the BIPs.
fn segwit_address(chain: &ChainParameters, text: &str) -> Option<Decoded> {
    let (hrp, version, program) = segwit::decode(text).ok()?;
    let hrp = hrp.to_lowercase();
    let test = chain.test_hrps.contains(&hrp.as_str());
    let known = test || chain.hrps.contains(&hrp.as_str());
    let flaw = program_flaw(version.to_u8(), &program);
    known.then(|| Decoded { test, account: program, flaw, canonical: text.to_ascii_lowercase() })
}

/// Only versions 0 (BIP-141) and 1 with 32 bytes (taproot, BIP-341) have rules. All others can be spent
/// without a signature until a soft fork defines rules for them; Litecoin's versions 8 and 9 are reserved for
/// its extension blocks.
fn program_flaw(version: u8, program: &[u8]) -> Option<AddressError> {
    match (version, <&[u8; curve::KEY_LENGTH]>::try_from(program)) {
        (0, _) => None,
        (1, Ok(key)) => (!curve::is_taproot_key(key)).then_some(AddressError::Ownerless),
        _ => Some(AddressError::AnyoneCanSpend),
    }
}

fn hash_address(chain: &ChainParameters, text: &str) -> Option<Decoded> {
    let bytes = base58::decode(text, Alphabet::BITCOIN)?;
    let (version, hash) = bytes.split_first()?;
    let test = chain.test_versions.contains(version);
    let known = test || chain.versions.contains(version);
    let flaw = chain.burnt.contains(&text).then_some(AddressError::Ownerless);
    let account = hash.to_vec();
    (known && hash.len() == HASH_LENGTH).then(|| Decoded { test, account, flaw, canonical: text.to_owned() })
}
