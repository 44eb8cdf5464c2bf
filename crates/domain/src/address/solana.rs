//! Solana: 32 bytes in base58 without a checksum, either a wallet's public key or an address derived from a
//! program.
//!
//! Derived addresses, which programs and token accounts have, are off the curve by design. Payouts go to
//! wallets only: a token sender derives the token account from the wallet, and coins on a derived address can
//! be moved only by its program.

use super::{AddressError, Decoded, curve};

/// The system program, of all zeros, is a point of small order; the incinerator, sysvars and built-in
/// programs are off the curve or not of prime order. Programs and mints deployed at a key of their own look
/// like wallets.
pub(super) fn decode(text: &str) -> Option<Decoded> {
    let key = <[u8; curve::KEY_LENGTH]>::try_from(bs58::decode(text).into_vec().ok()?).ok()?;
    let flaw = (!curve::is_ed25519_key(&key)).then_some(AddressError::Ownerless);
    Some(Decoded { test: false, account: key.to_vec(), flaw, canonical: text.to_owned() })
}
