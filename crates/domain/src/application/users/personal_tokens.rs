//! The principal's own personal access tokens.

use std::collections::BTreeSet;
use std::sync::Arc;

use thiserror::Error;

use super::is_own_password;
use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Authorized, Context, Executor};
use crate::authorization::{Principal, Revocation, permission::ManageTokens};
use crate::ids::SessionId;
use crate::ports::{SecurityCause, Token, TokenAddition};
use crate::security_log::{SecurityEvent, SecurityEventKind};
use crate::text::{Line, Password};
use crate::user::personal_token::{PersonalToken, TokenDays, TokenScope};
use crate::user::session::Session;

/// The name under which a wrong password is recorded.
const ACT: &str = "personal access token";

/// A personal access token to be created.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenRequest {
    /// Its name.
    pub name: Line,
    /// What it may read.
    pub scopes: BTreeSet<TokenScope>,
    /// Its lifetime.
    pub lifetime: TokenDays,
}

/// Why a personal access token is not created.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum TokenRequestRefusal {
    /// The password is wrong.
    #[error("the password is wrong")]
    WrongPassword,
    /// The principal has as many as allowed.
    #[error("there are {} personal access tokens", PersonalToken::MAX_LIVE)]
    TooMany,
}

/// Lists, creates and ends the principal's own personal access tokens.
#[derive(Clone)]
pub struct OwnTokens {
    pub(in crate::application) env: Arc<Environment>,
    pub(in crate::application) executor: Executor,
}

impl OwnTokens {
    /// The principal's live tokens, newest first.
    pub async fn list(&self, principal: &Principal) -> Result<Vec<PersonalToken>, Failure> {
        let owner = Authorized::<_, ManageTokens>::own(principal)?;
        Ok(self.env.tokens.tokens(*owner, self.env.now()).await?)
    }

    /// Creates a token after verifying the principal's password, and returns it with its secret, which is not stored.
    /// The principal is notified.
    ///
    /// # Errors
    /// [`TokenRequestRefusal`] and [`Failure`].
    pub async fn create(
        &self,
        context: &Context,
        asked: TokenRequest,
        password: &Password,
    ) -> Result<(PersonalToken, Token), CommandError<TokenRequestRefusal>> {
        let env = &self.env;
        self.executor
            .perform::<ManageTokens, _, _>(context, async |owner, principal, effects| {
                if !is_own_password(env, context, principal, password, ACT).await? {
                    return Err(CommandError::Refused(TokenRequestRefusal::WrongPassword));
                }
                let id = env.ids.next_session().await?;
                let secret = Token(format!("{}{}", PersonalToken::PREFIX, env.ports.secrets.token().0));
                let hash = env.ports.secrets.fingerprint(&secret);
                let client = context.client.clone();
                let lifetime = asked.lifetime.duration();
                let session = Session::begin(id, *owner, client.clone(), env.now(), lifetime);
                let token = PersonalToken { session, name: asked.name, scopes: asked.scopes };
                match env.tokens.add_token(&token, hash, principal.session).await? {
                    TokenAddition::Added => {}
                    TokenAddition::TooMany => {
                        return Err(CommandError::Refused(TokenRequestRefusal::TooMany));
                    }
                    TokenAddition::SessionEnded => {
                        return Err(Failure::Revoked(Revocation::SessionEnded).into());
                    }
                }
                effects.enqueue(env.secured(*owner, SecurityCause::TokenCreated(id), &client));
                self.record(context, principal, SecurityEventKind::PersonalTokenCreated, id).await;
                Ok((token, secret))
            })
            .await
    }

    /// Ends one of the principal's tokens.
    ///
    /// # Errors
    /// [`Failure::NotFound`] if the principal has no such live token.
    pub async fn end(&self, context: &Context, id: SessionId) -> Result<(), Failure> {
        let env = &self.env;
        self.executor
            .perform::<ManageTokens, _, _>(context, async |owner, principal, effects| {
                if !env.tokens.end_token(*owner, id, env.now()).await? {
                    return Err(Failure::NotFound);
                }
                effects.revocations_changed();
                self.record(context, principal, SecurityEventKind::PersonalTokenEnded, id).await;
                Ok(())
            })
            .await
    }

    /// Records an event about a token, whose id is the detail.
    async fn record(&self, context: &Context, principal: &Principal, kind: SecurityEventKind, id: SessionId) {
        let event = SecurityEvent::by(principal, kind, context.client.clone(), self.env.now());
        let detail = Some(Line::from_stored(format!("personal access token {id}")));
        self.env.security_audit.add(SecurityEvent { detail, ..event }).await;
    }
}
