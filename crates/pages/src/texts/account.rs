//! Texts of the subject `account`.

use super::texts;

texts! {
    /// Texts of the subject `account`.
    AccountTexts;
}
