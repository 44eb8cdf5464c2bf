//! Commands: changes of the ledger as values, which the [`Executor`](super::Executor) runs.

use std::future::{self, Future};
use std::sync::Arc;

use crate::application::{Authorized, Context, Done, Effects, Environment, Failure};
use crate::authorization::{Action, Ownership, Permission, Principal};
use crate::ids::UserId;
use crate::ledger::{Origin, Plan, Receipt, Rejection};

use super::CommandError;

/// The action that a command's principal needs the permission of.
pub const fn action_of<C: Command>() -> Action {
    <C::Permission as Permission>::ACTION
}

/// A change of the ledger, decided about one entity.
///
/// A command loads its entity and decides a plan. The executor does the rest, in this order: single-flight, principal,
/// replay, [`load`](Self::load), authorization, [`check`](Self::check), input, [`decide`](Self::decide), apply (again
/// from `load` where the state changed meanwhile), [`complete`](Self::complete), effects.
///
/// Commands of staff are applied as operator: only while the principal is an active one.
pub trait Command: Send + Sync {
    /// The permission that it takes.
    type Permission: Permission;
    /// What it is decided about; `()` where it makes something new.
    type Entity: Send + Sync;
    /// Its input, read after the entity was authorized.
    type Input: Send + Sync;
    /// Its result, the same when it is replayed.
    type Output: Send;
    /// Why a rule refuses it.
    type Refusal: std::error::Error + Send;

    /// Whether an entity without permission is answered as if it did not exist.
    const CONCEALS: bool = false;

    /// Loads the entity.
    ///
    /// # Errors
    /// [`Failure::NotFound`] where there is none that the principal may know of.
    fn load(
        &self,
        env: &Environment,
        principal: &Principal,
    ) -> impl Future<Output = Result<Self::Entity, Failure>> + Send;

    /// Whether the principal owns the entity.
    fn ownership(&self, entity: &Self::Entity, principal: &Principal) -> Ownership;

    /// Checks what else stands against the command before its input is read.
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

    /// Decides: loads what the input names, and asks the rules for a plan.
    ///
    /// # Errors
    /// A refusal, which is final only while the idempotency key is unknown; or a [`Failure`].
    fn decide(
        &self,
        env: &Environment,
        metadata: Origin,
        principal: &Principal,
        entity: &Authorized<Self::Entity, Self::Permission>,
        input: &Self::Input,
    ) -> impl Future<Output = Result<Plan, CommandError<Self::Refusal>>> + Send;

    /// The user whose own overdue fees are given back first when a plan is short of funds.
    fn payer(&self, _principal: &Principal, _input: &Self::Input) -> Option<UserId> {
        None
    }

    /// The error for a rejection of the plan.
    fn rejected(rejection: Rejection) -> CommandError<Self::Refusal> {
        Failure::from(rejection).into()
    }

    /// The result that a receipt shows.
    ///
    /// # Errors
    /// [`Failure::Broken`] for the receipt of another command.
    fn output(receipt: Receipt) -> Result<Self::Output, Failure>;

    /// What happens after the commit, or after a replay, before the result is final.
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

    /// The effects of the commit. They are carried out again if a plan that reached the ledger was replayed there, and
    /// not if the command was replayed by its key.
    fn effects(_output: &Self::Output) -> Effects {
        Effects::default()
    }
}
