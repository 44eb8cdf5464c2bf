//! TON: a workchain and an account of 32 bytes, either user-friendly with flags and a CRC, or raw.
//!
//! The canonical form is user-friendly in the URL-safe alphabet. The flags are preserved, because they
//! determine how the transfer is sent; a raw address has none and is treated as non-bounceable, as wallets
//! display themselves, so that a payout to an uninitialized wallet stays there.

use data_encoding::{BASE64, BASE64URL, HEXLOWER_PERMISSIVE};

use super::{Decoded, crc};

const BOUNCEABLE: u8 = 0x11;
const NOT_BOUNCEABLE: u8 = 0x51;
const TEST_FLAG: u8 = 0x80;
const BASECHAIN: u8 = 0;
/// Workchain -1.
const MASTERCHAIN: u8 = 0xff;
const ACCOUNT_LENGTH: usize = 32;

/// The zero address, to which coins are burnt, and the masterchain's elector and configuration (`3333…`,
/// `5555…`) are uniform. Every other account may be a wallet, whose address is a hash.
pub(super) fn decode(text: &str) -> Option<Decoded> {
    friendly(text).or_else(|| raw(text))
}

fn friendly(text: &str) -> Option<Decoded> {
    let bytes = BASE64URL.decode(text.as_bytes()).or_else(|_| BASE64.decode(text.as_bytes())).ok()?;
    let (body, checksum) = bytes.split_last_chunk()?;
    let [flags, workchain, account @ ..] = body else { return None };
    let known = matches!(*flags & !TEST_FLAG, BOUNCEABLE | NOT_BOUNCEABLE)
        && matches!(*workchain, BASECHAIN | MASTERCHAIN)
        && account.len() == ACCOUNT_LENGTH
        && u16::from_be_bytes(*checksum) == crc::checksum(body);
    let test = *flags & TEST_FLAG != 0;
    let account = account.to_vec();
    known.then(|| Decoded { test, account, flaw: None, canonical: BASE64URL.encode(&bytes) })
}

fn raw(text: &str) -> Option<Decoded> {
    let (workchain, account) = text.split_once(':')?;
    let workchain = match workchain {
        "0" => BASECHAIN,
        "-1" => MASTERCHAIN,
        _ => return None,
    };
    let account = HEXLOWER_PERMISSIVE.decode(account.as_bytes()).ok()?;
    let body = [&[NOT_BOUNCEABLE, workchain], account.as_slice()].concat();
    let bytes = [body.as_slice(), &crc::checksum(&body).to_be_bytes()].concat();
    let canonical = BASE64URL.encode(&bytes);
    (account.len() == ACCOUNT_LENGTH).then_some(Decoded { test: false, account, flaw: None, canonical })
}
