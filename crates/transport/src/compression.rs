//! Compression of bodies.

use std::io::{self, Write as _};

use actix_web::HttpRequest;
use actix_web::http::header::{AcceptEncoding, Encoding, Header as _};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Whether the client takes gzip rather than a body as it is.
#[must_use]
pub fn accepts_gzip(request: &HttpRequest) -> bool {
    let supported = [Encoding::gzip(), Encoding::identity()];
    let accepted = AcceptEncoding::parse(request).ok();
    accepted.and_then(|accepted| accepted.negotiate(supported.iter())) == Some(Encoding::gzip())
}

/// The bytes in gzip: the best compression for what is kept, a quick one for what is sent once.
///
/// # Errors
/// None in practice: a vector takes every byte.
pub fn gzip(bytes: &[u8], compression: Compression) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), compression);
    encoder.write_all(bytes)?;
    encoder.finish()
}
