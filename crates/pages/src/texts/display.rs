//! Texts of the subject `display`.

use super::texts;

texts! {
    /// Texts of the subject `display`.
    DisplayTexts;
}
