//! Resolution of stored messages of providers.

use crate::application::error::CommandError;
use crate::application::executor::{Command, Decide, Decided};
use crate::authorization::permission;
use crate::ids::ProviderMessageId;
use crate::operation::plans;
use crate::provider_message::{AlreadyResolved, ProviderMessage};
use crate::text::Line;

/// Resolves a stored message, as an operator; it moves no money.
#[derive(Clone, Copy, Debug)]
pub struct ResolveMessage {
    pub id: ProviderMessageId,
}

impl Command for ResolveMessage {
    type Permission = permission::ResolveMessage;
    type Entity = ProviderMessage;
    /// The reason.
    type Input = Line;
    type Output = ProviderMessage;
    type Refusal = AlreadyResolved;

    fn id(&self) -> ProviderMessageId {
        self.id
    }

    async fn decide(
        &self,
        Decide { metadata, principal, entity: message, input: reason, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        plans::resolve_message(metadata, message, principal.user, reason.clone())
            .map_err(CommandError::refused)
    }
}
