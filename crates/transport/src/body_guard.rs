//! Response bodies with a guard.

use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;

/// The result of polling a body.
type Polled = Poll<Option<Result<Bytes, <BoxBody as MessageBody>::Error>>>;

/// The body, which calls `polled` after every poll and keeps its captures alive as long as itself.
pub(crate) fn guarded_body(answer: BoxBody, polled: impl FnMut(&Polled) + Unpin + 'static) -> BoxBody {
    BoxBody::new(GuardedBody { answer, polled })
}

struct GuardedBody<F> {
    answer: BoxBody,
    polled: F,
}

impl<F: FnMut(&Polled) + Unpin> MessageBody for GuardedBody<F> {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.answer.size()
    }

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let Self { answer, polled } = self.get_mut();
        let chunk = Pin::new(answer).poll_next(context);
        polled(&chunk);
        chunk
    }
}
