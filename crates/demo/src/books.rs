//! The sums at the end of the evening: what guests spent is what the DJ and the platform got.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use crate::amount::Amount;
use crate::answers::Report;
use crate::dj::Dj;
use crate::guest::Guest;

/// The time within which the service returns the fees of open requests after the end of a gig.
const RETURNED_WITHIN: Duration = Duration::from_secs(10);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// Waits until nothing is open, and returns the report.
///
/// # Errors
/// If a fee is not back in time, or a sum is wrong.
pub(crate) fn check(dj: &mut Dj, guests: &mut [Guest], commission_bps: u32) -> anyhow::Result<Report> {
    let ended = Instant::now();
    let report = loop {
        let report = dj.report()?;
        let open = report.requests.pending.saturating_add(report.requests.accepted);
        if open == 0 {
            break report;
        }
        if ended.elapsed() > RETURNED_WITHIN {
            bail!("{open} requests are still open {} s after the end", RETURNED_WITHIN.as_secs());
        }
        thread::sleep(PAUSE);
    };
    let spent = guests.iter_mut().map(Guest::spent).collect::<anyhow::Result<Vec<_>>>()?;
    let spent: Amount = spent.iter().sum();
    let paid = [&report.gross, &report.tips].into_iter().sum::<Amount>();
    ensure!(spent == paid, "the guests spent {spent}, but the report shows {paid}");
    ensure!(report.gross.less(&report.commission) == report.net, "gross less commission is not net");
    let earned = dj.available().context("the wallet of the DJ")?;
    let without_tips = earned.less(&report.net);
    let is_right = if commission_bps == 0 {
        earned == paid
    } else {
        (Amount::default()..=report.tips.clone()).contains(&without_tips)
    };
    ensure!(
        is_right,
        "the DJ earned {earned} of the {paid} that the guests paid, which does not fit the commission"
    );
    Ok(report)
}
