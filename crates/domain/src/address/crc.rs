//! The checksum shared by Stellar and TON.

use crc::{CRC_16_XMODEM, Crc};

static XMODEM: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// The CRC-16/XMODEM of the bytes.
pub(super) fn checksum(bytes: &[u8]) -> u16 {
    XMODEM.checksum(bytes)
}
