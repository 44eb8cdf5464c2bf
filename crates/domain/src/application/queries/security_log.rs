//! The security log, as staff reads it.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::{Authorized, run_to_completion};
use crate::authorization::{Principal, permission};
use crate::page::{PageRequest, Rows};
use crate::security_log::{SecurityEvent, SecurityEventFilter};
use crate::text::Line;
use crate::user::session::ClientInfo;

/// Reads the security log, and records denied requests in it.
#[derive(Clone)]
pub struct SecurityLogQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl SecurityLogQueries {
    /// A page of the security log, each event with its number, the last added first.
    pub async fn events(
        &self,
        principal: &Principal,
        filter: SecurityEventFilter,
        page: PageRequest,
    ) -> Result<Rows<(i64, SecurityEvent)>, Failure> {
        Authorized::<(), permission::ReadSecurityLog>::all(principal)?;
        Ok(self.env.security_audit.log.events(filter, page).await?)
    }

    /// Records that a principal was denied an operation of staff, once for each principal, operation and
    /// hour. A client that disconnects cannot prevent it.
    pub async fn record_denied(&self, principal: &Principal, operation: Line, client: ClientInfo) {
        let (audit, principal) = (self.env.security_audit.clone(), *principal);
        let recorded = run_to_completion(&*self.env.ports.tasks, async move {
            audit.denied(&principal, operation, client).await;
        });
        recorded.await;
    }
}
