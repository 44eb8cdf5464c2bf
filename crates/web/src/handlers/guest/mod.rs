//! The page of a gig for its guests: from the scan to the accepted request.

mod entry;
mod own_requests;
mod page;
mod request_fields;
mod tips;

use cuepoint_domain::authorization::Action;
use cuepoint_transport::rate_limits::Class;

pub(in crate::handlers) use page::{found_with, of_code};

use crate::route::{PageRoute, form, own_form, page as page_route};

pub(super) fn routes() -> Vec<PageRoute> {
    vec![
        page_route("/g", page::with_code),
        page_route("/g/{code}", page::show),
        page_route("/g/{code}/live", page::live),
        page_route("/g/{code}/requests", page::of_code),
        page_route("/g/{code}/draft", page::of_code),
        page_route("/g/{code}/tips", page::of_code),
        form("/g/{code}/requests", Class::Requests, entry::send),
        form("/g/{code}/draft", Class::Requests, entry::send_draft),
        own_form("/g/{code}/draft/discard", Action::UseWallet, Class::Other, entry::discard_draft),
        own_form("/g/{code}/tips", Action::TipDj, Class::Other, tips::send),
        own_form("/requests/{id}/cancel", Action::CancelRequest, Class::Other, own_requests::cancel),
        own_form("/requests/{id}/rating", Action::RateRequest, Class::Other, own_requests::rate),
    ]
}
