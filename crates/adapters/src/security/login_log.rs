//! Logging of failed logins, for programs that ban clients.

use cuepoint_domain::ports::LoginObserver;
use cuepoint_domain::user::session::ClientInfo;
use tracing::field::display;

/// Logs failed logins, without the address of the account: as warnings if it is of staff.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoginLog;

impl LoginObserver for LoginLog {
    fn failed(&self, client: &ClientInfo, is_staff: bool) {
        let client = client.address.map(display);
        if is_staff {
            tracing::warn!(event = "login_failed", client, staff = true, "a login failed");
        } else {
            tracing::info!(event = "login_failed", client, staff = false, "a login failed");
        }
    }
}
