//! The application layer: use cases on the ports and the rules, independent of HTTP, SQL and JSON.
//!
//! - [`UseCases`]: all use cases, made from a store, [`Ports`] and [`Terms`];
//! - `executor`: runs each change of the ledger, a [`Command`], in the order that the trait states, and performs
//!   the effects of every change;
//! - [`commands`]: the changes of the ledger that a principal can make; [`queries`]: use cases that only read;
//! - `users`: registration, logins, sessions, addresses, blocks and personal data of users;
//! - `providers`: orders to payment and payout providers, and their messages;
//! - `webhooks`: the endpoints of users, and the deliveries to them;
//! - `jobs`: what runs in the background alone;
//! - `security_audit`: the events that use cases record in the security log; [`Failure`]: the errors of all.

pub mod commands;
mod environment;
mod error;
mod executor;
mod jobs;
mod providers;
pub mod queries;
mod readiness;
mod security_audit;
#[cfg(test)]
mod tests;
mod use_cases;
mod users;
mod webhooks;

pub use environment::{Environment, Ports, Terms};
pub use error::{CommandError, Failure, InvalidTransition};
pub use executor::{
    Authorized, ClientContext, Command, Context, Decide, Decided, Done, Executor, FromReceipt, Loadable,
    Requirement, action_of,
};
pub use jobs::{CompletedAudit, DeletedGuests, GigEndings, LedgerAudits, Positions, Retention};
pub use providers::{
    Contradicted, IncomingMessage, MessageOutcome, PayoutAttempt, PayoutUpdateOutcome, Payouts,
    ProviderInbox, ProviderMessageRefusal, SandboxOutcome, SandboxPayments, TopupOrders,
};
pub use readiness::{NotReady, Readiness};
pub use use_cases::UseCases;
pub use users::{
    AccountClaim, AccountUse, Address, BlockRefusal, BootstrapRefusal, Bootstrapped, BrowserSession,
    ChangePasswordRefusal, ClaimRefusal, ConfirmEmailRefusal, Confirmation, CreateGuestRefusal,
    DismissalRefusal, EmailChanges, EraseRefusal, FailedRejections, FirstOperatorRefusal, FirstOperatorWay,
    GuestBlocks, GuestRejections, IssueLinkRefusal, IssuedLink, LoginRefusal, NewOperator,
    NewOperatorRefusal, Operators, OwnSessions, OwnTokens, PasswordChanges, PersonalData, RefreshRefusal,
    RegisterRefusal, Registration, RequestEmailRefusal, RequestResetRefusal, ResetPasswordRefusal,
    RestoreEmailRefusal, SendCodeRefusal, SessionForm, SignIns, SignedIn, StartedSession, TokenRequest,
    TokenRequestRefusal, Verifications, VerifyRefusal, WalletLinks, WrongPassword,
};
pub use webhooks::{
    CheckedSecrets, Deliveries, EndpointRequest, ReplayRequest, TestRefusal, TurnSummary, WebhookRefusal,
    Webhooks, WithoutKeys,
};
