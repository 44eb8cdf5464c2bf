//! Advisory locks, held until the end of a transaction.

use diesel::sql_types::{Integer, Text};

/// The class of the locks on the addresses of challenges, each by its hash.
pub(crate) const TARGETS: i32 = 1;
/// The class of the single lock on codes sent to phones.
pub(crate) const PHONE_CODES: i32 = 2;
/// The class of the single lock on the first operator.
pub(crate) const FIRST_OPERATOR: i32 = 3;
/// The class of the single lock on the positions of operations. It is the last lock of every transaction that
/// takes it.
pub(crate) const POSITIONS: i32 = 4;

diesel::define_sql_function! {
    /// Waits for this lock, and holds it until the transaction ends.
    fn pg_advisory_xact_lock(class: Integer, key: Integer);
}
diesel::define_sql_function! {
    /// The hash of a text as a number; different texts may share one.
    fn hashtext(text: Text) -> Integer;
}
