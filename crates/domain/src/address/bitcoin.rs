//! Bitcoin and what descends from it: base58check with a version byte, and segwit (BIP-173, BIP-350).

use bech32::segwit;
use bs58::Alphabet;

use super::{Decoded, base58, is_zero};

/// How a chain tells its addresses apart.
pub(super) struct Chain {
    /// The version bytes of P2PKH and P2SH.
    versions: &'static [u8],
    /// Those of its test networks.
    test_versions: &'static [u8],
    /// The human-readable parts of segwit addresses.
    hrps: &'static [&'static str],
    /// Those of its test networks.
    test_hrps: &'static [&'static str],
}

pub(super) const BITCOIN: Chain = Chain {
    versions: &[0x00, 0x05],
    test_versions: &[0x6f, 0xc4],
    hrps: &["bc"],
    test_hrps: &["tb", "bcrt"],
};

/// Without 0x05, the old version of P2SH: such an address may as well be one of Bitcoin.
pub(super) const LITECOIN: Chain = Chain {
    versions: &[0x30, 0x32],
    test_versions: &[0x6f, 0xc4, 0x3a],
    hrps: &["ltc"],
    test_hrps: &["tltc", "rltc"],
};

pub(super) const DOGECOIN: Chain =
    Chain { versions: &[0x1e, 0x16], test_versions: &[0x71, 0xc4, 0x6f], hrps: &[], test_hrps: &[] };

const HASH_LENGTH: usize = 20;

pub(super) fn decode(chain: &Chain, text: &str) -> Option<Decoded> {
    segwit_address(chain, text).or_else(|| hash_address(chain, text))
}

/// The library holds the program's length, its version and the checksum that belongs to the version to the BIPs.
fn segwit_address(chain: &Chain, text: &str) -> Option<Decoded> {
    let (hrp, _, program) = segwit::decode(text).ok()?;
    let hrp = hrp.to_lowercase();
    let test = chain.test_hrps.contains(&hrp.as_str());
    let known = test || chain.hrps.contains(&hrp.as_str());
    let ownerless = is_zero(&program);
    known.then(|| Decoded { test, ownerless, canonical: text.to_ascii_lowercase() })
}

fn hash_address(chain: &Chain, text: &str) -> Option<Decoded> {
    let bytes = base58::decode(text, Alphabet::BITCOIN)?;
    let (version, hash) = bytes.split_first()?;
    let test = chain.test_versions.contains(version);
    let known = test || chain.versions.contains(version);
    let ownerless = is_zero(hash);
    (known && hash.len() == HASH_LENGTH).then(|| Decoded { test, ownerless, canonical: text.to_owned() })
}
