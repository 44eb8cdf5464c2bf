//! The booth of a DJ: the queue of the open gig, its settings, blocked guests, the poster, and past evenings.

mod blocks;
mod gig_fields;
mod page;
mod poster;
mod reports;
mod settings;
mod taps;

use cuepoint_domain::authorization::Action;
use cuepoint_transport::rate_limits::Class;

pub(in crate::handlers) use page::newest_gig;

use crate::route::{PageRoute, own_form, own_page};

pub(super) fn routes() -> Vec<PageRoute> {
    vec![
        own_page("/booth", Action::ReadGig, page::show),
        own_page("/booth/live", Action::ReadGig, page::live),
        own_page("/booth/qr", Action::ReadGig, poster::show).with_language(),
        own_page("/booth/gigs", Action::ReadGig, reports::list),
        own_page("/booth/gigs/{id}", Action::ReadGig, reports::show),
        own_page("/booth/gigs/{id}/report.csv", Action::ReadGig, reports::file),
        own_page("/booth/blocks", Action::BlockGuest, blocks::list),
        own_form("/booth", Action::RunGig, Class::Gigs, settings::open),
        own_form("/booth/settings", Action::RunGig, Class::Other, settings::change),
        own_form("/booth/pause", Action::RunGig, Class::Other, settings::pause),
        own_form("/booth/resume", Action::RunGig, Class::Other, settings::resume),
        own_form("/booth/end", Action::RunGig, Class::Other, settings::end),
        own_form("/booth/reject-guests", Action::RunGig, Class::Other, settings::reject_guests),
        own_form("/booth/accept", Action::AnswerRequest, Class::Other, taps::accept),
        own_form("/booth/played", Action::AnswerRequest, Class::Other, taps::played),
        own_form("/booth/reject", Action::AnswerRequest, Class::Other, taps::reject),
        own_form("/booth/block", Action::BlockGuest, Class::Other, taps::block),
        own_form("/booth/unblock", Action::BlockGuest, Class::Other, blocks::end),
    ]
}
