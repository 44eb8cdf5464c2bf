//! Gigs: requests in a gig, arrivals of guest accounts, reads of a board, and open board streams, each compared with the
//! row above it.

use std::time::{Duration, Instant};

use anyhow::Context;
use cuepoint_domain::ids::UserId;

use crate::context::Bench;
use crate::datasets::{MAX_CALLS, WRITTEN};
use crate::figures::{Figures, number};
use crate::gig_scene::{POPULAR, QUEUE, fill, open_gigs};
use crate::guest_accounts;
use crate::load::Requests;
use crate::load::clients::Clients;
use crate::load::requests::{at_random, request, write_request};
use crate::markdown::{Column, Row, medians};
use crate::operations::{Operation, Store};
use crate::options::Options;
use crate::single_calls::song;
use crate::table::Conditions;

/// The number of readers of one board.
const READERS: usize = 300;
/// The number of open streams of one board.
const STREAMS: usize = 1_000;
/// The number of requests to each DJ in one measurement: those of two in a gig are fewer than its limit.
const IN_GIG: usize = 490;
const WITHOUT_GIG: usize = 2 * IN_GIG;
/// Limits that the benchmark never reaches. The second one is the largest permitted value.
const SETTINGS: [(&str, &str); 4] = [
    ("CUEPOINT__RATE_LIMITS__BOARDS_PER_MINUTE", MAX_CALLS),
    ("CUEPOINT__RATE_LIMITS__GUESTS_PER_MINUTE", MAX_CALLS),
    ("CUEPOINT__RATE_LIMITS__GUEST_REQUESTS_PER_MINUTE", MAX_CALLS),
    ("CUEPOINT__GIGS__MAX_OPEN", "1000"),
];
/// The number of phones whose guests arrive at once.
const PHONES: usize = 16;

/// The columns of the table.
const COLUMNS: [Column; 6] = [
    ("connections", 0),
    ("per second", 0),
    ("of the row above", 2),
    ("p50 ms", 2),
    ("p99 ms", 2),
    ("memory MiB", 1),
];

/// Measures the rows of the stores that the options select, and returns the table in Markdown.
///
/// # Errors
/// If a measurement fails, a response is not a success, or the ledger is inconsistent afterwards.
pub(crate) fn run(options: Options) -> anyhow::Result<String> {
    let (bench, stores) = Bench::with_stores(options.settled(), "gigs")?;
    let (mut rows, mut spread) = (Vec::new(), String::new());
    for run in 1..=bench.options.runs {
        for store in &stores {
            let (measured, delivered) = measure(&bench, *store).with_context(|| store.name())?;
            rows.extend(measured);
            spread.push_str(&format!(
                "{}: a change reached all {STREAMS} streams after {:.2} s.\n",
                store.name(),
                delivered.as_secs_f64()
            ));
            eprintln!("run {run}: gigs on {} are measured", store.name());
        }
    }
    let conditions = Conditions::of(&bench.options, &bench.cluster)?;
    let table = medians(COLUMNS, conditions.text(), &rows);
    Ok(format!("{table}\n{spread}"))
}

/// Measures the rows on a store, and the time in which a change reaches all streams of a board.
fn measure(bench: &Bench, store: Store) -> anyhow::Result<(Vec<Row<6>>, Duration)> {
    let data = bench.dataset(store, WRITTEN)?;
    let servers = [bench.server_with(0, &bench.programs, &data, &SETTINGS)?];
    let [server] = &servers;
    let mut rows = Vec::new();
    let mut add = |name: &str, connections: usize, figures: &Figures, above: Option<f64>| {
        let Figures { per_second, p50, p99, memory, .. } = *figures;
        let of_above = above.map(|above| per_second / above);
        let connected = number(u64::try_from(connections).unwrap_or_default());
        let figures = [Some(connected), Some(per_second), of_above, Some(p50), Some(p99), memory];
        rows.push(Row { name: format!("{}: {name}", store.name()), figures });
        per_second
    };
    let most = bench.options.most_connections();

    // Some DJs open gigs, so that both rows are measured on one database. The last gig is that of the board.
    let djs: Vec<UserId> = bench.population.djs().collect();
    let (others, at_gigs) = djs.split_at(djs.len() / 3);
    let gigs = open_gigs(bench, server, at_gigs)?;
    let (_, at_gigs) = at_gigs.split_last().context("there is no DJ")?;
    // The first requests of a server are slower.
    bench.cell(&servers, most, &mut song_requests(bench, others, WITHOUT_GIG, 0)?, false)?;
    let [plain, in_gig] = in_turns(|is_in_gig, seed| {
        let (djs, to_each) = if is_in_gig { (at_gigs, IN_GIG) } else { (others, WITHOUT_GIG) };
        Ok(bench.cell(&servers, most, &mut song_requests(bench, djs, to_each, seed)?, false)?.0)
    })?;
    let above = add("request without a gig", most, &plain, None);
    let above = add("request in a gig", most, &in_gig, Some(above));
    let arrivals = guest_accounts::measure(server.address(), PHONES, bench.options.counted(), at_gigs)?;
    add("guest account and its first request", PHONES, &arrivals, Some(above));

    let gig = gigs.last().context("there is no DJ")?;
    fill(bench, server, gig)?;
    let mut info = Operation::PersonalInfo.requests(&bench.population, &bench.tokens)?;
    let (info_of_readers, _) = bench.cell(&servers, READERS, &mut info, false)?;
    let above = add("personal-info", READERS, &info_of_readers, None);
    let path = format!("/api/v1/boards/{}", gig.code);
    let mut board = at_random(&[request("GET", &path, None, None)]);
    let (board, _) = bench.cell(&servers, READERS, &mut board, false)?;
    add(&format!("board, {QUEUE} open requests"), READERS, &board, Some(above));

    let (alone, _) = bench.cell(&servers, most, &mut info, false)?;
    let above = add("personal-info without streams", most, &alone, None);
    let (mut streams, mut before) = (Clients::new(server.address())?, Vec::new());
    streams.open(&format!("{path}/stream"), &[None; STREAMS], |block| {
        version(block).map(|first| first.clone_into(&mut before)).is_some()
    })?;
    let (beside, _) = bench.cell(&servers, most, &mut info, false)?;
    add(&format!("personal-info beside {STREAMS} board streams"), most, &beside, Some(above));
    let changed = Instant::now();
    gig.change(server)?;
    streams.wait_for(0, |block| version(block).is_some_and(|version| version != before))?;
    let delivered = changed.elapsed();
    drop((streams, servers));
    bench.verify_and_remove(&bench.programs, &data)?;
    Ok((rows, delivered))
}

/// Measures requests without a gig and in one, in turns, and returns the means of both: the more rows there are, the more
/// a request costs. The order cancels a steady growth.
fn in_turns(mut measure: impl FnMut(bool, u64) -> anyhow::Result<Figures>) -> anyhow::Result<[Figures; 2]> {
    let mut kinds: [Vec<Figures>; 2] = Default::default();
    for (seed, is_in_gig) in (1..).zip([false, true, true, false]) {
        let [plain, in_gig] = &mut kinds;
        (if is_in_gig { in_gig } else { plain }).push(measure(is_in_gig, seed)?);
    }
    Ok(kinds.map(|figures| Figures::mean(&figures)))
}

/// Requests of guests to these DJs, in random order, with this number to each DJ.
fn song_requests(
    bench: &Bench,
    djs: &[UserId],
    to_each: usize,
    seed: u64,
) -> anyhow::Result<Box<Requests<'static>>> {
    let population = &bench.population;
    let guests: Vec<UserId> = population.users().filter(|user| !population.is_dj(*user)).collect();
    let tokens = bench.tokens.of(&guests)?;
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut pairs: Vec<(UserId, usize)> = djs
        .iter()
        .flat_map(|dj| (0..to_each).map(|_| (*dj, rng.usize(..tokens.len()))).collect::<Vec<_>>())
        .collect();
    rng.shuffle(&mut pairs);
    let mut pairs = pairs.into_iter();
    Ok(Box::new(move |into| {
        let Some((dj, guest)) = pairs.next() else { return false };
        let token = tokens.get(guest).map(String::as_str);
        let body = song(dj, "Blue Monday", POPULAR, "");
        write_request(into, "POST", "/api/v1/music/requests", token, Some(&body));
        true
    }))
}

/// The version of a board that a block of its stream delivers; `None` for a comment.
fn version(block: &[u8]) -> Option<&[u8]> {
    block.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"data:"))
}
