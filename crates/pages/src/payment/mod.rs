//! The page of a payment, and the payment page of the sandbox.
//!
//! [`page`] is the page of the owner, with the live part; [`stranger`] is the page without the owner's session;
//! [`sandbox`] is the payment page for tests.

pub mod page;
pub mod sandbox;
pub mod stranger;

pub use page::{Draft, PaymentPage, PaymentPart, PaymentState, Purpose};
pub use sandbox::SandboxPage;
pub use stranger::{StrangerPaymentPage, StrangerPaymentPart, StrangerState};
