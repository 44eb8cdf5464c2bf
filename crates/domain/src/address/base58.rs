//! Base58check, the address encoding of Bitcoin, its relatives, TRON and the XRP Ledger.

use bs58::Alphabet;

/// Decodes a text and returns its bytes without the checksum, if the checksum is correct.
///
/// Every byte string has exactly one spelling, so a text that decodes is canonical.
pub(super) fn decode(text: &str, alphabet: &Alphabet) -> Option<Vec<u8>> {
    bs58::decode(text).with_alphabet(alphabet).with_check(None).into_vec().ok()
}
