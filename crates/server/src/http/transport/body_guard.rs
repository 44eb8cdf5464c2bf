//! Response bodies with a guard.

use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;

/// The body, which calls `asked` on every poll and keeps its captures alive as long as itself.
pub(crate) fn guarded_body(answer: BoxBody, asked: impl FnMut() + Unpin + 'static) -> BoxBody {
    BoxBody::new(GuardedBody { answer, asked })
}

struct GuardedBody<F> {
    answer: BoxBody,
    asked: F,
}

impl<F: FnMut() + Unpin> MessageBody for GuardedBody<F> {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.answer.size()
    }

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let Self { answer, asked } = self.get_mut();
        asked();
        Pin::new(answer).poll_next(context)
    }
}
