//! The pages for browsers: view models in, HTML out.
//!
//! A page is a struct that borrows domain values and has `render(&self) -> String`. A page decides no rule and reads
//! no clock: its caller passes what the use cases returned.
//!
//! Reading order:
//!
//! - [`language`], [`texts`]: English and German, side by side;
//! - [`mod@format`]: amounts, times and the texts of users;
//! - [`accent`], [`assets`]: the colour of a deployment, the style sheets and the script;
//! - [`frame`]: what all pages share; [`forms`]: fields with their values and errors; `paging`: the links between
//!   the pages of a list;
//! - [`refusals`]: the words for refused values, and the amounts in fields;
//! - [`error`]: the page of a refusal or a failure; [`done`]: the notice after a form; [`closed`]: why a guest
//!   cannot request a song;
//! - the subjects, one file per page: [`guest`], [`payment`], [`front`], [`wallet`], [`account`], [`booth`],
//!   [`display`], [`report`].
//!
//! | path | struct |
//! |---|---|
//! | `/g/{code}` | [`guest::GuestPage`] |
//! | `/g/{code}/live` | [`guest::GuestPart`] |
//! | `/g/{code}` with an unknown code | [`guest::UnknownCodePage`] |
//! | `/topups/{reference}` | [`payment::PaymentPage`], without the owner's session [`payment::StrangerPaymentPage`] |
//! | `/topups/{reference}/live` | [`payment::PaymentPart`] |
//! | `/sandbox/payments/{reference}` | [`payment::SandboxPage`] |
//! | `/`, `POST /nearby` | [`front::StartPage`] |
//! | `/login`, `/register`, `/claim` | [`front::LoginPage`], [`front::RegisterPage`], [`front::ClaimPage`] |
//! | `/forgot`, `/reset`, `/verify` | [`front::ForgotPage`], [`front::ResetPage`], [`front::VerifyPage`] |
//! | `/first-operator` | [`front::FirstOperatorPage`] |
//! | `/wallet`, `/wallet/statement` | [`wallet::WalletPage`], [`wallet::StatementPage`] |
//! | `/wallet-link` | [`wallet::WalletLinkPage`], [`wallet::LinkOverPage`] |
//! | after `POST /wallet/payout` | [`wallet::ConfirmPayoutPage`] |
//! | `/account`, `/account/confirm` | [`account::AccountPage`], [`account::PasswordPage`] |
//! | any, after a refusal | [`error::ErrorPage`] |
//! | `/booth` | [`booth::OpenPage`], [`booth::BoothPage`] |
//! | `/booth/live` | [`booth::QueuePart`] |
//! | `/booth/blocks` | [`booth::BlocksPage`] |
//! | `/booth/qr` | [`display::Poster`] |
//! | `/booth/gigs`, `/booth/gigs/{id}` | [`report::PastGigsPage`], [`report::ReportPage`] |
//! | `/booth/gigs/{id}/report.csv` | [`report::csv_rows`] |
//! | `/g/{code}/display`, `/g/{code}/overlay` | [`display::DisplayPage`] |
//! | `/g/{code}/display/live`, `/g/{code}/overlay/live` | [`display::DisplayPart`] |

pub mod accent;
pub mod account;
pub mod assets;
pub mod booth;
pub mod closed;
pub mod display;
pub mod done;
pub mod error;
pub mod format;
pub mod forms;
pub mod frame;
pub mod front;
pub mod guest;
pub mod language;
mod paging;
pub mod payment;
pub mod refusals;
pub mod report;
pub mod texts;
pub mod wallet;
