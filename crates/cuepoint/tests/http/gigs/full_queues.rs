//! Full queues: who gets a place in a queue full of free requests, and the limit of all requests of a gig.

use serde_json::{Value, json};

use crate::harness::gig_scene::{ask, open, queue, status};
use crate::harness::{Answer, Call, Person, Server, Store, at_once, eventually, song};

on_every_store!(cancelled_requests_use_up_no_gig);
on_one_store!(
    a_guest_account_that_pays_displaces_a_free_request_of_another,
    members_who_never_paid_count_as_guests,
    a_queue_that_one_phone_filled_has_places_for_members_who_pay,
    requests_at_once_stay_within_the_limit_of_a_gig,
);

fn free_gig(server: &Server) -> (Person, Value) {
    let dj = server.dj_at("0", "0");
    let gig = open(&dj, &json!({"title": "Friday", "max_open_per_guest": 100}));
    (dj, gig)
}

/// A request with this fee in major units.
fn offer(guest: &Person, dj: &Person, fee: u8) -> Call {
    let mut body = song(dj.id);
    body["fee"] = json!(fee);
    guest.call("POST", "/music/requests").json(&body)
}

fn made(answers: Vec<Answer>) -> (Vec<i64>, Vec<Answer>) {
    let (made, refused): (Vec<Answer>, Vec<Answer>) =
        answers.into_iter().partition(|answer| answer.status == 201);
    (made.iter().map(|answer| answer.data(201)["id"].as_i64().unwrap()).collect(), refused)
}

fn is_displaced(guest: &Person, gig: &Value, id: i64) -> bool {
    let code = gig["code"].as_str().unwrap();
    let own = guest.get(&format!("/boards/{code}/mine")).data(200);
    let mut own = own["requests"].as_array().unwrap().iter();
    own.any(|own| {
        own["request"]["id"] == id && own["request"]["status"] == "rejected" && own["displaced"] == true
    })
}

/// Attack API6: filling a queue by free requests of 110 accounts of one phone, guest accounts and registrations.
fn a_queue_that_one_phone_filled_has_places_for_members_who_pay(store: Store) {
    let server = Server::configured(store, &[("gigs.max_open", "60")]);
    let (dj, gig) = free_gig(&server);
    let mut accounts: Vec<Person> = (0..80).map(|_| server.guest_account()).collect();
    accounts.extend((0..30).map(|_| server.guest()));
    let (of_phone, refused) = made(at_once(accounts.iter().map(|account| offer(account, &dj, 0)).collect()));
    assert_eq!(of_phone.len(), 40, "two thirds");
    refused.iter().for_each(|answer| drop(answer.refused(422, "limit_exceeded")));
    let regular = server.payer("5");
    for _ in 0..20 {
        ask(&regular, &dj, "0");
    }
    for id in &of_phone[..5] {
        dj.answer(*id, "accepted").data(200);
    }
    offer(&regular, &dj, 0).send().refused(422, "limit_exceeded");

    let member = server.payer("5");
    ask(&member, &dj, "5");
    let payers: Vec<Person> = (0..20).map(|_| server.payer("5")).collect();
    let (paid, refused) = made(at_once(payers.iter().map(|payer| offer(payer, &dj, 5)).collect()));
    assert!(paid.len() == 20 && refused.is_empty(), "{refused:?}");
    assert_eq!(queue(&dj, &gig)["totals"]["open"], 60);
    let of_phone = of_phone.iter().map(|id| status(&dj, *id)).collect::<Vec<_>>();
    let count = |name: &str| of_phone.iter().filter(|status| *status == name).count();
    assert_eq!((count("accepted"), count("rejected"), count("pending")), (5, 21, 14));
    assert_eq!(regular.get("/music/user/requests?status=pending").data(200)["total"], 20);
}

/// Without displacement, free requests of guests would keep a paying guest account out of the two thirds of guests.
fn a_guest_account_that_pays_displaces_a_free_request_of_another(store: Store) {
    let server = Server::configured(store, &[("gigs.max_open", "3")]);
    let (dj, gig) = free_gig(&server);
    let (first, second, payer) = (server.guest_account(), server.guest_account(), server.guest_account());
    payer.topup("20");
    let [kept, displaced] = [&first, &second].map(|guest| ask(guest, &dj, "0"));
    dj.answer(kept, "accepted").data(200);
    offer(&server.guest_account(), &dj, 0).send().refused(422, "limit_exceeded");
    let broke = server.guest_account();
    offer(&broke, &dj, 5).send().refused(422, "insufficient_funds");
    let blocked = server.payer("5");
    blocked.cancel(ask(&blocked, &dj, "0")).data(200);
    dj.call("PUT", &format!("/music/dj/blocks/{}", blocked.id)).send().data(200);
    offer(&blocked, &dj, 5).send().refused(403, "blocked");
    assert_eq!(status(&second, displaced), "pending", "a request that fails displaces no other");
    let paid = ask(&payer, &dj, "5");
    assert!(is_displaced(&second, &gig, displaced));
    assert!(!is_displaced(&first, &gig, kept));
    assert_eq!(payer.wallet(), ("15.00".to_owned(), "5.00".to_owned()));
    let seen = |person: &Person| {
        let events = person.get("/events").data(200)["events"].clone();
        let of_requests = events.as_array().unwrap().iter().filter_map(|event| {
            let id = event["data"]["music_request"]["id"].as_i64()?;
            Some((event["type"].as_str().unwrap().to_owned(), id))
        });
        of_requests.collect::<Vec<_>>()
    };
    let event = |name: &str, id| (format!("music_request.{name}"), id);
    assert_eq!(seen(&second), [event("created", displaced), event("rejected", displaced)]);
    assert_eq!(seen(&payer), [event("created", paid)]);
    assert!(seen(&dj).ends_with(&[event("rejected", displaced), event("created", paid)]));
    offer(&payer, &dj, 5).send().refused(422, "limit_exceeded");
    assert_eq!(status(&payer, paid), "pending", "no free request is left in the two thirds");
}

/// Attack API6: evading the rejection of guests by registrations.
fn members_who_never_paid_count_as_guests(store: Store) {
    let server = Server::start(store);
    let (dj, gig) = free_gig(&server);
    let (registered, regular) = (server.guest(), server.payer("5"));
    let [of_registered, of_regular] = [&registered, &regular].map(|member| ask(member, &dj, "0"));
    let rejection = || {
        let path = format!("/gigs/{}/reject-guests", gig["id"]);
        dj.post(&path, &json!({"younger_than_minutes": 15})).data(202)["matching"].clone()
    };
    assert_eq!(rejection(), 1);
    eventually("it is rejected", || (status(&registered, of_registered) == "rejected").then_some(()));
    assert_eq!(status(&regular, of_regular), "pending");
    assert!(!is_displaced(&registered, &gig, of_registered), "the DJ rejected it");
    // The standing is stored with the request. A later payment changes only the next request.
    ask(&registered, &dj, "0");
    registered.topup("5");
    ask(&registered, &dj, "0");
    assert_eq!(rejection(), 1);
}

/// Attack API4: ending an evening by requests that are cancelled at once.
fn cancelled_requests_use_up_no_gig(store: Store) {
    let server = Server::configured(store, &[("gigs.max_requests", "10")]);
    let (dj, gig) = free_gig(&server);
    let phone = server.guest_account();
    for _ in 0..12 {
        let id = ask(&phone, &dj, "0");
        phone.post(&format!("/music/requests/{id}/cancel"), &json!({})).data(200);
    }
    ask(&server.guest_account(), &dj, "0");
    let report = dj.get(&format!("/gigs/{}/report", gig["id"])).data(200);
    let count = |status: &str| report["report"]["requests"][status].clone();
    assert_eq!((count("cancelled"), count("pending")), (json!(12), json!(1)), "{report}");
}

/// Attack API4: ending an evening by more requests than a gig can have, all at once.
fn requests_at_once_stay_within_the_limit_of_a_gig(store: Store) {
    let server = Server::configured(store, &[("gigs.max_requests", "10")]);
    let (dj, gig) = free_gig(&server);
    let guests: Vec<Person> = (0..14).map(|_| server.guest_account()).collect();
    let (made_by_guests, refused) = made(at_once(guests.iter().map(|guest| offer(guest, &dj, 0)).collect()));
    assert_eq!(made_by_guests.len(), 9);
    for answer in refused {
        let refused = answer.refused(422, "limit_exceeded");
        assert_eq!(
            (&refused["details"][0]["field"], &refused["details"][0]["limit"]),
            (&json!("dj_id"), &json!(9))
        );
    }
    for id in &made_by_guests {
        dj.answer(*id, "rejected").data(200);
    }
    offer(&guests[0], &dj, 0).send().refused(422, "limit_exceeded");
    let payers: Vec<Person> = (0..3).map(|_| server.payer("20")).collect();
    let (made_by_payers, refused) = made(at_once(payers.iter().map(|payer| offer(payer, &dj, 5)).collect()));
    assert_eq!((made_by_payers.len(), refused.len()), (1, 2));
    for answer in refused {
        assert_eq!(answer.refused(422, "limit_exceeded")["details"][0]["limit"], json!(10));
    }
    assert_eq!(queue(&dj, &gig)["totals"]["open"], 1);
}
