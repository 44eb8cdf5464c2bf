//! Resolution of stored messages of providers.

use thiserror::Error;

use crate::application::environment::Environment;
use crate::application::error::CommandError;
use crate::application::executor::{Authorized, Command};
use crate::authorization::{Principal, permission};
use crate::ids::ProviderMessageId;
use crate::operation::{OperationMetadata, Plan, plans};
use crate::provider_message::{AlreadyResolved, ProviderMessage};
use crate::text::Line;

/// Resolves a stored message, as an operator; it moves no money.
#[derive(Clone, Copy, Debug)]
pub struct ResolveMessage {
    /// The message.
    pub id: ProviderMessageId,
}

/// Why a resolution is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ResolveMessageRefusal {
    /// It is resolved already.
    #[error("the message is resolved already")]
    AlreadyResolved,
}

impl From<AlreadyResolved> for ResolveMessageRefusal {
    fn from(AlreadyResolved: AlreadyResolved) -> Self {
        Self::AlreadyResolved
    }
}

impl Command for ResolveMessage {
    type Permission = permission::ResolveMessage;
    type Entity = ProviderMessage;
    /// The reason.
    type Input = Line;
    type Output = ProviderMessage;
    type Refusal = ResolveMessageRefusal;

    fn id(&self) -> ProviderMessageId {
        self.id
    }

    async fn decide(
        &self,
        _: &Environment,
        metadata: OperationMetadata,
        principal: &Principal,
        message: &Authorized<ProviderMessage, permission::ResolveMessage>,
        reason: &Line,
    ) -> Result<Plan, CommandError<ResolveMessageRefusal>> {
        plans::resolve_message(metadata, message, principal.user, reason.clone())
            .map_err(CommandError::refused)
    }
}
