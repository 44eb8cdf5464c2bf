//! Style sheets, script and icons, and the files that browsers and crawlers look for.

use actix_web::web::Bytes;
use cuepoint_pages::assets::{self, ROBOTS, TOUCH_ICON};
use cuepoint_transport::static_file::StaticFile;

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;
use crate::route::{PageRoute, public};

pub(super) fn routes() -> Vec<PageRoute> {
    vec![
        public("/assets/{name}", show),
        public("/favicon.ico", |call| well_known(call, TOUCH_ICON.media_type, TOUCH_ICON.bytes)),
        public("/robots.txt", |call| well_known(call, "text/plain; charset=utf-8", ROBOTS.as_bytes())),
    ]
}

async fn well_known(
    call: PageCall,
    media_type: &'static str,
    content: &'static [u8],
) -> Result<PageResponse, PageFailure> {
    Ok(call.file(&StaticFile::well_known(media_type, Bytes::from_static(content))))
}

async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    let accent = &call.state.settings.site.accent;
    let file = if accent.name() == call.parameter {
        StaticFile::immutable(
            "text/css; charset=utf-8",
            Bytes::copy_from_slice(accent.css().as_bytes()),
            None,
        )
    } else {
        let asset = assets::named(&call.parameter).ok_or(PageFailure::NotFound)?;
        let [plain, gzip] = [asset.bytes, asset.gzip].map(Bytes::from_static);
        StaticFile::immutable(asset.media_type, plain, Some(gzip))
    };
    Ok(call.file(&file))
}
