//! Ledger audits, and the last one that this server completed.

use std::sync::{Arc, Mutex, PoisonError};

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::Authorized;
use crate::audit::{Auditor, Finding, Summary};
use crate::authorization::{Principal, permission};
use crate::ports::Unavailable;
use crate::timestamp::Timestamp;

/// An audit that read the whole ledger.
#[derive(Clone, Debug)]
pub struct CompletedAudit {
    /// Its start, which is also the time of its snapshot.
    pub started_at: Timestamp,
    /// Its end.
    pub finished_at: Timestamp,
    /// The number of rows read.
    pub seen: Summary,
    /// The first inconsistency, if there is one.
    pub finding: Option<Finding>,
}

/// The ledger audits by this server.
#[derive(Clone)]
pub struct LedgerAudits {
    env: Arc<Environment>,
    last: Arc<Mutex<Option<CompletedAudit>>>,
}

impl LedgerAudits {
    pub(in crate::application) fn new(env: Arc<Environment>) -> Self {
        Self { env, last: Arc::default() }
    }

    /// Audits the whole ledger once.
    ///
    /// # Errors
    /// [`Unavailable`] when it cannot be read to its end; the last audit is kept.
    pub async fn run(&self) -> Result<CompletedAudit, Unavailable> {
        let started_at = self.env.now();
        let mut auditor = Auditor::new();
        self.env.audit.show(&mut auditor).await?;
        let (seen, finding) = (auditor.seen(), auditor.finish().err());
        let audit = CompletedAudit { started_at, finished_at: self.env.now(), seen, finding };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(audit.clone());
        Ok(audit)
    }

    /// The last audit that this server completed; `None` before the first.
    ///
    /// # Errors
    /// [`Failure::Denied`].
    pub fn last(&self, principal: &Principal) -> Result<Option<CompletedAudit>, Failure> {
        Authorized::<(), permission::ReadAudit>::all(principal)?;
        Ok(self.last.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}
