//! Views of the domain's entities that several operations, events or the export show, each with exactly these keys and
//! always all of them. A view of one operation stands beside it.

pub mod adjustment;
pub mod block;
pub mod event;
pub mod operator_topup;
pub mod operator_withdrawal;
pub mod people;
pub mod provider_message;
pub mod rating;
pub mod request;
pub mod security_event;
pub mod session;
pub mod topup;
pub mod wallet;
pub mod webhook_attempt;
pub mod webhook_endpoint;
pub mod withdrawal;
pub mod withdrawal_options;

use serde::Serialize;
use utoipa::ToSchema;

/// An empty object.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = Nothing)]
pub struct Empty {}
