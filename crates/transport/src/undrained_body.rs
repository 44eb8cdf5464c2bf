//! Chunked request bodies that are not read to their end.
//!
//! The web server keeps reading a chunked body that is dropped before its end. A body that lives as long as
//! the answer is abandoned after it instead, together with the connection.

use std::cell::RefCell;
use std::rc::Rc;

use actix_web::HttpMessage as _;
use actix_web::body::BoxBody;
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::http::header;
use futures_util::{StreamExt as _, stream};

use crate::body_guard::guarded_body;

/// A chunked request body, kept alive by the answer.
pub(crate) struct UndrainedBody(#[expect(dead_code, reason = "it is only kept")] Rc<RefCell<Payload>>);

impl UndrainedBody {
    /// The body of a chunked request; its handler reads it as usual.
    pub(crate) fn of(request: &mut ServiceRequest) -> Option<Self> {
        if !request.headers().contains_key(header::TRANSFER_ENCODING) {
            return None;
        }
        let kept = Rc::new(RefCell::new(request.take_payload()));
        let read = Rc::clone(&kept);
        let stream = stream::poll_fn(move |context| read.borrow_mut().poll_next_unpin(context));
        request.set_payload(Payload::Stream { payload: Box::pin(stream) });
        Some(Self(kept))
    }

    /// The response body, which now keeps the request body alive.
    pub(crate) fn kept_by(self, answer: BoxBody) -> BoxBody {
        guarded_body(answer, move |_| {
            let _kept = &self;
        })
    }
}
