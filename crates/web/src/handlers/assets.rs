//! Style sheets, script and icon.

use actix_web::web::Bytes;
use cuepoint_pages::assets;

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;
use crate::route::{PageRoute, public};

pub(super) fn routes() -> Vec<PageRoute> {
    vec![public("/assets/{name}", show)]
}

async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    let accent = &call.state.settings.site.accent;
    if accent.path().ends_with(&format!("/{}", call.parameter)) {
        return Ok(PageResponse::asset(
            "text/css; charset=utf-8",
            Bytes::copy_from_slice(accent.css().as_bytes()),
            false,
        ));
    }
    let asset = assets::named(&call.parameter).ok_or(PageFailure::NotFound)?;
    let is_gzip = call.accepts_gzip();
    let bytes = if is_gzip { asset.gzip } else { asset.bytes };
    Ok(PageResponse::asset(asset.media_type, Bytes::from_static(bytes), is_gzip))
}
