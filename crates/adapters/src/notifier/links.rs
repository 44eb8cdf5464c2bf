//! The links in messages.

use crate::link_template::LinkTemplate;

/// The links that messages contain beside their tokens.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MessageLinks {
    /// The page that sets a new password.
    pub reset: Option<LinkTemplate>,
    /// The page that restores the previous e-mail address.
    pub restore: Option<LinkTemplate>,
}
