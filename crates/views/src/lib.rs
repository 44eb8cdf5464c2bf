//! The wire forms of entities and events: what the API, the streams of events, webhooks and the export show alike, each
//! with exactly these keys and always all of them. A view of one operation stands beside it.
//!
//! [`wire`] has the forms of single values and the macro that declares a view.

pub mod adjustment;
pub mod block;
pub mod board;
pub mod event;
pub mod event_body;
pub mod gig;
pub mod gig_report;
pub mod operator_tip;
pub mod operator_topup;
pub mod operator_withdrawal;
pub mod people;
pub mod personal_data;
pub mod personal_token;
pub mod provider_message;
pub mod provider_orders;
pub mod rating;
pub mod request;
pub mod security_event;
pub mod session;
pub mod tip;
pub mod topup;
pub mod user_names;
pub mod wallet;
pub mod webhook_attempt;
pub mod webhook_endpoint;
pub mod wire;
pub mod withdrawal;
pub mod withdrawal_options;

use serde::Serialize;
use utoipa::ToSchema;

/// An empty object.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Empty {}
