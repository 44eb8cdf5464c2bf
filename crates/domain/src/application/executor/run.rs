//! The executor: runs commands, and performs the effects of every change.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::single_flight::{SingleFlight, StillRunning};
use crate::application::executor::{
    Authorized, Command, Context, Decide, Done, Effects, Expiry, FromReceipt as _, Loadable as _, action_of,
    apply,
};
use crate::authorization::{Action, Permission, Principal};
use crate::ids::{OperationId, UserId};
use crate::operation::{
    IdempotencyKey, KeyReused, OperationMetadata, Plan, Receipt, Rejection, StoredReceipt,
};
use crate::ports::{Applied, ApplyError, Deadline};

/// The number of attempts to decide a command whose state changes between load and apply.
pub(in crate::application) const ATTEMPTS: u32 = 3;

/// Runs commands and other changes.
#[derive(Clone)]
pub struct Executor {
    env: Arc<Environment>,
    single_flight: SingleFlight,
}

impl Executor {
    pub(in crate::application) fn new(env: Arc<Environment>) -> Self {
        Self { env, single_flight: SingleFlight::default() }
    }

    /// Runs a command, in the order of [`Command`]. `read_input` is called at most once, after the entity was
    /// loaded and authorized, and not for a replay.
    ///
    /// # Errors
    /// [`CommandError`]; nothing changed then, except for [`Failure::Unavailable`] and [`Failure::InFlight`],
    /// after which repeating the key yields the outcome.
    pub async fn run<C: Command, I>(
        &self,
        context: &Context,
        command: C,
        read_input: impl FnOnce() -> Result<C::Input, I>,
    ) -> Result<Done<C::Output>, CommandError<C::Refusal, I>> {
        // On the heap, since the futures around it are moved several times, and this one is large.
        let work = Box::pin(self.run_in_turn(context, &command, read_input));
        let Some(key) = context.key else { return work.await };
        let done = self.single_flight.run(key.scope, context.deadline, &*self.env.ports.timer, work).await;
        done.unwrap_or_else(|StillRunning| Err(Failure::InFlight.into()))
    }

    /// Whether a command with the key and the body of this context has taken effect.
    ///
    /// # Errors
    /// [`Failure::KeyReused`] if the key belongs to another body; [`Failure::Unavailable`].
    pub async fn has_run(&self, context: &Context) -> Result<bool, Failure> {
        Ok(self.replayed(context.key).await?.is_some())
    }

    /// Runs a command, the only one with its key in this process.
    async fn run_in_turn<C: Command, I>(
        &self,
        context: &Context,
        command: &C,
        read_input: impl FnOnce() -> Result<C::Input, I>,
    ) -> Result<Done<C::Output>, CommandError<C::Refusal, I>> {
        // The session may have been revoked while the command waited for its turn.
        let context = &self.current(context, action_of::<C>())?;
        if let Some(receipt) = self.replayed(context.key).await? {
            let done = Done { value: C::Output::from_receipt(receipt)?, replayed: true };
            return command.complete(&self.env, context, done).await.map_err(CommandError::with_input);
        }
        let operation = self.env.ids.operation();
        let principal = &context.principal;
        let mut entity = self.loaded(command, principal).await?;
        authorize_input(command, principal, None)?;
        let input = read_input().map_err(CommandError::Input)?;
        authorize_input(command, principal, Some(&input))?;
        let mut displaces = false;
        for _ in 0..ATTEMPTS {
            let metadata = self.metadata::<C>(context, operation, &input);
            let inputs =
                Decide { env: &self.env, metadata, principal, entity: &entity, input: &input, displaces };
            let may_displace;
            let applied = match command.decide(inputs).await {
                Ok(plan) => {
                    may_displace = !displaces && plan.may_displace();
                    let payer = command.payer(principal, &input);
                    self.apply(plan, payer, context.deadline).await
                }
                Err(error) => return self.unless_applied(context, command, error).await,
            };
            match applied {
                Ok(applied) => {
                    let (receipt, replayed) = match applied {
                        Applied::Fresh(receipt) => (receipt, false),
                        Applied::Replayed(receipt) => (receipt, true),
                    };
                    let done = Done { value: C::Output::from_receipt(receipt)?, replayed };
                    let completed = command.complete(&self.env, context, done).await;
                    return completed.map_err(CommandError::with_input);
                }
                Err(ApplyError::Rejected(Rejection::Stale)) => {
                    entity = self.loaded(command, principal).await?;
                }
                Err(ApplyError::Rejected(Rejection::NoRoom(refusal)))
                    if may_displace && refusal.ends_with_displacement() =>
                {
                    displaces = true;
                }
                Err(ApplyError::Rejected(rejection)) => return Err(C::rejected(rejection).with_input()),
                Err(ApplyError::Unavailable(unavailable)) => return Err(unavailable.into()),
            }
        }
        Err(Failure::Conflict.into())
    }

    /// Applies a plan. If the payer's funds are short or clearing, or the payer owes money, the payer's own overdue fees
    /// are released, and the plan is applied again, even if another server released them in the meantime.
    async fn apply(
        &self,
        plan: Plan,
        payer: Option<UserId>,
        deadline: Deadline,
    ) -> Result<Applied, ApplyError> {
        let (env, deadline) = (&self.env, Some(deadline));
        let Some(payer) = payer else { return apply(env, plan, deadline).await };
        match apply(env, plan.clone(), deadline).await {
            Err(ApplyError::Rejected(rejection)) if rejection.depends_on_balance() => {
                Expiry { env }.settle_own(payer).await?;
                apply(env, plan, deadline).await
            }
            applied => applied,
        }
    }

    /// The context with the principal's current role.
    fn current(&self, context: &Context, action: Action) -> Result<Context, Failure> {
        let principal = self.env.ports.principals.current(context.principal)?;
        principal.has_role_for(action).map_err(Failure::for_role)?;
        Ok(Context { principal, ..context.clone() })
    }

    /// The first receipt of a command with this key and this body, if the key is within its retention.
    async fn replayed(&self, key: Option<IdempotencyKey>) -> Result<Option<Receipt>, Failure> {
        let Some(key) = key else { return Ok(None) };
        let Some(record) = self.env.ledger.find_key(&key.scope).await? else { return Ok(None) };
        let stored = record.answer(&key, self.env.now()).map_err(|KeyReused| Failure::KeyReused)?;
        // If the receipt is redacted, the command is decided again, and the ledger, which has the key,
        // refuses it.
        Ok(stored.and_then(StoredReceipt::whole).cloned())
    }

    /// Loads the entity and authorizes the command for it.
    async fn loaded<C: Command>(
        &self,
        command: &C,
        principal: &Principal,
    ) -> Result<Authorized<C::Entity, C::Permission>, Failure> {
        let (entity, action) = (command.load(&self.env).await?, action_of::<C>());
        let entity = if action.is_for_staff() { entity } else { entity.reveal(principal)? };
        let ownership = entity.ownership(principal, action);
        let entity = Authorized::ask(entity, ownership, principal)?;
        command.check(&self.env, principal, &entity).await?;
        Ok(entity)
    }

    /// The metadata of an attempt: the operation is the same, the time is that of the decision.
    fn metadata<C: Command>(
        &self,
        context: &Context,
        operation: OperationId,
        input: &C::Input,
    ) -> OperationMetadata {
        let (principal, client) = (&context.principal, context.client.clone());
        let as_operator = action_of::<C>().is_for_staff();
        OperationMetadata {
            key: context.key,
            reason: C::reason(input).cloned(),
            as_operator,
            ..OperationMetadata::called(principal, client, operation, self.env.now())
        }
    }

    /// A refusal decided before applying is final only while the command's key is unknown: a repetition at
    /// another server may have been applied in the meantime, and have caused the refusal.
    async fn unless_applied<C: Command, I>(
        &self,
        context: &Context,
        command: &C,
        error: CommandError<C::Refusal>,
    ) -> Result<Done<C::Output>, CommandError<C::Refusal, I>> {
        let known = match error {
            CommandError::Failed(Failure::Unavailable(_)) => None,
            _ => self.replayed(context.key).await?,
        };
        let Some(receipt) = known else { return Err(error.with_input()) };
        let done = Done { value: C::Output::from_receipt(receipt)?, replayed: true };
        command.complete(&self.env, context, done).await.map_err(CommandError::with_input)
    }

    /// Makes a change that the principal requests and that is no plan of the ledger. Performs the effects even if
    /// the change is refused. The caller does not drop the future before its end: the change might be committed
    /// without its effects.
    pub(in crate::application) async fn perform<P: Permission, T, E: From<Failure>>(
        &self,
        context: &Context,
        change: impl AsyncFnOnce(Authorized<UserId, P>, &Principal, &mut Effects) -> Result<T, E>,
    ) -> Result<T, E> {
        let Context { principal, .. } = self.current(context, P::ACTION)?;
        let own = Authorized::own(&principal).map_err(Failure::from)?;
        let mut effects = Effects::default();
        // On the heap, since it is large, and the futures around it are moved several times.
        let changed = Box::pin(change(own, &principal, &mut effects)).await;
        effects.perform(&self.env, Some(context.deadline)).await;
        changed
    }

    /// The same for a change without a principal.
    pub(in crate::application) async fn perform_open<T, E>(
        &self,
        deadline: Deadline,
        change: impl AsyncFnOnce(&mut Effects) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut effects = Effects::default();
        // On the heap, since it is large, and the futures around it are moved several times.
        let changed = Box::pin(change(&mut effects)).await;
        effects.perform(&self.env, Some(deadline)).await;
        changed
    }
}

/// Authorizes the command for its input, before it is read and afterwards.
fn authorize_input<C: Command>(
    command: &C,
    principal: &Principal,
    input: Option<&C::Input>,
) -> Result<(), Failure> {
    let required = command.also_requires(principal, input);
    Ok(required.map_or(Ok(()), |required| required.ask(principal))?)
}
