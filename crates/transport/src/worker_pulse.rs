//! The pulse of the web workers, which shows whether one of them is stuck.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The interval between two beats of a worker.
const INTERVAL: Duration = Duration::from_secs(1);

/// The times at which the workers last took a turn.
#[derive(Clone, Default, Debug)]
pub struct WorkerPulse {
    workers: Arc<Mutex<Vec<Instant>>>,
}

impl WorkerPulse {
    /// Beats once a second on the worker that calls this, until the worker ends.
    pub(crate) fn begin(&self) {
        let number = {
            let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
            workers.push(Instant::now());
            workers.len().saturating_sub(1)
        };
        let workers = Arc::clone(&self.workers);
        actix_web::rt::spawn(async move {
            loop {
                actix_web::rt::time::sleep(INTERVAL).await;
                let mut workers = workers.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(beat) = workers.get_mut(number) {
                    *beat = Instant::now();
                }
            }
        });
    }

    /// The time since the last beat of the worker that has been silent for longest; zero if there are no workers yet.
    #[must_use]
    pub fn silence(&self) -> Duration {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.iter().map(Instant::elapsed).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::sync::mpsc;

    use super::*;

    /// The interval at which the test looks at the pulse.
    const LOOK: Duration = Duration::from_millis(200);

    #[actix_web::test]
    async fn a_stuck_worker_is_silent_while_others_go_on() {
        let pulse = WorkerPulse::default();
        let begun = pulse.clone();
        // The worker that serves the request waits until the sender is gone.
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = actix_web::HttpServer::new(move || {
            begun.begin();
            let released = Arc::clone(&released);
            let wait = move || {
                let ended = released.lock().unwrap().recv().is_err();
                async move { if ended { "released" } else { "a message" } }
            };
            actix_web::App::new().default_service(actix_web::web::to(wait))
        });
        let address = listener.local_addr().unwrap();
        let server = server.workers(2).disable_signals().listen(listener).unwrap().run();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let limit = INTERVAL.saturating_mul(3);
        while pulse.silence() < limit {
            actix_web::rt::time::sleep(LOOK).await;
        }
        let alive = pulse.workers.lock().unwrap().iter().filter(|beat| beat.elapsed() < limit).count();
        assert_eq!(alive, 1);
        drop(release);
        while pulse.silence() > limit {
            actix_web::rt::time::sleep(LOOK).await;
        }
        handle.stop(false).await;
    }
}
