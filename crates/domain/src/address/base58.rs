//! Base58check: what Bitcoin, its relatives, TRON and the XRP Ledger write addresses in.

use bs58::Alphabet;

/// The bytes of a text whose checksum is right, without it.
///
/// Every byte string has exactly one spelling, so a text that decodes is canonical.
pub(super) fn decode(text: &str, alphabet: &Alphabet) -> Option<Vec<u8>> {
    bs58::decode(text).with_alphabet(alphabet).with_check(None).into_vec().ok()
}
