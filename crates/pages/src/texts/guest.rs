//! Texts of the subject `guest`.

use super::texts;

texts! {
    /// Texts of the subject `guest`.
    GuestTexts;
}
