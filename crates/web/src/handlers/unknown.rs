//! Paths that belong neither to a page nor to the API: typed codes, and everything else.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::{Accept, Header as _};
use cuepoint_domain::gig::DjCode;
use cuepoint_pages::frame::{NoticeKind, PageNotice};

use super::front;
use super::guest;
use crate::call::{self, PageCall};
use crate::failure::PageFailure;
use crate::response::PageResponse;
use crate::route::{PageRoute, public};

/// The way from a code to its gig. The router of the pages does not contain it, because it matches paths of the API.
#[must_use]
pub fn code() -> PageRoute {
    public("/{code}", guest::of_code)
}

/// The start page in place of a page that does not exist.
#[must_use]
pub fn anything() -> PageRoute {
    public("/{path:.*}", show)
}

/// The code of a DJ that is the path of a request.
#[must_use]
pub fn code_in(request: &HttpRequest) -> Option<&str> {
    let path = request.match_info().as_str().strip_prefix('/')?;
    DjCode::new(path).map(|_| path)
}

/// Whether a page answers a request with an unknown path: one with a code, or one of a browser.
#[must_use]
pub fn is_for_page(request: &HttpRequest) -> bool {
    call::is_read(request) && (code_in(request).is_some() || prefers_html(request))
}

fn prefers_html(request: &HttpRequest) -> bool {
    Accept::parse(request).is_ok_and(|accept| accept.preference().essence_str() == "text/html")
}

async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    let frame = call.frame(None);
    let text = frame.t.not_found_title();
    let frame = frame.saying(Some(PageNotice { kind: NoticeKind::Attention, text }));
    Ok(PageResponse::html(StatusCode::NOT_FOUND, front::start_page(&frame).render()))
}
