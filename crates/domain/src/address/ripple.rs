//! XRP Ledger: base58check in an alphabet of its own.
//!
//! A classic address is an account alone. An X-address (XLS-5) adds a destination tag and identifies the main
//! or test ledger; it is the only way to give a tag here, and is stored unchanged.

use bs58::Alphabet;

use super::{AddressError, Decoded, base58};

const CLASSIC: &[u8] = &[0x00];
const MAIN: &[u8] = &[0x05, 0x44];
const TEST: &[u8] = &[0x04, 0x93];
const ACCOUNT_LENGTH: usize = 20;
/// The genesis account, `rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh`, whose key is derived from `masterpassphrase`.
const GENESIS: [u8; ACCOUNT_LENGTH] = [
    0xb5, 0xf7, 0x62, 0x79, 0x8a, 0x53, 0xd5, 0x43, 0xa0, 0x14, 0xca, 0xf8, 0xb2, 0x97, 0xcf, 0xf8, 0xf2,
    0xf9, 0x37, 0xe8,
];

pub(super) fn decode(text: &str) -> Option<Decoded> {
    let bytes = base58::decode(text, Alphabet::RIPPLE)?;
    let (test, account) = classic(&bytes)
        .map(|account| (false, account))
        .or_else(|| tagged(&bytes, MAIN).map(|account| (false, account)))
        .or_else(|| tagged(&bytes, TEST).map(|account| (true, account)))?;
    // Its key is public. The ledger's other special accounts
    // (<https://xrpl.org/docs/concepts/accounts/addresses#special-addresses>) are uniform: zero, one, the name black
    // hole and "not a number".
    let flaw = (account == GENESIS).then_some(AddressError::AnyoneCanSpend);
    Some(Decoded { test, account: account.to_vec(), flaw, canonical: text.to_owned() })
}

fn classic(bytes: &[u8]) -> Option<&[u8]> {
    bytes.strip_prefix(CLASSIC).filter(|account| account.len() == ACCOUNT_LENGTH)
}

/// The account of an X-address, which is followed by a flag, an optional tag of four bytes, and four zeros.
fn tagged<'a>(bytes: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let (account, tag) = bytes.strip_prefix(prefix)?.split_at_checked(ACCOUNT_LENGTH)?;
    matches!(tag, [0, 0, 0, 0, 0, 0, 0, 0, 0] | [1, _, _, _, _, 0, 0, 0, 0]).then_some(account)
}
