//! Commands: changes of the ledger as values, which the [`Executor`](super::Executor) runs.

use std::future::{self, Future};
use std::sync::Arc;

use crate::application::{Authorized, Context, Done, Environment, Failure, Requirement};
use crate::authorization::{Action, Ownership, Permission, Principal};
use crate::ids::UserId;
use crate::ledger::{OperationMetadata, Plan, Receipt, Rejection};

use super::CommandError;

/// The action that a command requires permission for.
pub const fn action_of<C: Command>() -> Action {
    <C::Permission as Permission>::ACTION
}

/// A change of the ledger, decided about one entity.
///
/// A command loads its entity and decides a plan. The executor does the rest, in this order: single-flight,
/// principal, replay, [`load`](Self::load), authorization, [`check`](Self::check), input,
/// [`decide`](Self::decide), apply (again from `load` after a conflict), [`complete`](Self::complete),
/// effects.
///
/// Commands of staff are applied as operator: only while the principal is an active operator.
pub trait Command: Send + Sync {
    /// The required permission.
    type Permission: Permission;
    /// The entity that it is decided about; `()` for a command that creates one.
    type Entity: Send + Sync;
    /// Its input, read after authorization.
    type Input: Send + Sync;
    /// Its result, equal when replayed.
    type Output: Send;
    /// The refusals of its rules.
    type Refusal: std::error::Error + Send;

    /// Loads the entity.
    ///
    /// # Errors
    /// [`Failure::NotFound`] if there is none.
    fn load(&self, env: &Environment) -> impl Future<Output = Result<Self::Entity, Failure>> + Send;

    /// The permission without which the entity is concealed: the command fails as if there were none.
    fn visibility(&self, _entity: &Self::Entity, _principal: &Principal) -> Option<Requirement> {
        None
    }

    /// Whether the principal owns the entity.
    fn ownership(&self, entity: &Self::Entity, principal: &Principal) -> Ownership;

    /// The permission that the input requires besides, as far as it is known: called before the input is read,
    /// and with it afterwards.
    fn also_requires(&self, _principal: &Principal, _input: Option<&Self::Input>) -> Option<Requirement> {
        None
    }

    /// Checks other preconditions before the input is read.
    ///
    /// # Errors
    /// [`Failure`].
    fn check(
        &self,
        _env: &Environment,
        _principal: &Principal,
        _entity: &Authorized<Self::Entity, Self::Permission>,
    ) -> impl Future<Output = Result<(), Failure>> + Send {
        future::ready(Ok(()))
    }

    /// Decides: loads the entities that the input refers to, and derives a plan from the rules.
    ///
    /// # Errors
    /// A refusal, which is final only while the idempotency key is unknown; or a [`Failure`].
    fn decide(
        &self,
        env: &Environment,
        metadata: OperationMetadata,
        principal: &Principal,
        entity: &Authorized<Self::Entity, Self::Permission>,
        input: &Self::Input,
    ) -> impl Future<Output = Result<Plan, CommandError<Self::Refusal>>> + Send;

    /// The user whose own overdue fees are released first if a plan is short of funds.
    fn payer(&self, _principal: &Principal, _input: &Self::Input) -> Option<UserId> {
        None
    }

    /// The error for a rejection of the plan.
    fn rejected(rejection: Rejection) -> CommandError<Self::Refusal> {
        Failure::from(rejection).into()
    }

    /// The result in a receipt.
    ///
    /// # Errors
    /// [`Failure::Broken`] for the receipt of another command.
    fn output(receipt: Receipt) -> Result<Self::Output, Failure>;

    /// Completes the result after the commit or a replay.
    ///
    /// # Errors
    /// A refusal or a [`Failure`]; the change stays committed.
    fn complete(
        &self,
        _env: &Arc<Environment>,
        _context: &Context,
        done: Done<Self::Output>,
    ) -> impl Future<Output = Result<Done<Self::Output>, CommandError<Self::Refusal>>> + Send {
        future::ready(Ok(done))
    }
}
