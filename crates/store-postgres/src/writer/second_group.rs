//! Whether two groups in flight commit more plans than one, by measurement.
//!
//! A second group pays where the first one leaves processors idle. It costs where they are busy, where both groups wait
//! for the same rows, and where the disk is the limit, because smaller groups need more commits. No counter tells these
//! cases apart, least of all if the database has a machine of its own.

use std::time::Duration;

use tokio::time::Instant;

/// The minimum duration of a measurement.
const WINDOW: Duration = Duration::from_millis(200);
/// The maximum number of measurements between two trials of the other number of groups.
const MAX_STAY: u32 = 16;
/// The minimum ratio of plans with two groups to plans with one for which two are used.
const MIN_RATIO: f64 = 1.03;
/// The weight of the latest ratio in their moving average.
const WEIGHT: f64 = 0.25;

/// How many groups may be in flight, and what was measured so far.
#[derive(Debug)]
pub(super) struct SecondGroup {
    /// Whether there may be two now.
    allowed: bool,
    /// Whether that has just changed, so that a group from before is in flight.
    has_changed: bool,
    /// The start of the current measurement, and the plans committed since.
    window: Option<(Instant, u32)>,
    /// The last measurement: whether two were allowed, and the plans per second.
    last: Option<(bool, f64)>,
    /// The moving average of the ratio of plans with two groups to plans with one.
    ratio: f64,
    /// The measurements until the number changes.
    left: u32,
    /// The measurements between two trials.
    stay: u32,
}

impl Default for SecondGroup {
    fn default() -> Self {
        Self { allowed: false, has_changed: false, window: None, last: None, ratio: 1.0, left: 1, stay: 1 }
    }
}

impl SecondGroup {
    /// With two groups allowed.
    #[cfg(test)]
    pub(super) fn with_two() -> Self {
        Self { allowed: true, ..Self::default() }
    }

    /// Whether a second group may start.
    pub(super) const fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// Counts the answered plans of a group that has ended. Times in which the writer is not busy are not compared.
    pub(super) fn ended(&mut self, plans: usize, is_busy: bool, now: Instant) {
        if !is_busy {
            (self.window, self.last) = (None, None);
            return;
        }
        let Some((start, counted)) = &mut self.window else {
            self.window = Some((now, 0));
            return;
        };
        *counted = counted.saturating_add(u32::try_from(plans).unwrap_or(u32::MAX));
        let took = now.saturating_duration_since(*start);
        if took >= WINDOW {
            let per_second = f64::from(*counted) / took.as_secs_f64();
            self.window = Some((now, 0));
            if !std::mem::take(&mut self.has_changed) {
                self.measured(per_second);
            }
        }
    }

    /// Compares a measurement with the one before it, if the number of groups has changed in between: neighbours in time
    /// have the same load. A single comparison counts at most double.
    fn measured(&mut self, per_second: f64) {
        if let Some((allowed, before)) = self.last
            && allowed != self.allowed
        {
            let ratio = if allowed { before / per_second } else { per_second / before };
            if ratio.is_finite() {
                self.ratio += WEIGHT * (ratio.clamp(0.5, 2.0) - self.ratio);
            }
        }
        self.last = Some((self.allowed, per_second));
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            return;
        }
        let is_better = self.ratio >= MIN_RATIO;
        self.allowed = !self.allowed;
        self.has_changed = true;
        self.left = 1;
        if self.allowed == is_better {
            self.left = self.stay;
            self.stay = self.stay.saturating_mul(2).min(MAX_STAY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::later;
    use super::*;

    /// The number of steps of 50 ms in a minute in which two groups are allowed, if each step commits this many plans,
    /// first with one group and then with two.
    fn steps_with_two(second: &mut SecondGroup, start: Instant, [one, two]: [usize; 2]) -> usize {
        let steps = (0_u64..1_200).filter(|step| {
            let is_allowed = second.is_allowed();
            let now = later(start, Duration::from_millis(step.saturating_mul(50)));
            second.ended(if is_allowed { two } else { one }, true, now);
            is_allowed
        });
        steps.count()
    }

    #[test]
    fn two_groups_are_used_only_while_they_commit_more_plans() {
        let (mut second, mut start) = (SecondGroup::default(), Instant::now());
        for (plans, steps) in [
            ([400, 480], 900..=1_200),
            ([400, 360], 0..=300),
            ([400, 404], 0..=300),
            ([400, 440], 900..=1_200),
        ] {
            let used = steps_with_two(&mut second, start, plans);
            assert!(steps.contains(&used), "{plans:?}: {used}");
            start = later(start, Duration::from_secs(60));
        }
    }

    #[test]
    fn quiet_times_are_not_compared() {
        let mut second = SecondGroup::default();
        let start = Instant::now();
        for step in 0..1_200 {
            let plans = if second.is_allowed() { 101 } else { 1 };
            second.ended(plans, false, later(start, WINDOW.saturating_mul(step)));
        }
        assert!(!second.is_allowed());
    }
}
