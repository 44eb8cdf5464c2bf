//! Texts of the subject `wallet`.

use super::texts;

texts! {
    /// Texts of the subject `wallet`.
    WalletTexts;
}
