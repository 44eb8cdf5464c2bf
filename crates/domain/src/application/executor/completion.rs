//! Work that is completed even if its caller stops waiting for it.

use std::future::Future;

use futures_channel::oneshot;

use crate::ports::TaskSpawner;

/// Runs the work in a task of its own, and waits for its result; `None` if the task ended without one, because
/// the service stopped.
pub(in crate::application) fn run_to_completion<T: Send + 'static>(
    tasks: &dyn TaskSpawner,
    work: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = Option<T>> + Send + 'static {
    let (sender, receiver) = oneshot::channel();
    tasks.spawn(Box::pin(async move {
        // The receiver is gone if the caller stopped waiting.
        drop(sender.send(work.await));
    }));
    async { receiver.await.ok() }
}
