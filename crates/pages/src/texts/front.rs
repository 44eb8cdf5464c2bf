//! Texts of the subject `front`.

use super::texts;

texts! {
    /// Texts of the subject `front`.
    FrontTexts;
    code(): "Code of the DJ", "Code des DJs";
    open_code(): "Open", "Öffnen";
}
