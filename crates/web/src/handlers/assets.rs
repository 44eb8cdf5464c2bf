//! Style sheets, script and icon.

use actix_web::web::Bytes;
use cuepoint_pages::assets;
use cuepoint_transport::static_file::StaticFile;

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;
use crate::route::{PageRoute, public};

pub(super) fn routes() -> Vec<PageRoute> {
    vec![public("/assets/{name}", show)]
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
