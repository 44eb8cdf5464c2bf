//! The words and links of messages that a deployment chooses.

use crate::link_template::LinkTemplate;

/// What a deployment chooses of messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageSettings {
    /// The name of the service, as its users know it.
    pub product_name: String,
    /// The page that sets a new password.
    pub reset: Option<LinkTemplate>,
    /// The page that restores the previous e-mail address.
    pub restore: Option<LinkTemplate>,
}

impl Default for MessageSettings {
    fn default() -> Self {
        Self { product_name: "Cuepoint".to_owned(), reset: None, restore: None }
    }
}
