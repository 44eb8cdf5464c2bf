//! The port that reports failed logins.

use crate::user::session::ClientInfo;

/// Reports failed logins, for the log.
pub trait LoginObserver: Send + Sync {
    /// Reports a failed login by this client. `is_staff` is false for an unknown address, too.
    fn failed(&self, client: &ClientInfo, is_staff: bool);
}
