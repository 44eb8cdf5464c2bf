//! Solana: 32 bytes in base58, without a checksum: a wallet's public key, or an address derived from a program.
//!
//! Derived addresses, which programs and token accounts have, are no point of the curve by design. Only wallets are
//! paid out to: who sends tokens to a wallet derives the token account from it, and coins on a derived address can be
//! moved by its program alone.

use super::{AddressError, Decoded, curve};

/// The system program, of all zeros, is a point of small order; the incinerator, sysvars and built-in programs are no
/// point, or none of prime order. Programs and mints that were deployed at a key of their own look like wallets.
pub(super) fn decode(text: &str) -> Option<Decoded> {
    let key = <[u8; curve::KEY_LENGTH]>::try_from(bs58::decode(text).into_vec().ok()?).ok()?;
    let flaw = (!curve::is_ed25519_key(&key)).then_some(AddressError::Ownerless);
    Some(Decoded { test: false, flaw, canonical: text.to_owned() })
}
