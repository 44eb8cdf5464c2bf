//! Locks on what is no row, held until the end of a transaction.

use diesel::sql_types::{Integer, Text};

/// The class of the addresses that challenges are sent to, each by its hash.
pub(crate) const TARGETS: i32 = 1;
/// The class of the one lock of everything that is sent to phones.
pub(crate) const PHONE_CODES: i32 = 2;
/// The class of the one lock of the first operator.
pub(crate) const FIRST_OPERATOR: i32 = 3;

diesel::define_sql_function! {
    /// Waits until nobody else holds this lock, and holds it until the transaction ends.
    fn pg_advisory_xact_lock(class: Integer, key: Integer);
}
diesel::define_sql_function! {
    /// A text as a number; two texts may have one.
    fn hashtext(text: Text) -> Integer;
}
