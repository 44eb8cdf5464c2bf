//! Texts of the subject `front`.

use super::texts;

texts! {
    /// Texts of the subject `front`.
    FrontTexts;
}
