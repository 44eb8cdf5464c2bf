//! XRP Ledger: base58check in an alphabet of its own.
//!
//! A classic address is an account alone. An X-address (XLS-5) adds a destination tag and says which ledger it is for;
//! it is the only way to give a tag here, and is kept as it is.

use bs58::Alphabet;

use super::{Decoded, base58, is_zero};

const CLASSIC: &[u8] = &[0x00];
const MAIN: &[u8] = &[0x05, 0x44];
const TEST: &[u8] = &[0x04, 0x93];
const ACCOUNT_LENGTH: usize = 20;

pub(super) fn decode(text: &str) -> Option<Decoded> {
    let bytes = base58::decode(text, Alphabet::RIPPLE)?;
    let (test, account) = classic(&bytes)
        .map(|account| (false, account))
        .or_else(|| tagged(&bytes, MAIN).map(|account| (false, account)))
        .or_else(|| tagged(&bytes, TEST).map(|account| (true, account)))?;
    Some(Decoded { test, ownerless: is_ownerless(account), canonical: text.to_owned() })
}

fn classic(bytes: &[u8]) -> Option<&[u8]> {
    bytes.strip_prefix(CLASSIC).filter(|account| account.len() == ACCOUNT_LENGTH)
}

/// The account of an X-address: after it a flag, a tag of four bytes where the flag says so, and four zeros.
fn tagged<'a>(bytes: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let (account, tag) = bytes.strip_prefix(prefix)?.split_at_checked(ACCOUNT_LENGTH)?;
    matches!(tag, [0, 0, 0, 0, 0, 0, 0, 0, 0] | [1, _, _, _, _, 0, 0, 0, 0]).then_some(account)
}

/// The ledger's two special accounts, zero and one, have no key.
fn is_ownerless(account: &[u8]) -> bool {
    account.split_last().is_some_and(|(last, rest)| is_zero(rest) && *last <= 1)
}
