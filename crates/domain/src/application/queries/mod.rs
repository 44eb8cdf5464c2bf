//! The queries: use cases that only read.

mod boards;
mod events;
mod gig_of_code;
mod gig_queue;
mod gigs;
mod guest_account_requests;
mod guest_views;
mod most_played;
mod music_requests;
mod people;
mod profiles;
mod provider_messages;
mod security_log;
mod settings;
mod tips;
mod topups;
mod wallet;
mod withdrawals;

pub use boards::{BOARD_FRESH_FOR, BoardQueries, NearbyBoard, OwnRequest, OwnRequests};
pub use events::{EventPage, EventPageRequest, EventQueries, EventTail, FeedRefusal};
pub(in crate::application) use gig_of_code::{dj_of, recent_gig};
pub use gig_queue::OfferPlace;
pub use gigs::{GigQueries, OpenOfGuest, QueueTotals, QueuedRequest, ReportedGig, ShownGig, ShownQueue};
pub(in crate::application) use guest_account_requests::open_of_guest_accounts;
pub use guest_views::GuestView;
pub use music_requests::{MusicRequestQueries, OwnRequestFilter};
pub use people::PeopleQueries;
pub use profiles::ProfileQueries;
pub use provider_messages::ProviderMessageQueries;
pub use security_log::SecurityLogQueries;
pub use settings::SettingsQueries;
pub use tips::TipQueries;
pub use topups::{SeenTopup, TopupQueries, TopupSearch};
pub use wallet::WalletQueries;
pub use withdrawals::{ReviewedWithdrawal, WithdrawalQueries};
