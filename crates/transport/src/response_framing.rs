//! The framing of response bodies: no body for HEAD, and none of chunks for HTTP/1.0.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::HttpResponse;
use actix_web::body::{self, BodySize, BoxBody, MessageBody};
use actix_web::dev::RequestHead;
use actix_web::http::{ConnectionType, Method, Version};
use actix_web::web::Bytes;

/// The framing of the response to a request.
#[derive(Clone, Copy)]
pub(crate) struct ResponseFraming {
    is_head: bool,
    version: Version,
    connection: ConnectionType,
}

impl ResponseFraming {
    /// The framing of the response to a request with this head.
    pub(crate) fn of(request: &RequestHead) -> Self {
        Self {
            is_head: request.method == Method::HEAD,
            version: request.version,
            connection: request.connection_type(),
        }
    }

    /// The framed response. HEAD gets the length of the GET response, if it is known beforehand. For HTTP/1.0, a body
    /// of unknown length lasts until the connection closes.
    pub(crate) fn apply(self, mut response: HttpResponse) -> HttpResponse {
        // actix-http reuses heads without resetting their version, from which `connection_type` derives a default. It
        // writes the version of the request.
        response.head_mut().version = Version::HTTP_11;
        if self.is_head {
            return response.map_body(|_, answer| match answer.size() {
                BodySize::Sized(length) => BoxBody::new(Omitted(length)),
                // The server would otherwise poll a body of unknown length to its end before it continues.
                BodySize::None | BodySize::Stream => BoxBody::new(body::None::new()),
            });
        }
        if self.version < Version::HTTP_11 && response.body().size() == BodySize::Stream {
            let head = response.head_mut();
            head.no_chunking(true);
            head.set_connection_type(ConnectionType::Close);
        }
        response
    }

    /// The use of the connection after this response. Unless it stays open, the response says that it closes: the gate
    /// admits no further request, so that a connection that stayed open would answer none.
    pub(crate) fn connection_after(self, response: &mut HttpResponse) -> ConnectionType {
        let after = match self.connection {
            ConnectionType::KeepAlive => response.head().connection_type(),
            other => other,
        };
        if after != ConnectionType::KeepAlive {
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
        after
    }
}

/// A body of this length that is not sent.
struct Omitted(u64);

impl MessageBody for Omitted {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.0)
    }

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(None)
    }
}
