//! Views of blocks for DJs.

use cuepoint_domain::user;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::time::WireTimestamp;

/// A guest whom a DJ has blocked.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Block)]
pub struct BlockView {
    /// Id of the guest.
    #[schema(minimum = 1, example = 8)]
    user_id: i64,
    /// Display name of the guest.
    #[schema(example = "Grace")]
    name: String,
    /// Time of the block.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
}

/// A block in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BlockData {
    /// The block.
    pub block: BlockView,
}

impl BlockView {
    /// The block.
    #[must_use]
    pub fn new(block: &user::Block) -> Self {
        Self {
            user_id: block.guest.get(),
            name: block.name.as_str().to_owned(),
            created_at: WireTimestamp(block.at),
        }
    }
}
