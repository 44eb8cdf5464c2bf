//! Guests blocked by DJs.

use crate::ids::UserId;
use crate::text::Line;
use crate::timestamp::Timestamp;

/// A guest whose requests and tips a DJ does not accept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    pub guest: UserId,
    /// The guest's display name.
    pub name: Line,
    /// The start of the block.
    pub at: Timestamp,
}
