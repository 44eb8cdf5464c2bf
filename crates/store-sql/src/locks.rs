//! Locks that belong to no row. Only PostgreSQL needs them, since on SQLite one transaction writes at a time.

/// A lock that belongs to no row.
#[derive(Clone, Copy, Debug)]
pub enum Lock<'a> {
    /// On the challenges for an address.
    Target(&'a str),
    /// On the counts of codes by phone.
    PhoneCodes,
    /// On the record of the first operator.
    FirstOperator,
}
