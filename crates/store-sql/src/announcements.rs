//! Announcements of commits to readers of the same process.

use tokio::sync::watch;

/// The number of announced commits.
#[derive(Debug, Default)]
pub struct Announcements(watch::Sender<u64>);

impl Announcements {
    /// Announces a commit.
    pub fn announce(&self) {
        self.0.send_modify(|announced| *announced = announced.wrapping_add(1));
    }

    /// Waits until more commits were announced than `seen`, and returns their number.
    pub async fn after(&self, seen: u64) -> u64 {
        // The sender lives as long as `self`.
        self.0.subscribe().wait_for(|announced| *announced > seen).await.map_or(seen, |announced| *announced)
    }
}
