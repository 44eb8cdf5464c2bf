//! Texts of the subject `booth`.

use super::texts;

texts! {
    /// Texts of the subject `booth`.
    BoothTexts;
}
