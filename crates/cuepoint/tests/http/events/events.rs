//! Feeds of events: what they contain, for whom, and how they are read page by page.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Database, Message, Person, Server, Store, TOPUPS, keys};

on_every_store!(a_feed_lists_each_event_of_the_caller_once_in_order);
on_one_store!(
    events_and_answers_show_the_same_objects,
    staff_see_all_events,
    a_feed_is_read_page_by_page,
    a_feed_is_filtered_by_type,
    a_refusal_names_all_invalid_feed_parameters,
    a_position_after_the_newest_event_is_refused,
);

on_durable_stores!(the_refusal_of_an_expired_position_names_the_oldest_position);

fn feed(person: &Person, query: &str) -> Value {
    person.get(&format!("/events{query}")).data(200)
}

fn events(page: &Value) -> &[Value] {
    page["events"].as_array().unwrap()
}

fn types(page: &Value) -> Vec<&str> {
    events(page).iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn positions(page: &Value) -> Vec<i64> {
    events(page).iter().map(|event| event["position"].as_i64().unwrap()).collect()
}

fn a_feed_lists_each_event_of_the_caller_once_in_order(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj, stranger) = (server.payer("20"), server.dj(), server.guest());
    let played = guest.request_song(&dj);
    dj.answer(played, "accepted").data(200);
    dj.answer(played, "played").data(200);
    guest.cancel(guest.request_song(&dj)).data(200);
    let rejected = guest.request_song(&dj);
    dj.answer(rejected, "rejected").data(200);
    let reason = json!({"reason": "the wrong song"});
    operator.post(&format!("/operator/music/requests/{played}/refund"), &reason).data(200);
    let withdrawal = guest.withdrawal("1");
    operator.post(&format!("/operator/withdrawals/{withdrawal}/approve"), &reason).data(200);
    let correction = json!({"user_id": guest.id, "amount": 1, "reason": "a gift"});
    operator.post("/operator/adjustments", &correction).data(201);

    let requests = [
        "music_request.created",
        "music_request.accepted",
        "music_request.played",
        "music_request.created",
        "music_request.cancelled",
        "music_request.created",
        "music_request.rejected",
        "music_request.refunded",
    ];
    let page = feed(&dj, "");
    assert_eq!(types(&page), requests);
    assert_eq!(page["next"], page["head"]);
    let money = ["withdrawal.created", "withdrawal.approved", "adjustment.created"];
    let page = feed(&guest, "");
    assert_eq!(types(&page), [&["topup.created"][..], &requests, &money].concat());
    assert!(positions(&page).is_sorted_by(|one, next| one < next), "{page}");
    assert_eq!(types(&feed(&stranger, "")), [""; 0]);
}

fn events_and_answers_show_the_same_objects(store: Store) {
    let server = Server::configured(store, &TOPUPS);
    let (guest, dj) = (server.guest(), server.dj());
    let topup = guest.topup("20");
    Message::topup_of("20", "topup.confirmed", &guest.topup_reference(topup)).accepted_by(&server);
    let request = guest.request_song(&dj);
    let withdrawal = guest.withdrawal("1");
    let page = feed(&guest, "");
    let [created, confirmed, requested, withdrawn] = events(&page) else { panic!("{page}") };
    assert_eq!(keys(created), ["created_at", "data", "id", "position", "type"]);
    assert_eq!(created["data"]["topup"]["status"], "pending", "as it was then");
    assert_eq!(confirmed["data"], guest.get(&format!("/wallet/topups/{topup}")).data(200));
    assert_eq!(
        requested["data"],
        json!({"music_request": guest.get(&format!("/music/requests/{request}")).data(200)})
    );
    let mut shown = guest.get(&format!("/withdrawals/{withdrawal}")).data(200);
    without_present_facts(&mut shown);
    assert_eq!(withdrawn["data"], json!({"withdrawal": shown}));
}

/// Removes what lists of withdrawals show about the present, and names, which events do not show.
fn without_present_facts(withdrawal: &mut Value) {
    let facts = ["approvals_needed", "login_changed_at", "owed", "sum_24h", "waiting_for"];
    for key in facts.into_iter().chain(["approval_names", "user_name"]) {
        withdrawal.as_object_mut().unwrap().remove(key);
    }
}

fn staff_see_all_events(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, other) = (server.payer("20"), server.payer("10"));
    guest.withdrawal("1");
    let page = operator.get("/operator/events").data(200);
    assert_eq!(types(&page), ["topup.created", "topup.created", "withdrawal.created"]);
    assert_eq!(events(&page)[1]["data"]["topup"]["user_id"], other.id);
    let mut shown = operator.get("/operator/withdrawals").data(200)["data"][0].clone();
    without_present_facts(&mut shown);
    assert_eq!(events(&page)[2]["data"]["withdrawal"], shown);
    let own = feed(&guest, "");
    let ids = |page: &Value| events(page).iter().map(|event| event["id"].clone()).collect::<Vec<_>>();
    assert_eq!(
        ids(&own),
        [ids(&page)[0].clone(), ids(&page)[2].clone()],
        "one event has one id for all readers"
    );
    guest.get("/operator/events").refused(403, "insufficient_scope");
}

fn a_feed_is_read_page_by_page(store: Store) {
    let server = Server::start(store);
    let (guest, other) = (server.guest(), server.guest());
    for _ in 0..7 {
        guest.topup("1");
        other.topup("1");
    }
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let page = feed(&guest, &format!("?after={after}&limit=3"));
        assert!(events(&page).len() <= 3, "{page}");
        seen.extend(positions(&page));
        after = page["next"].as_i64().unwrap();
        assert_eq!(page["has_more"], page["next"] != page["head"], "{page}");
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(seen, positions(&feed(&guest, "")));
    assert_eq!(seen.len(), 7);
    guest.topup("1");
    let page = feed(&guest, &format!("?after={after}"));
    assert_eq!(events(&page).len(), 1, "what came after the last page: {page}");
}

fn a_feed_is_filtered_by_type(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("20"), server.dj());
    guest.cancel(guest.request_song(&dj)).data(200);
    let page = feed(&guest, "?types=music_request.cancelled,topup.created");
    assert_eq!(types(&page), ["topup.created", "music_request.cancelled"]);
    assert_eq!(types(&feed(&guest, "?types=music_request.played")), [""; 0]);
    // A page of two events of which one is wanted, and its successor.
    let page = feed(&guest, "?types=music_request.cancelled&limit=2");
    assert_eq!((types(&page).len(), &page["has_more"]), (0, &json!(true)));
    let page = feed(&guest, &format!("?types=music_request.cancelled&limit=2&after={}", page["next"]));
    assert_eq!(types(&page), ["music_request.cancelled"]);
}

fn a_refusal_names_all_invalid_feed_parameters(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    guest.get("/events?after=-1&limit=0&types=topup.created,nonsense").invalid(&["after", "limit", "types"]);
    guest.get("/events?after=x&limit=1001").invalid(&["after", "limit"]);
    guest.get("/events?after=&limit=&types=").invalid(&["after", "limit", "types"]);
}

fn a_position_after_the_newest_event_is_refused(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    guest.topup("1");
    let head = feed(&guest, "")["head"].as_i64().unwrap();
    for after in [head + 1, i64::MAX] {
        for (person, path) in [(&guest, "/events"), (&operator, "/operator/events")] {
            let refused = person.get(&format!("{path}?after={after}")).refused(410, "events_lost");
            assert_eq!(refused["continue_after"], head);
            let stream =
                person.try_stream(&format!("{path}/stream"), &[("last-event-id", &after.to_string())]);
            let refused = stream.err().expect("no stream begins").refused(410, "events_lost");
            assert_eq!(refused["continue_after"], head);
        }
    }
    assert_eq!(events(&feed(&guest, &format!("?after={head}"))).len(), 0);
}

fn the_refusal_of_an_expired_position_names_the_oldest_position(store: Store) {
    let database = Arc::new(Database::of(store));
    drop(Server::on(&database, &[]));
    let (id, at) = database
        .sql(
            "gen_random_uuid(), now() - interval '2 days'",
            "randomblob(16), (unixepoch() - 172800) * 1000000",
        )
        .split_once(", ")
        .unwrap();
    for position in 1..=3 {
        database.execute(&format!(
            "INSERT INTO operations (id, kind, at, receipt, position)
             VALUES ({id}, 'profile', {at}, '{{\"profile\": {{\"user\": {{\"id\": 1}}}}}}', {position})"
        ));
    }
    let server = Server::on(&database, &[("events.shown_for_days", "1")]);
    let guest = server.guest();
    guest.topup("1");
    guest.topup("1");
    for path in ["/events?after=0", "/events?after=2", "/events/stream?after=2"] {
        let refused = match guest.try_stream(path, &[]) {
            Ok(_) => panic!("{path} is no stream"),
            Err(refused) => refused,
        };
        refused.refused(410, "events_expired");
        assert_eq!(refused.json()["oldest"], 4, "{path}");
    }
    assert_eq!(positions(&feed(&guest, "?after=3")), [4, 5]);
    assert_eq!(positions(&feed(&guest, "")), [4, 5], "without `after`, it begins with the oldest one");
}
