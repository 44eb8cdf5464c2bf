//! Texts of the subject `report`.

use super::texts;

texts! {
    /// Texts of the subject `report`.
    ReportTexts;
}
