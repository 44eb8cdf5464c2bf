//! The disk of the data directory, and the limits of the machine.

use std::path::Path;
use std::time::Duration;

use cuepoint_adapters::diagnosis::machine::{self, Space};
use cuepoint_domain::ports::Diagnosis;

use crate::cli::serve::BACKLOG;
use crate::config::Settings;

const SPACE: &str = "disk.space";
const SYNC: &str = "disk.sync";
const OPEN_FILES: &str = "limits.open_files";
const QUEUE: &str = "limits.somaxconn";

/// The free space below which the service will soon write nothing, in bytes.
const LEAST: u64 = 1_000_000_000;
/// The share of free space below which more is needed, in percent.
const LEAST_PERCENT: u64 = 15;
/// The time of a sync above which commits are slow.
const SLOW: Duration = Duration::from_millis(20);

/// Checks the free space and the speed of a directory's disk.
pub(super) fn disk(directory: &Path) -> Vec<Diagnosis> {
    if !directory.is_dir() {
        return Vec::new();
    }
    vec![
        match machine::space(directory) {
            Ok(space) => of_space(space),
            Err(error) => Diagnosis::fail(SPACE, error.to_string(), "check storage.dir"),
        },
        match machine::sync_time(directory) {
            Ok(time) => of_sync(time),
            Err(error) => Diagnosis::fail(
                SYNC,
                format!("no file can be written to {}: {error}", directory.display()),
                "run the command as the user of the service, and free space on the disk",
            ),
        },
    ]
}

fn of_space(Space { free, total }: Space) -> Diagnosis {
    let percent = free.saturating_mul(100).checked_div(total).unwrap_or(100);
    let tenths = free / 100_000_000;
    let found = format!("{}.{} GB free, {percent} %", tenths / 10, tenths % 10);
    let remedy = "free space, or move the data to a larger disk";
    if free < LEAST {
        Diagnosis::fail(SPACE, found, remedy)
    } else if percent < LEAST_PERCENT {
        Diagnosis::warn(SPACE, found, remedy)
    } else {
        Diagnosis::ok(SPACE, found)
    }
}

fn of_sync(time: Duration) -> Diagnosis {
    let micros = time.as_micros();
    let found = format!("{}.{:03} ms until a write is durable", micros / 1_000, micros % 1_000);
    if time > SLOW {
        Diagnosis::warn(SYNC, found, "use a disk that makes commits durable more quickly, such as an SSD")
    } else {
        Diagnosis::ok(SYNC, found)
    }
}

/// Checks the limits of the server, or of this process if none runs.
pub(super) fn limits(settings: &Settings, of_server: Option<u64>) -> Vec<Diagnosis> {
    let (open_files, whose) = match of_server {
        Some(limit) => (Some(limit), "of the server"),
        None => (machine::open_files(), "of this shell, while no server runs"),
    };
    let streams = u64::try_from(settings.events.max_streams).unwrap_or(u64::MAX);
    let files = open_files.map(|limit| of_open_files(limit, streams.saturating_mul(2), whose));
    let queue = machine::longest_queue().map(of_queue);
    files.into_iter().chain(queue).collect()
}

fn of_open_files(limit: u64, needed: u64, whose: &str) -> Diagnosis {
    let found = format!("{limit} ({whose})");
    if limit < needed {
        let remedy = format!("set LimitNOFILE in the unit to at least {needed}, or lower events.max_streams");
        Diagnosis::fail(OPEN_FILES, found, remedy)
    } else {
        Diagnosis::ok(OPEN_FILES, found)
    }
}

fn of_queue(longest: u64) -> Diagnosis {
    let found = longest.to_string();
    if longest < u64::from(BACKLOG.unsigned_abs()) {
        let remedy = format!(
            "set net.core.somaxconn = {BACKLOG} with sysctl: connections are lost otherwise when many clients return"
        );
        Diagnosis::fail(QUEUE, found, remedy)
    } else {
        Diagnosis::ok(QUEUE, found)
    }
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::ports::Health;

    use super::*;

    const GB: u64 = 1_000_000_000;

    fn fails(found: &Diagnosis) -> bool {
        matches!(found.health, Health::Fail(_))
    }

    fn warns(found: &Diagnosis) -> bool {
        matches!(found.health, Health::Warn(_))
    }

    #[test]
    fn a_full_disk_fails_and_a_disk_with_little_space_warns() {
        let space = |free, total| of_space(Space { free, total });
        assert!(fails(&space(GB - 1, 2 * GB)));
        assert!(warns(&space(14 * GB, 100 * GB)));
        assert_eq!(space(15 * GB, 100 * GB), Diagnosis::ok(SPACE, "15.0 GB free, 15 %"));
    }

    #[test]
    fn a_disk_with_slow_syncs_warns() {
        assert!(warns(&of_sync(Duration::from_micros(20_001))));
        assert_eq!(
            of_sync(Duration::from_micros(1_250)),
            Diagnosis::ok(SYNC, "1.250 ms until a write is durable")
        );
    }

    #[test]
    fn fewer_open_files_than_twice_the_streams_fail() {
        assert!(fails(&of_open_files(19_999, 20_000, "of the server")));
        assert!(!fails(&of_open_files(20_000, 20_000, "of the server")));
    }

    #[test]
    fn a_short_queue_of_connections_fails() {
        assert!(fails(&of_queue(4_095)) && !fails(&of_queue(4_096)));
    }
}
