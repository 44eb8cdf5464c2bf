//! The page of the documentation and its parts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::web::{self, Bytes};
use cuepoint_transport::static_file::StaticFile;
use utoipa_swagger_ui::Config;

use crate::wire::error::{ApiError, Code};

/// The file of this address, made at its first use from its media type and contents.
pub(super) async fn cached(
    address: &str,
    contents: impl FnOnce() -> Result<(String, Bytes), ApiError>,
) -> Result<Arc<StaticFile>, ApiError> {
    static FILES: Mutex<BTreeMap<String, Arc<StaticFile>>> = Mutex::new(BTreeMap::new());
    let files = || FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = files().get(address).cloned();
    if let Some(file) = known {
        return Ok(file);
    }
    let (content_type, plain) = contents()?;
    let made = web::block(move || StaticFile::new(content_type, plain)).await;
    let file = Arc::new(made.map_err(ApiError::internal)?);
    files().insert(address.to_owned(), Arc::clone(&file));
    Ok(file)
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
    use super::*;

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
