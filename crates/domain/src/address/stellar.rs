//! Stellar (SEP-23): a version byte, a key and a CRC in base32, starting with `G`.
//!
//! A muxed account, starting with `M`, adds the id by which an exchange distinguishes its customers; it is
//! the only way to give one here, and is stored unchanged. Secret keys and contracts are not payout
//! addresses.

use data_encoding::BASE32_NOPAD;

use super::{AddressError, Decoded, crc, curve};

const ACCOUNT: u8 = 6 << 3;
const MUXED: u8 = 12 << 3;
const ID_LENGTH: usize = 8;

pub(super) fn decode(text: &str) -> Option<Decoded> {
    let bytes = BASE32_NOPAD.decode(text.as_bytes()).ok()?;
    let (body, checksum) = bytes.split_last_chunk()?;
    let (version, payload) = body.split_first()?;
    let (key, id) = payload.split_first_chunk::<{ curve::KEY_LENGTH }>()?;
    let whole = match *version {
        ACCOUNT => id.is_empty(),
        MUXED => id.len() == ID_LENGTH,
        _ => false,
    };
    let intact = u16::from_le_bytes(*checksum) == crc::checksum(body);
    let flaw = (!curve::is_ed25519_key(key)).then_some(AddressError::Ownerless);
    let account = key.to_vec();
    (whole && intact).then(|| Decoded { test: false, account, flaw, canonical: text.to_owned() })
}
