//! What users change about themselves outside the ledger.
//!
//! - `registration`, `guest_accounts`, `logins`: [`SignIns`], from the registration to the logout; [`OwnSessions`]; [`OwnTokens`];
//! - [`Operators`]: the first operator, and those that the person at the machine adds and removes;
//! - [`PasswordChanges`], [`EmailChanges`]: how a user logs in; `own_password` asks for the password first;
//! - [`Verifications`]: codes that verify the e-mail address and the phone number;
//! - [`GuestBlocks`], [`GuestRejections`]: blocks of guests, and rejections of guest accounts, by DJs;
//! - [`WalletLinks`]: the way back to a guest account whose phone is lost;
//! - [`PersonalData`]: the export and the erasure.

mod blocks;
mod email_changes;
mod guest_accounts;
mod guest_rejections;
mod logins;
mod operators;
mod own_password;
mod passwords;
mod personal_data;
mod personal_tokens;
mod registration;
mod sessions;
mod started_session;
mod verifications;
mod wallet_links;

pub use blocks::{BlockRefusal, GuestBlocks};
pub use email_changes::{ConfirmEmailRefusal, EmailChanges, RequestEmailRefusal, RestoreEmailRefusal};
pub use guest_accounts::{AccountClaim, ClaimRefusal, CreateGuestRefusal};
pub use guest_rejections::{FailedRejections, GuestRejections};
pub use logins::{LoginRefusal, RefreshRefusal, SignIns};
pub use operators::{
    BootstrapRefusal, Bootstrapped, DismissalRefusal, FirstOperatorRefusal, FirstOperatorWay, NewOperator,
    NewOperatorRefusal, Operators,
};
pub use own_password::Confirmation;
pub(super) use own_password::{is_confirmed, is_own_password, own_password};
pub use passwords::{
    ChangePasswordRefusal, PasswordChanges, RequestResetRefusal, ResetPasswordRefusal, WrongPassword,
};
pub use personal_data::{EraseRefusal, PersonalData};
pub use personal_tokens::{OwnTokens, TokenRequest, TokenRequestRefusal};
pub use registration::{RegisterRefusal, Registration};
pub use sessions::OwnSessions;
pub use started_session::{BrowserSession, SessionForm, SignedIn, StartedSession};
pub use verifications::{Address, SendCodeRefusal, Verifications, VerifyRefusal};
pub use wallet_links::{AccountUse, IssueLinkRefusal, IssuedLink, WalletLinks};
