//! TRON: base58check of 0x41 and 20 bytes, starting with `T`.

use bs58::Alphabet;

use super::{AddressError, Decoded, base58};

const VERSION: u8 = 0x41;
/// The version of its first test network; today's use the main network's.
const TEST_VERSION: u8 = 0xa0;
const ACCOUNT_LENGTH: usize = 20;
/// The black-hole account of the genesis block, which receives burnt coins.
const BLACKHOLE: &str = "TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy";

/// The zero address and the precompiles of the virtual machine are uniform.
pub(super) fn decode(text: &str) -> Option<Decoded> {
    let bytes = base58::decode(text, Alphabet::BITCOIN)?;
    let (version, account) = bytes.split_first()?;
    let known = matches!(*version, VERSION | TEST_VERSION) && account.len() == ACCOUNT_LENGTH;
    let test = *version == TEST_VERSION;
    let flaw = (text == BLACKHOLE).then_some(AddressError::Ownerless);
    known.then(|| Decoded { test, account: account.to_vec(), flaw, canonical: text.to_owned() })
}
