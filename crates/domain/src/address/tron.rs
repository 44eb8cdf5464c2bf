//! TRON: base58check of 0x41 and 20 bytes, which begins with `T`.

use bs58::Alphabet;

use super::{Decoded, base58, is_zero};

const VERSION: u8 = 0x41;
/// Of its first test network; today's use the main one's.
const TEST_VERSION: u8 = 0xa0;
const ACCOUNT_LENGTH: usize = 20;

pub(super) fn decode(text: &str) -> Option<Decoded> {
    let bytes = base58::decode(text, Alphabet::BITCOIN)?;
    let (version, account) = bytes.split_first()?;
    let known = matches!(*version, VERSION | TEST_VERSION) && account.len() == ACCOUNT_LENGTH;
    let test = *version == TEST_VERSION;
    known.then(|| Decoded { test, ownerless: is_zero(account), canonical: text.to_owned() })
}
