//! Commands: changes of the ledger as values, which the [`Executor`](super::Executor) runs.

use std::future::{self, Future};
use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Authorized, Context, Done, FromReceipt, Loadable, Requirement};
use crate::authorization::{Action, Permission, Principal};
use crate::ids::UserId;
use crate::operation::{OperationMetadata, Plan, Rejection};
use crate::text::Line;

/// The action that a command requires permission for.
pub const fn action_of<C: Command>() -> Action {
    <C::Permission as Permission>::ACTION
}

/// The inputs of a command's decision.
pub struct Decide<'a, C: Command> {
    pub env: &'a Environment,
    pub metadata: OperationMetadata,
    pub principal: &'a Principal,
    /// The entity of the command; the principal has the permission for it.
    pub entity: &'a Authorized<C::Entity, C::Permission>,
    /// The input of the command.
    pub input: &'a C::Input,
    /// Whether another request has to give way, because a full queue rejected the previous plan.
    pub displaces: bool,
}

/// The plan of a command `C`, or why there is none.
pub type Decided<C> = Result<Plan, CommandError<<C as Command>::Refusal>>;

/// A change of the ledger, decided about one entity.
///
/// A command loads its entity and decides a plan. The executor does the rest, in this order:
///
/// 1. Single-flight: the command waits for another one with its key.
/// 2. The principal is not revoked, and has a role that the action requires.
/// 3. Replay: a known key is answered by its receipt, which is [completed](Self::complete).
/// 4. [`load`](Self::load), [`reveal`](Loadable::reveal) unless the action is for staff, authorization for the
///    entity, [`check`](Self::check).
/// 5. [`also_requires`](Self::also_requires), the input, and `also_requires` with the input.
/// 6. [`decide`](Self::decide).
/// 7. The plan is applied, and its effects are performed. After a conflict, the command continues at step 4,
///    without step 5.
/// 8. [`complete`](Self::complete).
///
/// Commands of staff are applied as operator: only while the principal is an active operator.
pub trait Command: Sized + Send + Sync {
    /// The required permission.
    type Permission: Permission;
    /// The entity of the decision; `()` for a command that creates one.
    type Entity: Loadable;
    /// Its input, read after authorization.
    type Input: Send + Sync;
    /// Its result, equal when replayed.
    type Output: FromReceipt + Send;
    /// The refusals of its rules.
    type Refusal: std::error::Error + Send;

    /// The id of the entity.
    fn id(&self) -> <Self::Entity as Loadable>::Id;

    /// Loads the entity.
    ///
    /// # Errors
    /// [`Failure::NotFound`] if there is none.
    fn load(&self, env: &Environment) -> impl Future<Output = Result<Self::Entity, Failure>> + Send {
        Self::Entity::load(env, self.id())
    }

    /// An additional permission required by the input. Called before the input is read, and again with it.
    fn also_requires(&self, _principal: &Principal, _input: Option<&Self::Input>) -> Option<Requirement> {
        None
    }

    /// Checks other preconditions before the input is read.
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
    fn decide(&self, inputs: Decide<'_, Self>) -> impl Future<Output = Decided<Self>> + Send;

    /// The reason in the operation's metadata; `None` if the command needs none, or if its plan takes the
    /// reason from the entity.
    fn reason(_input: &Self::Input) -> Option<&Line> {
        None
    }

    /// The payer: if released money could permit a rejected plan, the payer's overdue fees are released first.
    fn payer(&self, _principal: &Principal, _input: &Self::Input) -> Option<UserId> {
        None
    }

    /// The error for a rejection of the plan.
    fn rejected(rejection: Rejection) -> CommandError<Self::Refusal> {
        Failure::from(rejection).into()
    }

    /// Completes the result after the effects or a replay.
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
