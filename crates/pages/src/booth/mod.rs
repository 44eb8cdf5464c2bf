//! The booth of a DJ: the queue of the gig, the settings, and the form of a new gig.
//!
//! - [`OpenPage`]: `/booth` without an open gig;
//! - [`BoothPage`]: `/booth` with one; [`QueuePart`]: its live part, at `/booth/live`;
//! - [`BlocksPage`], at `/booth/blocks`;
//! - [`GigForm`]: the fields of both;
//! - [`BoothAnswer`]: what a form of the booth did, in a sentence.
//!
//! | form | fields |
//! |---|---|
//! | `POST /booth` | `key` and those of [`GigForm`] |
//! | `POST /booth/settings` | `key` and those of [`GigForm`] |
//! | `POST /booth/accept`, `/booth/played`, `/booth/reject` | `key`, `ids`: numbers of requests with commas |
//! | `POST /booth/block` | `key`, `guest`: the number of a user |
//! | `POST /booth/unblock` | `guest` |
//! | `POST /booth/reject-guests` | `since`, `until`: microseconds since 1970 between which the requests were made |
//! | `POST /booth/pause`, `/booth/resume`, `/booth/end` | `key` |
//!
//! Each of them but `unblock` works on the open gig of the DJ.

mod answer;
mod blocks;
mod card;
mod form;
mod guest_accounts;
mod page;
mod part;

pub use answer::{BoothAnswer, BoothOutcome};
pub use blocks::BlocksPage;
pub use form::GigForm;
pub use page::{BoothPage, OpenPage};
pub use part::QueuePart;
