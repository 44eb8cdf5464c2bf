//! Gigs: what their DJs open, change and read, and the requests in them.

use serde_json::{Value, json};

use crate::harness::gig_scene::{ask, end, is_released, open, queue, status, title};
use crate::harness::{Person, REQUEST, Server, Store, at_once, keys, song};

on_one_store!(
    a_dj_opens_changes_and_ends_a_gig,
    a_repeated_opening_with_its_key_makes_one_gig,
    the_code_of_a_dj_stays_the_same_until_a_new_one_replaces_it,
    only_djs_run_gigs_and_only_their_own,
    invalid_fields_of_a_gig_are_named,
    a_displayed_fee_is_never_exceeded_when_the_dj_raises_the_price,
    a_dedication_is_shown_to_its_dj_and_its_guest_and_not_in_events,
    a_full_queue_refuses_further_requests,
    events_of_a_gig_have_no_texts,
    a_report_counts_the_requests_and_the_money_of_a_gig,
    places_follow_the_rule_of_rounds,
);

fn a_dj_opens_changes_and_ends_a_gig(store: Store) {
    let server = Server::start(store);
    let dj = server.client().person(true);
    let body = json!({"title": " Friday ", "venue": "Blue Room", "latitude": 52.52, "longitude": 13.405,
        "fee_popular_song": 12.5});
    let answer = dj.post("/gigs", &body);
    let gig = answer.data(201)["gig"].clone();
    assert!(answer.header("location").unwrap().ends_with(&format!("/api/v1/gigs/{}", gig["id"])));
    let expected = [
        "asks_kind",
        "city",
        "code",
        "ended_at",
        "id",
        "latitude",
        "longitude",
        "max_open_per_guest",
        "members_only",
        "message",
        "opened_at",
        "queue_order",
        "status",
        "title",
        "venue",
    ];
    let mut found = keys(&gig);
    found.sort_unstable();
    assert_eq!(found, expected);
    for (key, value) in [
        ("title", json!("Friday")),
        ("status", json!("open")),
        ("queue_order", json!("rounds")),
        ("max_open_per_guest", json!(3)),
        ("members_only", json!(0)),
        ("asks_kind", json!(0)),
        ("ended_at", json!(null)),
    ] {
        assert_eq!(gig[key], value, "{key}");
    }
    let profile = dj.get("/user/personal-info").data(200)["user"].clone();
    assert_eq!((&profile["online"], &profile["fee_popular_song"]), (&json!(1), &json!(12.5)));
    let path = format!("/gigs/{}", gig["id"]);
    assert_eq!(dj.get(&path).data(200)["gig"], gig);
    let second = dj.post("/gigs", &title("Second")).refused(409, "gig_open");
    assert_eq!(second["gig"], gig["id"]);
    let paused = dj.patch(&path, &json!({"accepting": 0, "venue": null, "message": "Back at ten"})).data(200);
    let paused = &paused["gig"];
    assert_eq!((&paused["status"], &paused["venue"]), (&json!("paused"), &json!(null)));
    assert_eq!(dj.get("/user/personal-info").data(200)["user"]["online"], json!(0));
    dj.patch("/user/personal-info", &json!({"online": 1})).data(200);
    assert_eq!(dj.get(&path).data(200)["gig"]["status"], "open");
    let ended = end(&dj, &gig).data(200)["gig"].clone();
    assert_eq!(ended["status"], "ended");
    assert_eq!(end(&dj, &gig).data(200)["gig"], ended, "a second end changes nothing");
    let refused = dj.patch(&path, &json!({"title": "Later"})).refused(409, "invalid_transition");
    assert_eq!((&refused["current"], &refused["allowed"]), (&json!("ended"), &json!([])));
    let later = open(&dj, &title("Saturday"));
    let listed = dj.get("/gigs").data(200);
    assert_eq!((&listed["total"], &listed["data"]), (&json!(2), &json!([later, ended])));
}

fn a_repeated_opening_with_its_key_makes_one_gig(store: Store) {
    let server = Server::start(store);
    let dj = server.dj();
    let call = || dj.call("POST", "/gigs").json(&title("Friday")).key("k");
    let first = call().send();
    let gig = first.data(201)["gig"].clone();
    dj.patch(&format!("/gigs/{}", gig["id"]), &title("Renamed")).data(200);
    let again = call().send();
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    let shown = again.data(201)["gig"].clone();
    assert_eq!((&shown["id"], &shown["title"]), (&gig["id"], &json!("Renamed")), "as it is now");
    let others = at_once((0..4).map(|_| dj.call("POST", "/gigs").json(&title("Other"))).collect());
    for other in others {
        assert_eq!(other.refused(409, "gig_open")["gig"], gig["id"]);
    }
    assert_eq!(dj.get("/gigs").data(200)["total"], 1);
}

fn the_code_of_a_dj_stays_the_same_until_a_new_one_replaces_it(store: Store) {
    let server = Server::start(store);
    let (dj, other) = (server.dj(), server.dj());
    let mut codes = Vec::new();
    for body in [title("1"), title("2"), json!({"title": "3", "new_code": 1}), title("4")] {
        let gig = open(&dj, &body);
        codes.push(gig["code"].as_str().unwrap().to_owned());
        end(&dj, &gig).data(200);
    }
    assert_eq!(codes[0], codes[1]);
    assert_ne!(codes[1], codes[2]);
    assert_eq!(codes[2], codes[3]);
    for code in &codes {
        assert!(
            code.len() == 6 && code.bytes().all(|byte| b"23456789BCDFGHJKMNPQRSTVWXYZ".contains(&byte)),
            "{code}"
        );
    }
    let others = open(&other, &title("Other"));
    assert!(!codes.iter().any(|code| others["code"] == *code));
}

fn only_djs_run_gigs_and_only_their_own(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj, other) = (server.guest(), server.dj(), server.dj());
    guest.post("/gigs", &title("Friday")).refused(403, "dj_only");
    guest.get("/gigs").refused(403, "dj_only");
    let gig = open(&dj, &title("Friday"));
    let path = format!("/gigs/{}", gig["id"]);
    for person in [&guest, &other, &operator] {
        person.get(&path).refused(404, "not_found");
        person.get(&format!("{path}/queue")).refused(404, "not_found");
        person.patch(&path, &title("Mine")).refused(404, "not_found");
        person.post(&format!("{path}/end"), &json!({})).refused(404, "not_found");
    }
    dj.get("/gigs/999999999").refused(404, "not_found");
    assert_eq!(dj.get(&path).data(200)["gig"], gig);
    assert_eq!(other.get("/gigs").data(200)["total"], 0);
}

fn invalid_fields_of_a_gig_are_named(store: Store) {
    let server = Server::start(store);
    let dj = server.dj();
    dj.post("/gigs", &json!({})).invalid(&["title"]);
    let wrong = json!({"title": "x".repeat(81), "message": "y".repeat(141), "latitude": 91, "queue_order": "random",
        "max_open_per_guest": 0, "members_only": 2, "asks_kind": 2, "fee_popular_song": -1, "new_code": "yes"});
    let fields = [
        "title",
        "message",
        "latitude",
        "queue_order",
        "max_open_per_guest",
        "members_only",
        "asks_kind",
        "fee_popular_song",
        "new_code",
    ];
    dj.post("/gigs", &wrong).invalid(&fields);
    dj.post("/gigs", &json!({"title": "Friday", "longitude": 13})).invalid(&["latitude"]);
    dj.post("/gigs", &json!({"title": "Friday", "status": "open"})).invalid(&["status"]);
    assert_eq!(dj.get("/gigs").data(200)["total"], 0);
    let gig = open(&dj, &json!({"title": "🎧".repeat(80), "message": "🎧".repeat(140)}));
    dj.patch(&format!("/gigs/{}", gig["id"]), &json!({"title": null})).invalid(&["title"]);
}

fn a_displayed_fee_is_never_exceeded_when_the_dj_raises_the_price(store: Store) {
    let server = Server::start(store);
    let dj = server.dj();
    let gig = open(&dj, &json!({"title": "Friday", "fee_popular_song": 10, "max_open_per_guest": 100}));
    let guests: Vec<Person> = (0..8).map(|_| server.payer("100")).collect();
    let mut body = song(dj.id);
    body["artist_type"] = json!("popular");
    body["fee"] = json!(10);
    let mut calls: Vec<_> =
        guests.iter().map(|guest| guest.call("POST", "/music/requests").json(&body)).collect();
    calls.push(dj.call("PATCH", &format!("/gigs/{}", gig["id"])).json(&json!({"fee_popular_song": 25})));
    let mut answers = at_once(calls);
    answers.pop().unwrap().data(200);
    for (guest, answer) in guests.iter().zip(answers) {
        let held = match answer.json()["status"].as_str() {
            Some("ok") => "10.00",
            _ => {
                answer.invalid(&["fee"]);
                "0.00"
            }
        };
        assert_eq!(guest.wallet().1, held);
    }
    let late = &guests[0];
    let before = late.wallet();
    late.post("/music/requests", &body).invalid(&["fee"]);
    assert_eq!(late.wallet(), before);
}

fn a_dedication_is_shown_to_its_dj_and_its_guest_and_not_in_events(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("50"), server.dj());
    let mut body = song(dj.id);
    body["message"] = json!("for Grace");
    guest.post("/music/requests", &body).invalid(&["message"]);
    let gig = open(&dj, &title("Friday"));
    body.as_object_mut().unwrap().remove("music_url");
    let request = guest.post("/music/requests", &body).data(201);
    let mut found = keys(&request);
    found.sort_unstable();
    assert_eq!(found, REQUEST);
    let url = request["music_url"].as_str().unwrap();
    assert!(url.starts_with("https://www.youtube.com/results?search_query="), "{url}");
    let queued = queue(&dj, &gig)["queue"][0].clone();
    assert_eq!((&queued["message"], &queued["request"]["id"]), (&json!("for Grace"), &request["id"]));
    assert_eq!(queued["guest"], json!({"id": guest.id, "name": "Ada"}));
    for person in [&guest, &dj] {
        let events = person.get("/events").json().to_string();
        assert!(!events.contains("Grace"), "{events}");
    }
    let made = guest.get("/user/export").data(200)["requests_made"][0].clone();
    assert_eq!((&made["gig_id"], &made["message"]), (&gig["id"], &json!("for Grace")));
    assert!(!dj.get("/user/export").json().to_string().contains("Grace"));
}

fn a_full_queue_refuses_further_requests(store: Store) {
    let server = Server::configured(store, &[("gigs.max_open", "2")]);
    let dj = server.dj();
    let gig = open(&dj, &json!({"title": "Friday", "max_open_per_guest": 1}));
    let guests: Vec<Person> = (0..3).map(|_| server.payer("50")).collect();
    let first = guests[0].request_song(&dj);
    let refused = guests[0].post("/music/requests", &song(dj.id)).refused(422, "limit_exceeded");
    assert_eq!(refused["details"][0]["limit"], json!(1), "{refused}");
    guests[1].request_song(&dj);
    let refused = guests[2].post("/music/requests", &song(dj.id)).refused(422, "limit_exceeded");
    assert_eq!(
        (&refused["details"][0]["field"], &refused["details"][0]["limit"]),
        (&json!("dj_id"), &json!(2))
    );
    assert_eq!(guests[2].wallet(), ("50.00".into(), "0.00".into()));
    dj.answer(first, "played").data(200);
    guests[2].request_song(&dj);
    assert_eq!(queue(&dj, &gig)["totals"]["open"], 2);
}

fn events_of_a_gig_have_no_texts(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("50"), server.dj());
    let gig =
        open(&dj, &json!({"title": "Secret title", "venue": "Secret venue", "message": "Secret message"}));
    let request = guest.request_song(&dj);
    dj.patch(&format!("/gigs/{}", gig["id"]), &json!({"accepting": 0})).data(200);
    end(&dj, &gig).data(200);
    is_released(&guest, "50.00");
    let events = dj.get("/events").data(200)["events"].clone();
    assert!(!events.to_string().contains("Secret"), "{events}");
    let events: Vec<Value> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|event| match event["data"]["gig"].as_object() {
            Some(record) => {
                assert_eq!(record.keys().collect::<Vec<_>>(), ["id", "dj_id", "code", "status"]);
                assert_eq!(
                    (&record["id"], &record["dj_id"], &record["code"]),
                    (&gig["id"], &json!(dj.id), &gig["code"])
                );
                json!([event["type"], record["status"]])
            }
            None => json!([event["type"], event["data"]["music_request"]["id"]]),
        })
        .collect();
    let expected = json!([
        ["gig.opened", "open"],
        ["music_request.created", request],
        ["gig.updated", "paused"],
        ["gig.ended", "ended"],
        ["music_request.rejected", request],
    ]);
    assert_eq!(json!(events), expected);
    let own = guest.get("/events").data(200)["events"].to_string();
    assert!(!own.contains("gig."), "{own}");
}

fn a_report_counts_the_requests_and_the_money_of_a_gig(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("fees.commission_bps", "1500")]);
    let (dj, guests) = (server.dj(), [server.payer("100"), server.payer("100")]);
    let gig = open(&dj, &json!({"title": "Friday", "fee_upcoming_artist": 10, "max_open_per_guest": 10}));
    let path = format!("/gigs/{}/report", gig["id"]);
    let empty = dj.get(&path).data(200)["report"].clone();
    assert_eq!((&empty["gross"], &empty["mean_wait_minutes"]), (&json!(0.0), &json!(null)));
    let [played, refunded, rejected, cancelled] =
        [0, 1, 0, 1].map(|index| (index, ask(&guests[index], &dj, "10")));
    let open = ask(&guests[0], &dj, "10");
    for (_, request) in [played, refunded] {
        dj.answer(request, "played").data(200);
    }
    guests[0].post(&format!("/music/requests/{}/rating", played.1), &json!({"stars": 4})).data(200);
    let refund = format!("/operator/music/requests/{}/refund", refunded.1);
    operator.post(&refund, &json!({"reason": "the wrong song"})).data(200);
    dj.answer(rejected.1, "rejected").data(200);
    guests[1].cancel(cancelled.1).data(200);
    let report = dj.get(&path).data(200)["report"].clone();
    let counts = json!({"pending": 1, "accepted": 0, "played": 1, "refunded": 1, "rejected": 1, "cancelled": 1, "expired": 0});
    assert_eq!(report["requests"], counts);
    let money = ["gross", "commission", "net", "refunded"].map(|key| report[key].clone());
    assert_eq!(money, [10.0, 1.5, 8.5, 10.0].map(Value::from));
    assert_eq!((&report["guests"], &report["mean_wait_minutes"]), (&json!(2), &json!(1)));
    assert_eq!((&report["rating"], &report["rating_count"]), (&json!(4.0), &json!(1)));
    let song = json!({"song_title": "Blue Monday", "artist_name": "New Order", "requests": 4, "played": 2});
    assert_eq!(report["top_songs"], json!([song]));
    assert_eq!(report["gig"], dj.get(&format!("/gigs/{}", gig["id"])).data(200)["gig"]);
    guests[0].get(&path).refused(404, "not_found");
    end(&dj, &gig).data(200);
    is_released(&guests[0], "90.00");
    assert_eq!(dj.get(&path).data(200)["report"]["requests"]["rejected"], 2);
    assert_eq!(status(&guests[0], open), "rejected");
}

fn places_follow_the_rule_of_rounds(store: Store) {
    let server = Server::start(store);
    let dj = server.dj();
    let [ada, ben, cleo] = [server.payer("500"), server.payer("500"), server.payer("500")];
    let gig = open(&dj, &json!({"title": "Friday", "fee_popular_song": 10, "max_open_per_guest": 10}));
    let requests: Vec<i64> =
        [&ada, &ben, &ben, &ada, &ada, &cleo].iter().map(|guest| ask(guest, &dj, "10")).collect();
    let order = || -> Vec<usize> {
        let shown = queue(&dj, &gig);
        let ids =
            shown["queue"].as_array().unwrap().iter().map(|queued| queued["request"]["id"].as_i64().unwrap());
        ids.map(|id| requests.iter().position(|other| *other == id).unwrap() + 1).collect()
    };
    assert_eq!(order(), [1, 2, 6, 3, 4, 5]);
    let shown = queue(&dj, &gig)["queue"][5].clone();
    let place = json!({"position": 6, "round": 3, "wait_minutes": 24,
        "reason": "Round 3 of 3: 5 songs of earlier rounds come first."});
    assert_eq!(shown["place"], place);
    assert_eq!(shown["at_risk"], false);
    assert_eq!(shown["same_song"].as_array().unwrap().len(), 5, "all asked for one song");
    dj.answer(requests[0], "played").data(200);
    assert_eq!(order(), [2, 6, 3, 4, 5]);
    dj.patch(&format!("/gigs/{}", gig["id"]), &json!({"queue_order": "arrival"})).data(200);
    assert_eq!(order(), [2, 3, 4, 5, 6]);
}
