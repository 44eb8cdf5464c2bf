//! Files of the documentation: compressed once, and sent only to clients that do not have them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, EntityTag, Header as _, IfNoneMatch, VARY,
};
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse};
use flate2::Compression;
use utoipa_swagger_ui::Config;

use crate::wire::error::{ApiError, Code};
use cuepoint_transport::compression::{accepts_gzip, gzip};

/// Whether a client has the newest form is checked each time, so that no file outlives an upgrade.
const CACHED: &str = "no-cache";

/// A file.
pub(super) struct File {
    content_type: String,
    /// Weak, because it is the same for the compressed form.
    tag: EntityTag,
    plain: Bytes,
    /// Only of a text that it makes shorter.
    gzip: Option<Bytes>,
}

impl File {
    /// A file with these contents.
    fn new(content_type: &str, plain: Bytes) -> Self {
        let mut hasher = DefaultHasher::new();
        plain.hash(&mut hasher);
        let is_text = !content_type.starts_with("image/");
        let gzip = is_text
            .then(|| gzip(&plain, Compression::best()).ok())
            .flatten()
            .filter(|gzip| gzip.len() < plain.len());
        Self {
            content_type: content_type.to_owned(),
            tag: EntityTag::new_weak(format!("{:016x}", hasher.finish())),
            plain,
            gzip: gzip.map(Bytes::from),
        }
    }

    /// The file of this address, made at its first use from its media type and contents.
    pub(super) async fn cached(
        address: &str,
        contents: impl FnOnce() -> Result<(String, Bytes), ApiError>,
    ) -> Result<Arc<Self>, ApiError> {
        static FILES: Mutex<BTreeMap<String, Arc<File>>> = Mutex::new(BTreeMap::new());
        let files = || FILES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = files().get(address).cloned();
        if let Some(file) = known {
            return Ok(file);
        }
        let (content_type, plain) = contents()?;
        let made = web::block(move || Self::new(&content_type, plain)).await;
        let file = Arc::new(made.map_err(ApiError::internal)?);
        files().insert(address.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    /// The answer to a request: without a body if the client has the file.
    pub(super) fn answer(&self, request: &HttpRequest) -> HttpResponse {
        let is_known = match IfNoneMatch::parse(request) {
            Ok(IfNoneMatch::Any) => true,
            Ok(IfNoneMatch::Items(tags)) => tags.iter().any(|tag| tag.weak_eq(&self.tag)),
            Err(_) => false,
        };
        let mut response = if is_known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
        response.insert_header((ETAG, self.tag.to_string()));
        response.insert_header((CACHE_CONTROL, CACHED));
        response.append_header((VARY, "Accept-Encoding"));
        if is_known {
            return response.finish();
        }
        response.insert_header((CONTENT_TYPE, self.content_type.as_str()));
        match self.gzip.as_ref().filter(|_| accepts_gzip(request)) {
            Some(gzip) => {
                response.insert_header((CONTENT_ENCODING, "gzip"));
                response.body(gzip.clone())
            }
            None => response.body(self.plain.clone()),
        }
    }
}

/// The media type and contents of the page, for an address without a slash at its end.
pub(super) fn index() -> Result<(String, Bytes), ApiError> {
    let (content_type, page) = part("index.html")?;
    let page = std::str::from_utf8(&page).map_err(ApiError::internal)?;
    // The page refers to its parts relative to /docs/, but is served one level above.
    let page = page.replacen("<head>", "<head><base href=\"docs/\">", 1);
    Ok((content_type, page.into()))
}

/// The media type and contents of a part of the page.
pub(super) fn part(name: &str) -> Result<(String, Bytes), ApiError> {
    // The page keeps the token at a reload, and shows operations without the list of all schemas.
    let config = Config::from("/openapi.json")
        .validator_url("none")
        .persist_authorization(true)
        .deep_linking(true)
        .filter(true)
        .default_models_expand_depth(-1);
    let part = utoipa_swagger_ui::serve(name, Arc::new(config))
        .map_err(|error| ApiError::internal(error.to_string()))?
        .ok_or(Code::NotFound)?;
    let bytes = part.bytes.into_owned();
    if !part.content_type.starts_with("text/html") {
        return Ok((part.content_type, bytes.into()));
    }
    let page = String::from_utf8(bytes).map_err(ApiError::internal)?;
    Ok((part.content_type, page.replacen("Swagger UI", "Cuepoint", 1).into()))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use actix_web::body::MessageBody as _;
    use actix_web::http::StatusCode;
    use actix_web::test::TestRequest;
    use flate2::read::GzDecoder;

    use super::*;

    fn file() -> File {
        File::new("text/plain", Bytes::from("to be or not to be, ".repeat(50)))
    }

    fn answer(file: &File, headers: &[(&'static str, &str)]) -> HttpResponse {
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
        assert!(File::new("image/png", file.plain.clone()).gzip.is_none());
        assert!(File::new("text/plain", Bytes::from("short")).gzip.is_none());
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
        let changed = File::new("text/plain", Bytes::from("changed"));
        assert_eq!(answer(&changed, &[("if-none-match", &tag)]).status(), StatusCode::OK);
    }

    #[test]
    fn the_documentation_page_keeps_the_token_and_hides_the_schemas() {
        let (_, script) = part("swagger-initializer.js").unwrap_or_else(|_| panic!("it exists"));
        let script = std::str::from_utf8(&script).unwrap();
        for setting in [
            r#""persistAuthorization": true"#,
            r#""deepLinking": true"#,
            r#""filter": true"#,
            r#""defaultModelsExpandDepth": -1"#,
        ] {
            assert!(script.contains(setting), "{setting} in {script}");
        }
    }
}
