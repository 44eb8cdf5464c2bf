//! Tampering with the positions of operations.

use super::Case;

/// The cases; operations as [`super::populate`] leaves them.
pub(crate) const POSITIONS: &[Case] = &[
    (
        "a moved position",
        "UPDATE operations SET position = 1000 WHERE position = 3",
        "an operation has position 4 where position 3 should be",
    ),
    (
        "a removed position",
        "UPDATE operations SET position = NULL WHERE position = 5",
        "an operation has position 6 where position 5 should be",
    ),
];
