//! The HTTP request that a task works for. Its log lines name it.

use std::sync::Arc;

use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static LOGGED: Option<LoggedRequest>;
}

/// What log lines say about a request.
#[derive(Clone, Debug)]
pub struct LoggedRequest {
    /// The request id.
    pub id: Arc<str>,
    /// The method.
    pub method: &'static str,
}

impl LoggedRequest {
    /// Runs a future for this request.
    pub fn scope<F: Future>(self, work: F) -> TaskLocalFuture<Option<Self>, F> {
        LOGGED.scope(Some(self), work)
    }

    /// The request of the current task.
    pub(super) fn current() -> Option<Self> {
        LOGGED.try_with(Clone::clone).ok().flatten()
    }
}

/// Runs the future of a new task for the same request as the current task.
pub fn in_current_request<F: Future>(work: F) -> TaskLocalFuture<Option<LoggedRequest>, F> {
    LOGGED.scope(LoggedRequest::current(), work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_spawned_task_inherits_the_logged_request_only_if_told_to() {
        let id = || async { LoggedRequest::current().map(|request| request.id.to_string()) };
        let request = LoggedRequest { id: "abc".into(), method: "GET" };
        let work = async { (tokio::spawn(in_current_request(id())).await, tokio::spawn(id()).await) };
        let (told, untold) = request.scope(work).await;
        assert_eq!((told.unwrap(), untold.unwrap()), (Some("abc".to_owned()), None));
        assert_eq!(tokio::spawn(in_current_request(id())).await.unwrap(), None);
    }
}
