//! Solana: a public key or an account that a program owns, 32 bytes in base58, without a checksum.

use super::{Decoded, is_zero};

const LENGTH: usize = 32;

/// The account of all zeros is the system program.
pub(super) fn decode(text: &str) -> Option<Decoded> {
    let account = bs58::decode(text).into_vec().ok().filter(|account| account.len() == LENGTH)?;
    Some(Decoded { test: false, ownerless: is_zero(&account), canonical: text.to_owned() })
}
