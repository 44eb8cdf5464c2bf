//! Messages between this service and the providers, signed as Standard Webhooks says, in both directions.

mod caller;
mod signature;

pub(crate) use caller::CALL_WITHIN;
pub use caller::{CallError, Caller, Reply};
pub use signature::{SecretError, SignedMessage, SigningSecrets};
