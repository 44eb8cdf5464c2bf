//! Bodies in chunks that nobody reads to their end.
//!
//! The web server reads on, for as long as more comes, once a chunked body is dropped before its end. One that lives
//! as long as the answer is instead given up after it, together with its connection.

use std::cell::RefCell;
use std::rc::Rc;

use actix_web::HttpMessage as _;
use actix_web::body::BoxBody;
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::http::header;
use futures_util::{StreamExt as _, stream};

use crate::http::transport::body_guard::accompanied;

/// A request's body in chunks, which its answer keeps alive.
pub(crate) struct Unread(#[expect(dead_code, reason = "it is only kept")] Rc<RefCell<Payload>>);

impl Unread {
    /// The body of a request that has one in chunks; its handler reads it as before.
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

    /// The answer's body, which now keeps the request's.
    pub(crate) fn kept_by(self, answer: BoxBody) -> BoxBody {
        accompanied(answer, move || {
            let _kept = &self;
        })
    }
}
