//! The end of gigs: every open fee is released, once.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::gig_scene::{ask, end, is_released, open, queue, status, title};
use crate::harness::{Database, Person, Server, Store, at_once, soak_times, song};

on_one_store!(
    the_service_ends_the_gig_of_a_suspended_dj,
    two_servers_open_one_gig_and_end_it_once,
    an_evening_ends_with_every_open_fee_released,
);
on_every_store!(no_fee_stays_held_when_requests_race_the_end_of_their_gig);
on_durable_stores!(fees_of_an_ended_gig_are_released_once_after_a_crash);

fn the_service_ends_the_gig_of_a_suspended_dj(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("requests.sweep_interval_seconds", "1")]);
    let (guest, dj) = (server.payer("50"), server.dj());
    open(&dj, &title("Friday"));
    let request = guest.request_song(&dj);
    let path = format!("/operator/users/{}/suspend", dj.id);
    operator.post(&path, &json!({"reason": "a complaint"})).data(200);
    is_released(&guest, "50.00");
    assert_eq!(status(&guest, request), "rejected");
}

fn an_evening_ends_with_every_open_fee_released(store: Store) {
    let server = Server::start(store);
    let (dj, stranger) = (server.dj(), server.dj());
    let early = server.payer("100");
    let before = early.request_song(&dj);
    let gig = open(&dj, &json!({"title": "Friday", "fee_popular_song": 10, "fee_upcoming_artist": 10}));
    let guests: Vec<Person> = (0..20).map(|_| server.payer("100")).collect();
    let requests: Vec<i64> = guests.iter().map(|guest| ask(guest, &dj, "10")).collect();
    let elsewhere = ask(&guests[19], &stranger, "10");
    let shown = queue(&dj, &gig);
    assert_eq!((&shown["totals"]["open"], &shown["totals"]["guests"]), (&json!(21), &json!(21)));
    assert_eq!(shown["queue"].as_array().unwrap().len(), 21);
    // Played out of order, accepted, and cancelled.
    for index in [7, 3] {
        dj.answer(requests[index], "accepted").data(200);
        dj.answer(requests[index], "played").data(200);
    }
    dj.answer(requests[5], "accepted").data(200);
    guests[6].cancel(requests[6]).data(200);
    dj.patch(&format!("/gigs/{}", gig["id"]), &json!({"accepting": 0, "queue_order": "arrival"})).data(200);
    guests[0].post("/music/requests", &song(dj.id)).refused(409, "dj_offline");
    let shown = queue(&dj, &gig);
    let played: Vec<&Value> =
        shown["last_played"].as_array().unwrap().iter().map(|request| &request["id"]).collect();
    assert_eq!(played, [&json!(requests[3]), &json!(requests[7])]);
    assert_eq!((&shown["totals"]["earned"], &shown["totals"]["played"]), (&json!(20.0), &json!(2)));
    assert!(shown["queue"][0]["place"]["round"].is_null());
    end(&dj, &gig).data(200);
    is_released(&early, "100.00");
    assert_eq!(status(&early, before), "rejected", "a request from before the gig ends with it");
    for (index, guest) in guests.iter().enumerate().take(19) {
        let paid = matches!(index, 3 | 7);
        is_released(guest, if paid { "90.00" } else { "100.00" });
        let expected = match index {
            3 | 7 => "played",
            6 => "cancelled",
            _ => "rejected",
        };
        assert_eq!(status(guest, requests[index]), expected, "{index}");
    }
    assert_eq!(status(&guests[19], elsewhere), "pending", "another DJ's request stays");
    assert_eq!(guests[19].wallet(), ("90.00".into(), "10.00".into()));
    let rejected = guests[0].get("/user/export").data(200);
    assert!(rejected["operations"].to_string().contains("gig_ended"), "the reason is exported");
}

/// The points of the writer's work at which the process dies.
const POINTS: [&str; 7] = [
    "before_lock",
    "after_lock",
    "after_read",
    "after_write",
    "before_commit",
    "after_commit",
    "before_answer",
];

fn fees_of_an_ended_gig_are_released_once_after_a_crash(store: Store) {
    for kind in ["end_gig", "move_request"] {
        let database = Arc::new(Database::of(store));
        let mut server = Server::on(&database, &[]);
        let mut dj = server.dj();
        let mut guests: Vec<Person> = (0..3).map(|_| server.payer("50")).collect();
        for (round, point) in POINTS.iter().enumerate() {
            let gig = open(&dj, &title("Friday"));
            let requests: Vec<i64> = guests.iter().map(|guest| guest.request_song(&dj)).collect();
            server.signal("KILL");
            server.ended();
            let doomed = [("CUEPOINT_CRASH_AT", *point), ("CUEPOINT_CRASH_ON", kind)];
            server = Server::on(&database, &doomed);
            dj = dj.at(&server.client());
            let ending = |dj: &Person| {
                let path = format!("/gigs/{}/end", gig["id"]);
                dj.call("POST", &path).json(&json!({})).key(&format!("end-{round}")).try_send()
            };
            assert!(ending(&dj).is_err() || kind == "move_request", "{kind} at {point}");
            assert!(!server.ended().success(), "{kind} at {point}");

            server = Server::on(&database, &[]);
            dj = dj.at(&server.client());
            ending(&dj).unwrap().data(200);
            for (guest, request) in guests.iter_mut().zip(requests) {
                *guest = guest.at(&server.client());
                is_released(guest, "50.00");
                assert_eq!(status(guest, request), "rejected", "{kind} at {point}");
                let releases = guest.entries().iter().filter(|entry| entry["kind"] == "release").count();
                assert_eq!(releases, round + 1, "{kind} at {point}");
            }
        }
        database.verify();
    }
}

/// Attack API6: opening two gigs at two servers, and ending one gig twice, to release a fee twice.
fn two_servers_open_one_gig_and_end_it_once(_: Store) {
    let database = Arc::new(Database::postgres());
    let servers = [Server::on(&database, &[]), Server::on(&database, &[])];
    let dj = servers[0].dj();
    let guests: Vec<Person> = (0..10).map(|_| servers[0].payer("50")).collect();
    let at: Vec<Person> = servers.iter().map(|server| dj.at(&server.client())).collect();
    let opening = at_once(at.iter().map(|dj| dj.call("POST", "/gigs").json(&title("Friday"))).collect());
    let opened = opening.iter().filter(|answer| answer.json()["status"] == "ok").count();
    assert_eq!(opened, 1);
    let gig = dj.get("/gigs").data(200)["data"][0].clone();
    for guest in &guests {
        guest.request_song(&dj);
    }
    let path = format!("/gigs/{}/end", gig["id"]);
    for answer in at_once(at.iter().map(|dj| dj.call("POST", &path).json(&json!({}))).collect()) {
        answer.data(200);
    }
    for guest in &guests {
        is_released(guest, "50.00");
        assert_eq!(guest.entries().iter().filter(|entry| entry["kind"] == "release").count(), 1);
    }
    database.verify();
}

/// Attack API6: a request that races the end of its gig, so that its fee stays held.
fn no_fee_stays_held_when_requests_race_the_end_of_their_gig(store: Store) {
    let server = Server::start(store);
    let dj = server.dj();
    let guests: Vec<Person> = (0..10).map(|_| server.payer("50")).collect();
    for _ in 0..soak_times().saturating_mul(10) {
        let gig = open(&dj, &title("Friday"));
        let body = song(dj.id);
        let mut calls: Vec<_> =
            guests.iter().map(|guest| guest.call("POST", "/music/requests").json(&body)).collect();
        calls.push(dj.call("POST", &format!("/gigs/{}/end", gig["id"])).json(&json!({})));
        let mut answers = at_once(calls);
        answers.pop().unwrap().data(200);
        for answer in &answers {
            if answer.status != 201 {
                answer.refused(409, "dj_offline");
            }
        }
        guests.iter().for_each(|guest| is_released(guest, "50.00"));
    }
}
