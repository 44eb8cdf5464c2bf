//! Static files: compressed once, and sent only to clients that do not have them.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, EntityTag, Header as _, IfNoneMatch, VARY,
};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use flate2::Compression;

use crate::compression::{accepts_gzip, gzip};

/// Whether a client has the newest form is checked each time, so that no file outlives an upgrade.
const CHECKED: &str = "no-cache";
/// Changed content gets a new name, so that clients keep a file for a year.
const KEPT: &str = "public, max-age=31536000, immutable";
/// A client may keep the content of the previous version for a day.
const KEPT_FOR_A_DAY: &str = "public, max-age=86400";

/// A file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaticFile {
    media_type: Cow<'static, str>,
    plain: Bytes,
    gzip: Option<Bytes>,
    /// Weak, because it is the same for the compressed form. Only a file that is checked each time has one.
    tag: Option<EntityTag>,
    cache_control: &'static str,
}

impl StaticFile {
    /// A file whose content can change with the version. A text is compressed if this makes it shorter.
    #[must_use]
    pub fn new(media_type: String, plain: Bytes) -> Self {
        let mut hasher = DefaultHasher::new();
        plain.hash(&mut hasher);
        let tag = Some(EntityTag::new_weak(format!("{:016x}", hasher.finish())));
        let is_text = !media_type.starts_with("image/");
        let packed = is_text.then(|| gzip(&plain, Compression::best()).ok()).flatten();
        let packed = packed.filter(|packed| packed.len() < plain.len()).map(Bytes::from);
        Self { media_type: media_type.into(), plain, gzip: packed, tag, cache_control: CHECKED }
    }

    /// A file that never changes under its name, with its compressed form, if it has one.
    #[must_use]
    pub const fn immutable(media_type: &'static str, plain: Bytes, gzip: Option<Bytes>) -> Self {
        Self { media_type: Cow::Borrowed(media_type), plain, gzip, tag: None, cache_control: KEPT }
    }

    /// A small file whose content can change with the version, under a name that clients know without a page.
    #[must_use]
    pub const fn well_known(media_type: &'static str, plain: Bytes) -> Self {
        let media_type = Cow::Borrowed(media_type);
        Self { media_type, plain, gzip: None, tag: None, cache_control: KEPT_FOR_A_DAY }
    }

    /// The answer to a request: without a body if the client has the file.
    #[must_use]
    pub fn answer(&self, request: &HttpRequest) -> HttpResponse {
        let is_known = self.tag.as_ref().is_some_and(|tag| has(request, tag));
        let mut response = if is_known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
        if let Some(tag) = &self.tag {
            response.insert_header((ETAG, tag.to_string()));
        }
        response.insert_header((CACHE_CONTROL, self.cache_control));
        response.append_header((VARY, "Accept-Encoding"));
        if is_known {
            return response.finish();
        }
        response.insert_header((CONTENT_TYPE, self.media_type.as_ref()));
        match self.gzip.as_ref().filter(|_| accepts_gzip(request)) {
            Some(gzip) => {
                response.insert_header((CONTENT_ENCODING, "gzip"));
                response.body(gzip.clone())
            }
            None => response.body(self.plain.clone()),
        }
    }
}

/// Whether the client names the tag of the file that it has.
fn has(request: &HttpRequest, tag: &EntityTag) -> bool {
    match IfNoneMatch::parse(request) {
        Ok(IfNoneMatch::Any) => true,
        Ok(IfNoneMatch::Items(tags)) => tags.iter().any(|known| known.weak_eq(tag)),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use actix_web::body::MessageBody as _;
    use actix_web::http::StatusCode;
    use actix_web::test::TestRequest;
    use flate2::read::GzDecoder;

    use super::*;

    fn file() -> StaticFile {
        StaticFile::new("text/plain".to_owned(), Bytes::from("to be or not to be, ".repeat(50)))
    }

    fn answer(file: &StaticFile, headers: &[(&'static str, &str)]) -> HttpResponse {
        let request =
            headers.iter().fold(TestRequest::get(), |request, header| request.insert_header(*header));
        file.answer(&request.to_http_request())
    }

    fn header<'r>(response: &'r HttpResponse, name: &str) -> Option<&'r str> {
        response.headers().get(name).and_then(|value| value.to_str().ok())
    }

    fn body(response: HttpResponse) -> Bytes {
        response.into_body().try_into_bytes().unwrap_or_else(|_| panic!("it is whole"))
    }

    #[test]
    fn texts_are_compressed_for_clients_that_accept_gzip() {
        let file = file();
        for accepted in ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, gzip;q=0.8, *;q=0.1"] {
            let response = answer(&file, &[("accept-encoding", accepted)]);
            assert_eq!(header(&response, "content-encoding"), Some("gzip"), "{accepted}");
            let mut text = Vec::new();
            GzDecoder::new(&*body(response)).read_to_end(&mut text).unwrap();
            assert!(text == file.plain, "{accepted}");
        }
        for accepted in [None, Some("identity"), Some("br"), Some("gzip;q=0"), Some("")] {
            let headers: Vec<_> = accepted.iter().map(|accepted| ("accept-encoding", *accepted)).collect();
            let response = answer(&file, &headers);
            assert_eq!(header(&response, "content-encoding"), None, "{accepted:?}");
            assert_eq!(header(&response, "vary"), Some("Accept-Encoding"));
            assert_eq!(body(response), file.plain, "{accepted:?}");
        }
        assert!(StaticFile::new("image/png".to_owned(), file.plain.clone()).gzip.is_none());
        assert!(StaticFile::new("text/plain".to_owned(), Bytes::from("short")).gzip.is_none());
    }

    #[test]
    fn files_are_sent_again_only_after_a_change() {
        let file = file();
        let response = answer(&file, &[]);
        let tag = header(&response, "etag").unwrap().to_owned();
        assert_eq!(header(&response, "cache-control"), Some("no-cache"));
        for known in [tag.as_str(), "*", &format!("\"other\", {tag}")] {
            let response = answer(&file, &[("if-none-match", known), ("accept-encoding", "gzip")]);
            assert_eq!(response.status(), StatusCode::NOT_MODIFIED, "{known}");
            assert_eq!(
                (header(&response, "etag"), header(&response, "content-encoding")),
                (Some(&*tag), None)
            );
            assert!(body(response).is_empty());
        }
        let changed = StaticFile::new("text/plain".to_owned(), Bytes::from("changed"));
        assert_eq!(answer(&changed, &[("if-none-match", &tag)]).status(), StatusCode::OK);
    }

    #[test]
    fn files_that_never_change_are_kept_and_have_no_tag() {
        let file = StaticFile::immutable("text/css", Bytes::from("a"), Some(Bytes::from("b")));
        let response = answer(&file, &[("if-none-match", "*"), ("accept-encoding", "gzip")]);
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!((header(&response, "etag"), header(&response, "cache-control")), (None, Some(KEPT)));
        assert_eq!(header(&response, "content-encoding"), Some("gzip"));
        assert_eq!(body(response), "b");
    }

    #[test]
    fn well_known_files_are_kept_for_a_day() {
        let file = StaticFile::well_known("text/plain", Bytes::from("a"));
        let response = answer(&file, &[("if-none-match", "*"), ("accept-encoding", "gzip")]);
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(header(&response, "cache-control"), Some(KEPT_FOR_A_DAY));
        assert_eq!((header(&response, "content-encoding"), header(&response, "etag")), (None, None));
        assert_eq!(body(response), "a");
    }
}
