//! Ethereum and the networks that share its addresses: 20 bytes in hexadecimal, with the letter case as a
//! checksum (EIP-55).

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use sha3::{Digest, Keccak256};

use super::{AddressError, Decoded};

const PREFIX: &str = "0x";
const DIGITS: usize = 40;
/// The OP Stack's `LegacyERC20ETH`, an address that is not uniform.
const LEGACY_ETHER: &str = "0xDeadDeAddeAddEAddeadDEaDDEAdDeaDDeAD0000";

/// Text in a single letter case has no checksum and is accepted; mixed case must match the checksum. The
/// canonical form is EIP-55's.
///
/// Precompiles, system contracts and predeploys (`0x…01`, `0x42…0010`, `0x01…0000`), the zero and the burn
/// address (`0x…dEaD`) and placeholders for a chain's own coin (`0xEeee…`) are uniform. A user-deployed
/// contract is indistinguishable from a wallet.
pub(super) fn decode(text: &str) -> Option<Decoded> {
    let digits = text.strip_prefix(PREFIX).filter(|digits| digits.len() == DIGITS)?;
    let account = HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).ok()?;
    let canonical = checksummed(&account);
    let mixed = digits.bytes().any(|digit| digit.is_ascii_lowercase())
        && digits.bytes().any(|digit| digit.is_ascii_uppercase());
    let flaw = (canonical == LEGACY_ETHER).then_some(AddressError::Ownerless);
    (!mixed || canonical == text).then_some(Decoded { test: false, account, flaw, canonical })
}

/// A letter is upper case if the corresponding digit in the hash of the lower-case text is 8 or more.
fn checksummed(account: &[u8]) -> String {
    let digits = HEXLOWER.encode(account);
    let hash = HEXLOWER.encode(&Keccak256::digest(digits.as_bytes()));
    let cased = digits.chars().zip(hash.chars()).map(|(digit, hashed)| match hashed {
        '0'..='7' => digit,
        _ => digit.to_ascii_uppercase(),
    });
    PREFIX.chars().chain(cased).collect()
}
