//! An open loop: requests are sent when they are due, whether or not earlier ones are answered.

use std::net::SocketAddr;

use anyhow::ensure;

use super::Requests;
use super::clients::Clients;
use super::record::{Concerned, Record, Stage};
use super::schedule::Schedule;

/// Sends requests on a schedule until it is over or the requests run out, and waits for all answers.
///
/// # Errors
/// The first unsuccessful response, with its body; an answer that does not arrive in time; requests that run
/// out during the warm-up.
pub(crate) fn run(
    server: SocketAddr,
    schedule: Schedule,
    requests: &mut Requests<'_>,
) -> anyhow::Result<Record> {
    let mut record = Record::new(schedule.rate().warm_up_calls(), None);
    let mut calls = |_: u32, into: &mut Vec<u8>| Ok(requests(into).then(Concerned::default));
    Clients::new(server)?.call(schedule, &mut calls, &mut record, |_| Ok(()))?;
    ensure!(
        !record.between(Stage::Due, Stage::Sent)?.is_empty(),
        "the requests ran out before anything was counted"
    );
    Ok(record)
}
