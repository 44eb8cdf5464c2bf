//! Notifications between the servers of a database: each tells the others that it has committed operations.
//!
//! A notification is sent after the commit, over a connection of its own: inside the transaction it would take a
//! lock of the whole database for the duration of the commit. It carries nothing, and it may be lost: readers
//! also read from time to time.

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use cuepoint_store_sql::Announcements;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout};

use crate::connect::connection::{Connector, ListeningClient};

/// Subscribes to the notifications of other servers. A notification waits for no disk and for no standby.
const LISTEN: &str = "SET synchronous_commit = off; LISTEN cuepoint_commits";
/// Notifies them.
const NOTIFY: &str = "NOTIFY cuepoint_commits";
/// The minimum time between two notifications of a server; commits in between share one.
const SPACING: Duration = Duration::from_millis(20);
/// The time limit of a notification.
const NOTIFY_WITHIN: Duration = Duration::from_secs(2);
/// The time between two attempts to open the connection, and between two checks of it.
const CHECKED_EVERY: Duration = Duration::from_secs(1);

/// The commits that are announced to the readers of this process and to other servers.
#[derive(Debug, Default)]
pub(crate) struct Commits {
    announcements: Announcements,
    /// Whether there was a commit since the last notification.
    unsent: Notify,
}

impl Commits {
    /// Announces a commit of this server.
    pub(crate) fn made(&self) {
        self.announcements.announce();
        self.unsent.notify_one();
    }

    /// The commits of all servers.
    pub(crate) const fn announcements(&self) -> &Announcements {
        &self.announcements
    }
}

/// The task that exchanges notifications until the store is closed.
pub(crate) struct Exchange(JoinHandle<()>);

impl Exchange {
    /// Starts the task on the current runtime.
    pub(crate) fn start(connector: Connector, commits: Arc<Commits>) -> Self {
        Self(tokio::spawn(run(connector, commits)))
    }

    /// Ends the task and its connection.
    pub(crate) fn stop(&self) {
        self.0.abort();
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Exchanges notifications; after a failure on a new connection.
async fn run(connector: Connector, commits: Arc<Commits>) {
    let mut was_lost = false;
    loop {
        let heard = Arc::clone(&commits);
        let opened = connector.listen(LISTEN, move || heard.announcements.announce()).await;
        let lost = match opened {
            Ok(client) => {
                if std::mem::take(&mut was_lost) {
                    tracing::info!("commit notifications work again");
                }
                // What was committed while nobody listened.
                commits.announcements.announce();
                exchange(&connector, &client, &commits).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = lost
            && !std::mem::replace(&mut was_lost, true)
        {
            tracing::warn!("commit notifications are lost, so that readers see commits later: {error:#}");
        }
        sleep(CHECKED_EVERY).await;
    }
}

/// Notifies other servers of commits until the connection fails or leads to a node that is no longer used.
async fn exchange(
    connector: &Connector,
    ListeningClient { client, generation }: &ListeningClient,
    commits: &Commits,
) -> anyhow::Result<()> {
    let mut checks = interval(CHECKED_EVERY);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut not_before = Instant::now();
    loop {
        let commit = async {
            sleep_until(not_before).await;
            commits.unsent.notified().await;
        };
        tokio::select! {
            () = commit => {
                timeout(NOTIFY_WITHIN, client.batch_execute(NOTIFY)).await??;
                not_before = Instant::now().checked_add(SPACING).unwrap_or(not_before);
            }
            _ = checks.tick() => {
                if client.is_closed() {
                    bail!("the connection was closed");
                }
                if *generation != connector.cluster().generation() {
                    return Ok(());
                }
            }
        }
    }
}
