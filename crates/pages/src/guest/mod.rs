//! The page of a gig for its guests.
//!
//! [`page`] is the whole page, with the form of [`form`] or the reason ([`Closed`]) why there is none, and the card of
//! [`draft`]. [`offers`] are the fees to choose from. [`part`] is the live part: the caller's requests and the queue.
//! [`unknown_code`] is the page of a code that no DJ has.

pub mod draft;
pub mod form;
pub mod offers;
pub mod page;
pub mod part;
pub mod unknown_code;

pub use crate::closed::Closed;
pub use draft::DraftCard;
pub use form::RequestForm;
pub use offers::{Offer, OfferFields, Offers};
pub use page::{GuestPage, RequestEntry, Typed};
pub use part::{GuestPart, TipForm};
pub use unknown_code::UnknownCodePage;
