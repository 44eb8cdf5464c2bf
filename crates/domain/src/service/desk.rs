//! What every command goes through: its origin, the ledger, and the key that it may carry.

use std::future::Future;
use std::sync::Arc;

use crate::access::{Action, Caller, Denied, Whose};
use crate::ids::OperationId;
use crate::ledger::{EntityKind, IdempotencyKey, Origin, Plan, Receipt, Rejection};
use crate::ports::{Applied, ApplyError, Clock, Ids, Ledger, Unavailable};
use crate::session::Visitor;
use crate::text::Line;
use crate::timestamp::Timestamp;

/// How often a command is decided when something keeps moving under it.
pub(super) const ATTEMPTS: u32 = 3;

/// Who commands, from where, and the key that the command may be repeated under.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// Who commands.
    pub caller: Caller,
    /// The client that the command came from.
    pub visitor: Visitor,
    /// The client's key, if it sent one.
    pub key: Option<IdempotencyKey>,
}

impl Command {
    /// That the caller may do this; the first thing that a use case asks.
    pub(super) fn may(&self, action: Action, whose: Whose) -> Result<(), Obstacle> {
        Ok(self.caller.may(action, whose)?)
    }
}

/// What any command can meet.
#[derive(Debug)]
pub enum Obstacle {
    /// The caller may not do this.
    Denied,
    /// The key was used with another body.
    KeyReused,
    /// The caller recently adjusted the wallet whose withdrawal they judge.
    RecentAdjustment,
    /// The state kept moving while the command was decided.
    Conflict,
    /// The caller does not exist.
    UnknownCaller,
    /// A balance would be larger than any may be.
    OutOfRange,
    /// The storage contradicts itself; this names how.
    Broken(&'static str),
    /// Something outside cannot be reached.
    Unavailable(Unavailable),
}

impl From<Denied> for Obstacle {
    fn from(Denied: Denied) -> Self {
        Self::Denied
    }
}

impl From<Unavailable> for Obstacle {
    fn from(unavailable: Unavailable) -> Self {
        Self::Unavailable(unavailable)
    }
}

/// Why a key has no answer to repeat.
#[derive(Debug)]
pub enum ReplayError {
    /// The key was used with another body.
    KeyReused,
    /// The storage cannot be reached.
    Unavailable(Unavailable),
}

/// The ledger with what every plan needs beside it.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Desk {
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The origin of a person's command; a command keeps its operation however often it is decided.
    pub(super) fn origin(&self, command: &Command, operation: OperationId) -> Origin {
        let visitor = command.visitor.clone();
        Origin { key: command.key, ..Origin::called(&command.caller, visitor, operation, self.now()) }
    }

    /// The origin of what the caller does as an operator.
    pub(super) fn operator_origin(&self, command: &Command, reason: Option<Line>) -> Origin {
        Origin { reason, as_operator: true, ..self.origin(command, self.ids.operation()) }
    }

    pub(super) async fn apply(&self, plan: Plan) -> Result<Applied, ApplyError> {
        self.ledger.apply(plan).await
    }

    pub(super) async fn replay(&self, key: IdempotencyKey) -> Result<Option<Receipt>, ReplayError> {
        let record = self.ledger.find_key(&key.scope).await.map_err(ReplayError::Unavailable)?;
        match record.filter(|record| record.is_kept(self.now())) {
            None => Ok(None),
            // If the stored answer is redacted, the command is decided again, and the ledger, which knows the key,
            // refuses it.
            Some(record) if record.key == key => Ok(record.receipt.whole().cloned()),
            Some(_) => Err(ReplayError::KeyReused),
        }
    }

    /// Decides about a thing that was loaded, and applies; when it moved in between, loads and decides again, a few
    /// times at most. The origin's operation stays the same, its time is that of the decision.
    pub(super) async fn change<T, E, Loaded>(
        &self,
        origin: Origin,
        mut thing: T,
        load: impl Fn() -> Loaded,
        decide: impl Fn(Origin, &T) -> Result<Plan, E>,
    ) -> Result<Applied, E>
    where
        E: From<Obstacle>,
        Loaded: Future<Output = Result<Option<T>, Unavailable>>,
    {
        for _ in 0..ATTEMPTS {
            let now = Origin { at: self.now(), ..origin.clone() };
            let plan = match decide(now, &thing) {
                Ok(plan) => plan,
                Err(refusal) => return self.refuse(origin.key, refusal).await,
            };
            match self.apply(plan).await {
                Err(ApplyError::Rejected(Rejection::Stale)) => {
                    let found = load().await.map_err(Obstacle::from)?;
                    thing = found.ok_or(Obstacle::Broken("a thing that moves is gone"))?;
                }
                applied => return applied.map_err(|error| Obstacle::from(error).into()),
            }
        }
        Err(Obstacle::Conflict.into())
    }

    /// A refusal that was decided before applying is final only while the command's key is still unknown: its twin
    /// may have been applied in between, and is the reason for the refusal.
    pub(super) async fn refuse<E: From<Obstacle>>(
        &self,
        key: Option<IdempotencyKey>,
        refusal: E,
    ) -> Result<Applied, E> {
        let Some(key) = key else { return Err(refusal) };
        match self.replay(key).await {
            Ok(Some(receipt)) => Ok(Applied::Replayed(receipt)),
            Ok(None) => Err(refusal),
            Err(ReplayError::KeyReused) => Err(Obstacle::KeyReused.into()),
            Err(ReplayError::Unavailable(unavailable)) => Err(Obstacle::Unavailable(unavailable).into()),
        }
    }
}

impl Obstacle {
    /// The obstacle that a rejection is to a command which expects none of its own.
    pub(super) fn from_rejection(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Stale => Self::Conflict,
            Rejection::NotAnOperator => Self::Denied,
            Rejection::KeyReused => Self::KeyReused,
            Rejection::RecentAdjustment => Self::RecentAdjustment,
            Rejection::OutOfRange => Self::OutOfRange,
            Rejection::NotFinalized => Self::Unavailable(Unavailable::new(
                "the upgrade is not finalized: stop all servers of earlier versions, then run `cuepoint finalize-upgrade`",
            )),
            Rejection::Missing(EntityKind::User | EntityKind::Wallet) => Self::UnknownCaller,
            Rejection::Missing(
                EntityKind::MusicRequest
                | EntityKind::Withdrawal
                | EntityKind::Topup
                | EntityKind::Adjustment
                | EntityKind::ProviderMessage,
            ) => Self::Broken("a row is gone"),
            Rejection::Broken(what) => Self::Broken(what),
            Rejection::InsufficientFunds { .. } => {
                Self::Broken("funds were short where none leave a balance")
            }
            Rejection::LimitExceeded(_) => Self::Broken("a limit was passed where none applies"),
            Rejection::TooManyOpen(_) => Self::Broken("open requests were counted where none is made"),
            Rejection::LastOperator => Self::Broken("operators were counted where none is dismissed"),
            Rejection::Profile(_) => Self::Broken("a profile was refused where none changes"),
        }
    }
}

impl From<ApplyError> for Obstacle {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Rejected(rejection) => Self::from_rejection(rejection),
            ApplyError::Unavailable(unavailable) => Self::Unavailable(unavailable),
        }
    }
}
