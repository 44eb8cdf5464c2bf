//! The executor: every change of a use case runs through it.
//!
//! - [`Executor`]: runs commands and other changes; [`Command`]: the order of its steps; [`Decide`]: the inputs of a
//!   decision;
//! - [`Context`]: the principal, client, key and deadline of a call; [`Done`]: its result;
//! - [`Loadable`], [`Authorized`]: entities as they are loaded, and with the permission for them;
//! - [`FromReceipt`]: the output of a command, from its receipt;
//! - `apply`: applies a plan and performs its [`Effects`], even if the call is dropped ([`run_to_completion`]);
//! - `single_flight`: commands with the same key run one after the other;
//! - [`Expiry`]: settles overdue requests, also before a plan that lacked money is applied again.

mod apply;
mod authorized;
mod command;
mod completion;
mod context;
mod done;
mod effects;
mod expiry;
mod loadable;
mod receipts;
mod run;
pub(super) mod single_flight;

pub(super) use apply::apply;
pub use authorized::{Authorized, Requirement};
pub use command::{Command, Decide, Decided, action_of};
pub(super) use completion::run_to_completion;
pub use context::{ClientContext, Context};
pub use done::Done;
pub(super) use effects::Effects;
pub(super) use expiry::Expiry;
pub use loadable::Loadable;
pub use receipts::{Adjusted, FromReceipt, Tipped, Withdrawn};
pub(super) use run::ATTEMPTS;
pub use run::Executor;
