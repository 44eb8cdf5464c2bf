//! The ports that this store does not implement yet; no server uses it.

use async_trait::async_trait;
use cuepoint_domain::account::challenge::{AnswerOutcome, Challenge, Purpose};
use cuepoint_domain::account::code_quotas::CountedCode;
use cuepoint_domain::account::personal_data::{Part, Place, Record};
use cuepoint_domain::account::session::{Candidates, Session, TokenHash};
use cuepoint_domain::authorization::RevocationList;
use cuepoint_domain::ids::{ProviderMessageId, SessionId, UserId};
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{
    BeginOutcome, Credentials, ExchangeOutcome, IssueOutcome, Logins, PasswordHash, PersonalRecords,
    ProviderMessages, Recorded, Sessions, Unavailable,
};
use cuepoint_domain::provider_message::{MessageFilter, MessageRecord, ProviderMessage};
use cuepoint_domain::timestamp::Timestamp;

use crate::SqliteStore;

/// The failure of a method that is not implemented yet.
pub(super) fn unfinished<T>() -> Result<T, Unavailable> {
    Err(Unavailable::new("this store does not implement it yet"))
}

#[async_trait]
impl PersonalRecords for SqliteStore {
    async fn records(
        &self,
        _: UserId,
        _: Part,
        _: Option<Place>,
        _: u32,
    ) -> Result<Vec<Record>, Unavailable> {
        unfinished()
    }
}

#[async_trait]
impl ProviderMessages for SqliteStore {
    async fn record_message(&self, _: &MessageRecord, _: u32) -> Result<Recorded, Unavailable> {
        unfinished()
    }

    async fn provider_message(&self, _: ProviderMessageId) -> Result<Option<ProviderMessage>, Unavailable> {
        unfinished()
    }

    async fn provider_messages(
        &self,
        _: MessageFilter,
        _: PageRequest,
    ) -> Result<Rows<ProviderMessage>, Unavailable> {
        unfinished()
    }

    async fn unresolved_messages(&self) -> Result<u64, Unavailable> {
        unfinished()
    }
}

#[async_trait]
impl Logins for SqliteStore {
    async fn credentials(&self, _: &str) -> Result<Option<Credentials>, Unavailable> {
        unfinished()
    }

    async fn credentials_of(&self, _: UserId) -> Result<Option<Credentials>, Unavailable> {
        unfinished()
    }

    async fn rehash(&self, _: UserId, _: &PasswordHash, _: &PasswordHash) -> Result<(), Unavailable> {
        unfinished()
    }

    async fn change_password(
        &self,
        _: UserId,
        _: &PasswordHash,
        _: &PasswordHash,
        _: Option<SessionId>,
        _: Timestamp,
    ) -> Result<bool, Unavailable> {
        unfinished()
    }

    async fn issue<'a>(
        &self,
        _: &Challenge,
        _: Option<&'a CountedCode>,
    ) -> Result<IssueOutcome, Unavailable> {
        unfinished()
    }

    async fn answer(
        &self,
        _: UserId,
        _: Purpose,
        _: &[TokenHash],
        _: Timestamp,
    ) -> Result<AnswerOutcome, Unavailable> {
        unfinished()
    }

    async fn reset_password(
        &self,
        _: &TokenHash,
        _: &PasswordHash,
        _: Timestamp,
    ) -> Result<Option<UserId>, Unavailable> {
        unfinished()
    }
}

#[async_trait]
impl Sessions for SqliteStore {
    async fn begin(&self, _: &Session, _: TokenHash, _: &PasswordHash) -> Result<BeginOutcome, Unavailable> {
        unfinished()
    }

    async fn owner(&self, _: &TokenHash) -> Result<Option<UserId>, Unavailable> {
        unfinished()
    }

    async fn exchange(
        &self,
        _: &TokenHash,
        _: &Candidates<TokenHash>,
        _: Option<ClientNetwork>,
        _: Timestamp,
        _: Timestamp,
    ) -> Result<ExchangeOutcome, Unavailable> {
        unfinished()
    }

    async fn is_known_network(&self, _: &str, _: ClientNetwork, _: Timestamp) -> Result<bool, Unavailable> {
        unfinished()
    }

    async fn end(&self, _: &TokenHash, _: Timestamp) -> Result<Option<(UserId, SessionId)>, Unavailable> {
        unfinished()
    }

    async fn sessions(&self, _: UserId, _: Timestamp, _: PageRequest) -> Result<Rows<Session>, Unavailable> {
        unfinished()
    }

    async fn end_session(&self, _: UserId, _: SessionId, _: Timestamp) -> Result<bool, Unavailable> {
        unfinished()
    }

    async fn end_sessions(&self, _: UserId, _: Option<SessionId>, _: Timestamp) -> Result<u64, Unavailable> {
        unfinished()
    }

    async fn revoked_since(&self, _: Timestamp) -> Result<RevocationList, Unavailable> {
        unfinished()
    }
}
