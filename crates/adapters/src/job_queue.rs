//! The bounded in-process job queue, for work that must not influence the response time, which would reveal
//! whether a user exists.

use std::sync::{Mutex, PoisonError};

use cuepoint_domain::ports::{Job, JobQueue, Unavailable};
use tokio::sync::mpsc;

/// The maximum number of waiting jobs.
const CAPACITY: usize = 1_000;

/// The bounded queue of background jobs.
#[derive(Debug)]
pub struct BoundedJobQueue {
    sender: mpsc::Sender<Job>,
    receiver: Mutex<Option<mpsc::Receiver<Job>>>,
}

impl Default for BoundedJobQueue {
    fn default() -> Self {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        Self { sender, receiver: Mutex::new(Some(receiver)) }
    }
}

impl BoundedJobQueue {
    /// Returns the receiving end for the single worker; `None` once it has been taken.
    pub fn take_receiver(&self) -> Option<mpsc::Receiver<Job>> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl JobQueue for BoundedJobQueue {
    fn enqueue(&self, job: Job) -> Result<(), Unavailable> {
        self.sender.try_send(job).map_err(|error| {
            tracing::warn!(
                job = %error.into_inner(),
                "a background job was dropped: the queue is full or the service is stopping"
            );
            Unavailable::new("the job queue is full")
        })
    }
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::ids::WebhookEndpointId;

    use super::*;

    #[test]
    fn a_full_queue_refuses_new_jobs() {
        let queue = BoundedJobQueue::default();
        let job = || Job::NotifyWebhookDisabled(WebhookEndpointId::new(1).unwrap());
        for _ in 0..CAPACITY {
            queue.enqueue(job()).unwrap();
        }
        assert!(queue.enqueue(job()).is_err());
        assert!(queue.take_receiver().is_some() && queue.take_receiver().is_none());
    }
}
