//! Texts of the subject `payment`.

use super::texts;

texts! {
    /// Texts of the subject `payment`.
    PaymentTexts;
}
