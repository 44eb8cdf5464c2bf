//! What the scenarios share: servers, the end of a load, and its row of the table.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};
use std::{env, thread};

use crate::failovers::books;
use crate::failovers::load::{Diary, Kind, Load};
use crate::failovers::report::{REFUSED_WITHIN, Report, SUCCESS_WITHIN, seconds};
use crate::harness::{Answer, Person, Server, eventually, operator_keys};

/// Default number of rounds of a run.
const ROUNDS: usize = 2;

pub(crate) const OPERATOR: &str = "operator@example.com";

/// How many rounds `CUEPOINT_FAILOVER` asks for.
pub(crate) fn rounds() -> usize {
    env::var_os("CUEPOINT_FAILOVER").map_or(ROUNDS, |rounds| {
        let rounds = rounds.to_string_lossy().into_owned();
        rounds.parse().unwrap_or_else(|_| panic!("CUEPOINT_FAILOVER={rounds} is no number"))
    })
}

/// The machine's cores, which scenarios under load need for themselves, since seconds are measured.
static CORES: RwLock<()> = RwLock::new(());

/// Waits until no other scenario runs, and keeps others away.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    CORES.write().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until no scenario under load runs, and keeps those away.
pub(crate) fn without_load() -> RwLockReadGuard<'static, ()> {
    CORES.read().unwrap_or_else(PoisonError::into_inner)
}

/// A server on the database at this address, with an operator.
pub(crate) fn server(url: &str) -> Server {
    let [email, password] = operator_keys(OPERATOR);
    Server::reaching(url, &[email, password, ("auth.access_token_ttl_seconds", "86400")])
}

/// Two servers on the database at this address.
pub(crate) fn two_servers(url: &str) -> [Server; 2] {
    [server(url), server(url)]
}

/// The status of a server's readiness.
pub(crate) fn readiness(server: &Server) -> u16 {
    server.client().outside("GET", "/health/ready").send().status
}

/// Whether a server is ready before this moment.
pub(crate) fn is_ready_within(server: &Server, end: Instant) -> bool {
    while readiness(server) != 200 {
        if Instant::now() > end {
            return false;
        }
        thread::sleep(Duration::from_millis(50));
    }
    true
}

/// Sends a command under one key until it is acknowledged, for half a minute at most.
pub(crate) fn insist(kind: Kind, person: &Person, key: &str) -> Answer {
    eventually("the command is acknowledged", || {
        let answer = kind.send(person, key);
        (answer.status < 300).then_some(answer)
    })
}

/// The answer to a command, and how long it took.
pub(crate) fn timed(kind: Kind, person: &Person, key: &str) -> (Answer, Duration) {
    let begin = Instant::now();
    let answer = kind.send(person, key);
    (answer, begin.elapsed())
}

/// Waits for the first success of what is sent from one moment on; notes where it comes too long after another, and
/// returns the seconds until it came.
pub(crate) fn first_success(load: &Load, sent: Instant, after: Instant, report: &mut Report) -> String {
    load.goes_on(sent, 1, 3 * SUCCESS_WITHIN);
    let took = load.since(sent).first_success.map(|at| at.saturating_duration_since(after));
    let text = took.map_or_else(|| "none".to_owned(), seconds);
    report.check(
        took.is_some_and(|took| took <= SUCCESS_WITHIN),
        format!("the first success came after {text}"),
    );
    text
}

/// Adds what a load answered from a moment until now.
pub(crate) fn row_since(load: &Load, begin: Instant, part: &str, first_success: String, report: &mut Report) {
    let span = load.since(begin);
    let none = String::new;
    let times = [span.slowest_refusal, span.slowest_success].map(seconds);
    let [slowest_refusal, slowest_success] = times;
    let acknowledged = span.successes.to_string();
    let refused = span.refused.to_string();
    report
        .row(part, [first_success, refused, slowest_refusal, slowest_success, acknowledged, none(), none()]);
}

/// Compares the books and adds the last row: nothing lost, nothing doubled, every answer one that is promised.
pub(crate) fn compare_books(url: &str, load: &Load, diaries: &[Diary], begin: Instant, report: &mut Report) {
    let span = load.since(begin);
    let found = books::compare(url, load, diaries);
    report.check(found.lost == 0, format!("{} acknowledged operations were lost", found.lost));
    report.check(found.doubled == 0, format!("{} operations were doubled", found.doubled));
    report.check(found.wrong_wallets.is_empty(), found.wrong_wallets.join("; "));
    report.check(found.inconsistent.is_none(), found.inconsistent.unwrap_or_default());
    let given_up: usize = diaries.iter().flat_map(|diary| diary.given_up.values()).sum();
    report.check(given_up == 0, format!("{given_up} commands were never acknowledged"));
    let late = span.slowest_refusal;
    report.check(late <= REFUSED_WITHIN, format!("a 503 came after {}", seconds(late)));
    let unexpected = load.unexpected();
    report.check(
        unexpected.is_empty(),
        format!("{} other answers, as {:?}", unexpected.len(), unexpected.first()),
    );
    report.row(
        "in all",
        [
            String::new(),
            span.refused.to_string(),
            seconds(late),
            seconds(span.slowest_success),
            found.acknowledged.to_string(),
            found.lost.to_string(),
            found.doubled.to_string(),
        ],
    );
}

/// That no server panicked.
pub(crate) fn no_panic(servers: &[Server], report: &mut Report) {
    let panicked = servers.iter().any(|server| server.log().contains("panicked"));
    report.check(!panicked, "a server panicked");
}
