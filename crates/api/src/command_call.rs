//! The call of a handler that runs commands of one type.

use std::marker::PhantomData;
use std::ops::Deref;

use cuepoint_domain::application::{Command, CommandError, Done};
use cuepoint_domain::authorization::Principal;

use crate::call::ApiCall;
use crate::mapping::IntoApiError;
use crate::wire::error::ApiError;

/// A call by a principal that may run commands of this type, and no others.
pub struct CommandCall<C> {
    call: ApiCall,
    principal: Principal,
    command: PhantomData<fn(C)>,
}

impl<C: Command<Refusal: IntoApiError>> CommandCall<C> {
    pub(super) const fn new(call: ApiCall, principal: Principal) -> Self {
        Self { call, principal, command: PhantomData }
    }

    /// The caller.
    #[must_use]
    pub const fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Runs a command. `read_input` is called once the entity is found and authorized; query parameters are judged
    /// with it.
    ///
    /// # Errors
    /// As [`Executor::run`](cuepoint_domain::application::Executor::run).
    pub async fn run(
        &self,
        command: C,
        read_input: impl FnOnce() -> Result<C::Input, ApiError>,
    ) -> Result<Done<C::Output>, ApiError> {
        let context = self.call.context(&self.principal);
        let judged_input = || self.call.judged(read_input());
        let done = self.call.use_cases().executor.run(&context, command, judged_input).await;
        done.map_err(|error| match error {
            CommandError::Refused(refusal) => refusal.into_api_error(self.call.currency()),
            CommandError::Input(error) => error,
            CommandError::Failed(failure) => failure.into(),
        })
    }
}

impl<C> Deref for CommandCall<C> {
    type Target = ApiCall;

    fn deref(&self) -> &ApiCall {
        &self.call
    }
}
