//! CPU and memory usage of a process, from Linux's `/proc`.

use std::fs;
use std::time::Duration;

use anyhow::{Context, ensure};

/// The kernel's unit of CPU accounting: a hundredth of a second on every machine, because programs rely on
/// it.
const TICK: Duration = Duration::from_millis(10);

/// A process id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Process(pub(crate) u32);

/// The kernel's record of a process.
struct Stat {
    parent: u32,
    /// Its own CPU time.
    own: Duration,
    /// The CPU time of its exited children.
    ended_children: Duration,
}

impl Process {
    /// Returns the current process.
    pub(crate) fn this() -> Self {
        Self(std::process::id())
    }

    /// Returns the CPU time of all its threads.
    pub(crate) fn cpu(self) -> anyhow::Result<Duration> {
        Ok(self.stat()?.own)
    }

    /// Returns the CPU time of the process and all its children, including those that have exited.
    pub(crate) fn cpu_with_children(self) -> anyhow::Result<Duration> {
        let of_children = |stats: Vec<Stat>| -> Duration {
            stats.iter().filter(|stat| stat.parent == self.0).map(|stat| stat.own).sum()
        };
        // Read before the parent: at worst, a child that exits in between is counted twice for a tick, and
        // never lost.
        let living = of_children(every_stat()?);
        let stat = self.stat()?;
        Ok(stat.own.saturating_add(stat.ended_children).saturating_add(living))
    }

    /// Returns its parent.
    pub(crate) fn parent(self) -> anyhow::Result<Self> {
        Ok(Self(self.stat()?.parent))
    }

    /// Returns its peak memory since [`Process::forget_peak`], in bytes.
    pub(crate) fn peak_memory(self) -> anyhow::Result<u64> {
        self.bytes("VmHWM:")
    }

    /// Returns its present memory, in bytes.
    pub(crate) fn memory(self) -> anyhow::Result<u64> {
        self.bytes("VmRSS:")
    }

    fn bytes(self, label: &str) -> anyhow::Result<u64> {
        let status = self.read("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix(label));
        let kib = line
            .and_then(|line| line.trim().strip_suffix(" kB"))
            .and_then(|kib| kib.trim().parse::<u64>().ok());
        kib.and_then(|kib| kib.checked_mul(1_024)).context("the kernel does not report the memory")
    }

    /// Resets its peak memory.
    pub(crate) fn forget_peak(self) -> anyhow::Result<()> {
        let path = format!("/proc/{}/clear_refs", self.0);
        fs::write(&path, "5").with_context(|| format!("{path} cannot be written"))
    }

    fn stat(self) -> anyhow::Result<Stat> {
        parse(&self.read("stat")?).with_context(|| format!("/proc/{}/stat has an unexpected format", self.0))
    }

    fn read(self, name: &str) -> anyhow::Result<String> {
        let path = format!("/proc/{}/{name}", self.0);
        fs::read_to_string(&path).with_context(|| format!("{path} cannot be read"))
    }
}

/// Returns the record of every process; processes that exit meanwhile are left out.
fn every_stat() -> anyhow::Result<Vec<Stat>> {
    let folder = fs::read_dir("/proc").context("/proc cannot be read")?;
    let ids = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let stats: Vec<Stat> = ids.filter_map(|id| Process(id).stat().ok()).collect();
    ensure!(!stats.is_empty(), "/proc lists no process");
    Ok(stats)
}

/// Parses `/proc/PID/stat`; the name before the last bracket may contain anything.
fn parse(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Counted from the state, which is field 3 in proc(5).
    let number = |field: usize| fields.get(field.checked_sub(3)?)?.parse::<u32>().ok();
    let time = |field| number(field).map(|ticks| TICK.saturating_mul(ticks));
    Some(Stat {
        parent: number(4)?,
        own: time(14)?.saturating_add(time(15)?),
        ended_children: time(16)?.saturating_add(time(17)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_names_may_contain_brackets() {
        let text = "42 (a (b) c) S 7 42 42 0 -1 4194304 100 0 0 0 300 20 5 1 20 0 4 0 1000 1 1 1";
        let stat = parse(text).unwrap();
        assert_eq!(stat.parent, 7);
        assert_eq!(stat.own, Duration::from_millis(3_200));
        assert_eq!(stat.ended_children, Duration::from_millis(60));
        assert!(parse("42 (a) S 7").is_none());
    }

    #[test]
    fn the_memory_and_cpu_time_of_this_process_are_measured() {
        let this = Process::this();
        assert!(this.memory().unwrap() > 0);
        // The kernel's counts are exact to a few pages per processor only.
        let block = vec![1_u8; 64 << 20];
        assert!(std::hint::black_box(&block).len() > 60 << 20);
        drop(block);
        assert!(this.peak_memory().unwrap() > 60 << 20);
        // Read first, because the other threads of this process go on.
        let own = this.cpu().unwrap();
        assert!(this.cpu_with_children().unwrap() >= own);
        assert_ne!(this.parent().unwrap(), this);
    }
}
