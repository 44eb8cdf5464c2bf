//! The page of a payment, and the payment page of the sandbox.
//!
//! [`page`] is the page of the owner, with the live part; [`draft`] is what waits for the payment; [`stranger`] is the page without the owner's session;
//! [`sandbox`] is the payment page for tests.

pub mod draft;
pub mod page;
pub mod sandbox;
pub mod stranger;

pub use draft::{DraftPurpose, DraftView};
pub use page::{PaymentPage, PaymentPart, PaymentState};
pub use sandbox::SandboxPage;
pub use stranger::{StrangerPaymentPage, StrangerPaymentPart, StrangerState};
