//! Streams of events: what they show, where they resume, and when they end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{
    Database, EventStream, Person, Received, SHARED_KEY, Server, Store, StreamMessage, eventually,
    operator_keys,
};

on_every_store!(
    a_stream_delivers_events_as_they_happen,
    a_slow_reader_is_cut_off_and_resumes_without_losing_events,
);
on_one_store!(
    a_stream_starts_after_the_newest_event_or_a_given_position,
    staff_receive_all_events_in_a_stream,
    a_stream_is_filtered_by_type,
    an_idle_stream_reports_the_newest_position,
    a_user_has_at_most_six_streams,
    a_stream_ends_with_its_session,
    a_stream_ends_when_its_reader_is_suspended_or_demoted,
    a_shutdown_ends_open_streams_and_finishes_within_five_seconds,
    invalid_stream_requests_are_refused,
);

/// The time within which a revocation ends a stream.
const REVOKED_WITHIN: Duration = Duration::from_secs(2);
const OPERATOR: &str = "operator@example.com";

/// The events of a feed after a position.
fn feed(person: &Person, path: &str, after: i64) -> Vec<Value> {
    let page = person.get(&format!("{path}?after={after}&limit=1000")).data(200);
    assert_eq!(page["next"], page["head"], "one page shows all");
    page["events"].as_array().unwrap().clone()
}

fn shown(received: Vec<Received>) -> Vec<Value> {
    let data = |event: Received| {
        assert_eq!(event.data["position"], event.id);
        assert_eq!(event.data["type"], event.event_type);
        event.data
    };
    received.into_iter().map(data).collect()
}

fn types(events: &[Received]) -> Vec<&str> {
    events.iter().map(|event| event.event_type.as_str()).collect()
}

/// Asserts that the stream ends within the time for revocations.
fn ends_soon(mut stream: EventStream) {
    let start = Instant::now();
    let rest = stream.rest();
    assert!(start.elapsed() < REVOKED_WITHIN, "{:?}", start.elapsed());
    assert_eq!(rest, []);
}

fn a_stream_delivers_events_as_they_happen(store: Store) {
    let server = Server::start(store);
    let (guest, dj, stranger) = (server.payer("20"), server.dj(), server.guest());
    let (mut of_guest, mut of_dj) = (guest.stream("/events/stream", &[]), dj.stream("/events/stream", &[]));
    let mut of_stranger = stranger.stream("/events/stream", &[]);
    for (name, value) in
        [("content-type", "text/event-stream"), ("cache-control", "no-store"), ("x-accel-buffering", "no")]
    {
        assert_eq!(of_guest.headers[name], value);
    }
    assert!(!of_guest.headers.contains_key("content-encoding"));
    let head = guest.get("/events").data(200)["head"].as_i64().unwrap();
    let Some(StreamMessage::Begin { id, retry }) = of_guest.try_next().unwrap() else {
        panic!("no beginning")
    };
    assert_eq!(id, head, "a client that receives nothing else resumes there");
    assert!((2_000..=4_000).contains(&retry), "{retry}");
    let request = guest.request_song(&dj);
    dj.answer(request, "accepted").data(200);
    dj.answer(request, "played").data(200);
    guest.topup("5");
    stranger.topup("1");
    assert_eq!(shown(of_guest.events(4)), feed(&guest, "/events", head));
    assert_eq!(shown(of_dj.events(3)), feed(&dj, "/events", 0));
    assert_eq!(types(&of_stranger.events(1)), ["topup.created"]);
}

fn a_stream_starts_after_the_newest_event_or_a_given_position(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    for _ in 0..600 {
        guest.topup("0.01");
    }
    let all = feed(&guest, "/events", 0);
    assert_eq!(all.len(), 600);
    let mut at_the_head = guest.stream("/events/stream", &[]);
    let mut from_the_start = guest.stream("/events/stream?after=0", &[]);
    let position = all[399]["position"].to_string();
    let mut resumed = guest.stream("/events/stream?after=3", &[("Last-Event-ID", &position)]);
    assert_eq!(shown(from_the_start.events(600)), all);
    assert_eq!(shown(resumed.events(200)), all[400..], "the header takes precedence");
    guest.topup("1");
    let newest = feed(&guest, "/events", all[599]["position"].as_i64().unwrap());
    for stream in [&mut at_the_head, &mut from_the_start, &mut resumed] {
        assert_eq!(shown(stream.events(1)), newest);
    }
}

fn staff_receive_all_events_in_a_stream(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let mut stream = operator.stream("/operator/events/stream?after=0", &[]);
    guest.request_song(&dj);
    guest.withdrawal("1");
    let received = stream.events(3);
    assert_eq!(types(&received), ["topup.created", "music_request.created", "withdrawal.created"]);
    assert_eq!(shown(received), feed(&operator, "/operator/events", 0));
    let refused = guest.try_stream("/operator/events/stream", &[]).err().unwrap();
    refused.refused(403, "insufficient_scope");
}

fn a_stream_is_filtered_by_type(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("20"), server.dj());
    guest.cancel(guest.request_song(&dj)).data(200);
    let mut stream = guest.stream("/events/stream?after=0&types=music_request.cancelled,topup.created", &[]);
    assert_eq!(types(&stream.events(2)), ["topup.created", "music_request.cancelled"]);
    guest.cancel(guest.request_song(&dj)).data(200);
    assert_eq!(types(&stream.events(1)), ["music_request.cancelled"]);
}

fn an_idle_stream_reports_the_newest_position(store: Store) {
    let server = Server::start(store);
    let (guest, other) = (server.guest(), server.guest());
    let mut stream = guest.stream("/events/stream?types=topup.failed", &[]);
    assert!(matches!(stream.try_next().unwrap(), Some(StreamMessage::Begin { id: 0, .. })));
    // What the client does not want, and what concerns others.
    guest.topup("1");
    other.topup("1");
    assert_eq!(stream.try_next().unwrap(), Some(StreamMessage::Comment(2)));
}

fn a_user_has_at_most_six_streams(store: Store) {
    let server = Server::configured(store, &[("events.max_streams", "8")]);
    let (guest, other) = (server.guest(), server.guest());
    let mut streams: Vec<EventStream> = (0..6).map(|_| guest.stream("/events/stream", &[])).collect();
    let refused = guest.try_stream("/events/stream", &[]).err().unwrap();
    refused.refused(429, "too_many_streams");
    assert_eq!(refused.headers["retry-after"], "5");
    streams.extend((0..2).map(|_| other.stream("/events/stream", &[])));
    other.try_stream("/events/stream", &[]).err().unwrap().refused(503, "unavailable");
    streams.truncate(7);
    streams.remove(0);
    // Long before the next comment is written to the closed connections.
    let start = Instant::now();
    for reader in [&guest, &other] {
        streams.push(eventually("a place is free", || reader.try_stream("/events/stream", &[]).ok()));
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

fn a_stream_ends_with_its_session(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let other_session = guest.at(&server.client());
    let mut remaining = other_session.stream("/events/stream", &[]);
    let stream = guest.stream("/events/stream", &[]);
    guest.post("/auth/logout", &json!({"refresh_token": guest.refresh_token})).data(200);
    ends_soon(stream);
    other_session.topup("1");
    assert_eq!(types(&remaining.events(1)), ["topup.created"]);
}

fn a_stream_ends_when_its_reader_is_suspended_or_demoted(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, auditor) = (server.guest(), server.guest());
    let of_guest = guest.stream("/events/stream", &[]);
    let reason = json!({"reason": "as agreed"});
    operator.post(&format!("/operator/users/{}/suspend", guest.id), &reason).data(200);
    ends_soon(of_guest);
    let role = |role: &str| json!({"role": role, "reason": "as agreed"});
    operator.post(&format!("/operator/users/{}/role", auditor.id), &role("auditor")).data(200);
    let auditor = auditor.at(&server.client());
    let of_auditor = auditor.stream("/operator/events/stream", &[]);
    operator.post(&format!("/operator/users/{}/role", auditor.id), &role("member")).data(200);
    ends_soon(of_auditor);
}

fn a_shutdown_ends_open_streams_and_finishes_within_five_seconds(store: Store) {
    let mut server = Server::start(store);
    let guest = server.guest();
    let mut stream = guest.stream("/events/stream", &[]);
    let start = Instant::now();
    server.signal("TERM");
    assert_eq!(stream.rest(), []);
    assert!(server.ended().success());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// More events than fit into the buffers of the hub and of both sockets.
fn a_slow_reader_is_cut_off_and_resumes_without_losing_events(store: Store) {
    const WRITERS: usize = 4;
    let server = Server::start(store);
    let (guest, path) = (server.guest(), "/events/stream");
    let mut stream = guest.stream(path, &[]);
    let metric = "cuepoint_event_streams_ended_total{reason=\"slow\"} 1";
    let is_slow = || server.client().outside("GET", "/metrics").send().text.contains(metric);
    for round in 0.. {
        assert!(round < 100, "the stream is still open");
        if is_slow() {
            break;
        }
        thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| (0..100).for_each(|_| assert!(guest.topup("0.01") > 0)));
            }
        });
    }
    let mut seen = stream.rest();
    let last = seen.last().unwrap().id.to_string();
    let head = guest.get("/events?limit=1").data(200)["head"].as_i64().unwrap();
    let mut resumed = guest.stream(path, &[("Last-Event-ID", &last)]);
    while seen.last().unwrap().id < head {
        seen.extend(resumed.events(1));
    }
    let ids: Vec<i64> = seen.iter().map(|event| event.id).collect();
    assert_eq!(ids, (ids[0]..=head).collect::<Vec<_>>());
}

fn invalid_stream_requests_are_refused(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let refused = |path: &str, headers: &[(&str, &str)]| {
        guest.try_stream(&format!("/events/stream{path}"), headers).err()
    };
    refused("?after=-1&types=nonsense", &[]).unwrap().invalid(&["after", "types"]);
    for id in ["x", "-1", "1.5", "9223372036854775808"] {
        refused("", &[("Last-Event-ID", id)]).unwrap().refused(400, "bad_request");
    }
    refused("", &[("Accept", "application/json")]).unwrap().refused(406, "not_acceptable");
    refused("?access_token=abc", &[("Authorization", "")]).unwrap().refused(401, "invalid_token");
    assert!(refused("", &[("Accept", "text/event-stream"), ("Last-Event-ID", "")]).is_none());
}

/// Two servers, and an operator at the first one.
fn two_servers(database: &Arc<Database>, keys: &[(&str, &str)]) -> (Server, Server, Person) {
    let keys = [&operator_keys(OPERATOR)[..], keys].concat();
    let (one, other) = (Server::on(database, &keys), Server::on(database, &keys));
    let operator = one.client().login(OPERATOR);
    (one, other, operator)
}

#[test]
fn streams_on_two_servers_show_the_same_order() {
    const EACH: usize = 50;
    let database = Arc::new(Database::postgres());
    let (one, other, operator) = two_servers(&database, &[SHARED_KEY]);
    let path = "/operator/events/stream?after=0";
    let streams = [operator.stream(path, &[]), operator.moved_to(&other.client()).stream(path, &[])];
    thread::scope(|scope| {
        for server in [&one, &other, &one, &other] {
            scope.spawn(|| {
                let guest = server.guest();
                (0..EACH).for_each(|_| assert!(guest.topup("1") > 0));
            });
        }
    });
    let [seen, seen_elsewhere] = streams.map(|mut stream| shown(stream.events(4 * EACH)));
    assert_eq!(seen, seen_elsewhere);
    assert_eq!(seen, feed(&operator, "/operator/events", 0));
    let ids: BTreeSet<&str> = seen.iter().map(|event| event["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 4 * EACH);
}

#[test]
fn streams_receive_events_while_notification_connections_break() {
    let database = Arc::new(Database::postgres());
    let (_one, other, operator) = two_servers(&database, &[]);
    let guest = other.guest();
    let mut stream = operator.stream("/operator/events/stream", &[]);
    let listeners = "SELECT pid FROM pg_stat_activity
        WHERE query LIKE '%cuepoint_commits' AND datname = current_database() AND pid <> pg_backend_pid()";
    for _ in 0..3 {
        eventually("both servers listen", || (database.rows(listeners).len() == 2).then_some(()));
        database.rows(&format!("SELECT pg_terminate_backend(pid) FROM ({listeners}) AS listener"));
        let start = Instant::now();
        guest.topup("1");
        stream.events(1);
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }
}
