//! The worker of the job queue.

use std::sync::Arc;

use cuepoint_domain::ports::Job;
use futures_util::{StreamExt as _, stream};
use tokio::sync::watch;

use cuepoint_adapters::job_queue::BoundedJobQueue;
use cuepoint_adapters::service::Service;

/// The most jobs that run concurrently: an unresponsive mail server blocks one for a few seconds.
const CONCURRENCY: usize = 8;

/// Runs jobs until the stop signal, then drains the queue.
pub(super) async fn run(queue: Arc<BoundedJobQueue>, service: Arc<Service>, stopped: watch::Receiver<bool>) {
    let Some(receiver) = queue.take_receiver() else { return };
    let jobs = stream::unfold((receiver, stopped), |(mut receiver, mut stopped)| async {
        let job = tokio::select! {
            biased;
            job = receiver.recv() => job,
            () = stop_of(&mut stopped) => {
                receiver.close();
                receiver.recv().await
            }
        };
        job.map(|job| (job, (receiver, stopped)))
    });
    jobs.for_each_concurrent(CONCURRENCY, |job| run_job(&service, job)).await;
}

async fn stop_of(stopped: &mut watch::Receiver<bool>) {
    // An error means that the sender was dropped, which is also a stop.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

async fn run_job(service: &Service, job: Job) {
    let described = job.to_string();
    if let Err(unavailable) = service.use_cases.run_job(job).await {
        tracing::warn!(job = described, %unavailable, "a background job failed");
    }
}
