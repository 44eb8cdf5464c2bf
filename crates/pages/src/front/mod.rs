//! The start page, and the pages of logins and registrations.

pub mod claim;
pub mod first_operator;
pub mod forgot;
pub mod login;
pub mod register;
pub mod start;
pub mod verify;

pub use claim::ClaimPage;
pub use first_operator::FirstOperatorPage;
pub use forgot::{ForgotPage, ForgotState, ResetPage};
pub use login::LoginPage;
pub use register::RegisterPage;
pub use start::StartPage;
pub use verify::VerifyPage;
