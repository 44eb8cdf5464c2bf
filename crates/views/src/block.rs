//! Views of blocks for DJs.

use cuepoint_domain::user;

use crate::view;
use crate::wire::time::WireTimestamp;

view! {
    /// A guest that a DJ blocks.
    pub struct BlockedGuestView as BlockedGuest of (block: &user::Block) {
        /// Id of the guest.
        #[id(example = 8)]
        user_id: i64 = block.guest.get(),
        /// Display name of the guest.
        #[schema(example = "Grace")]
        name: String = block.name.as_str().to_owned(),
        /// Time of the block.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(block.at),
    }
}
