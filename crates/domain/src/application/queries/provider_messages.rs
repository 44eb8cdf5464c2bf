//! Stored messages of providers, as staff reads them.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::Authorized;
use crate::authorization::{Principal, permission};
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::provider_message::{MessageFilter, ProviderMessage};

/// Reads stored messages.
#[derive(Clone)]
pub struct ProviderMessageQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl ProviderMessageQueries {
    /// A page of the stored messages, unresolved ones first.
    pub async fn list(
        &self,
        principal: &Principal,
        filter: MessageFilter,
        page: PageRequest,
    ) -> Result<Rows<ProviderMessage>, Failure> {
        Authorized::<(), permission::ReadMessages>::all(principal)?;
        Ok(self.env.messages.provider_messages(filter, page).await?)
    }

    /// The number of unresolved messages, for the metrics.
    pub async fn unresolved(&self) -> Result<u64, Unavailable> {
        self.env.messages.unresolved_messages().await
    }
}
