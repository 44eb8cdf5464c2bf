//! Guest accounts: what they can do, how a lost answer is repeated, and how a guest claims one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::gig_scene::{open, status};
use crate::harness::{
    Answer, Client, Database, PASSWORD, Person, SHARED_KEY, Server, Store, at_once, eventually, song,
};

on_every_store!(concurrent_claims_and_refreshes_return_the_same_token);
on_one_store!(
    members_only_operations_tell_a_guest_account_to_claim,
    a_guest_account_changes_its_name_alone,
    nobody_takes_an_address_of_guest_accounts,
    invalid_claims_are_refused,
    operators_find_and_suspend_a_guest_account_and_give_it_no_role,
    gigs_for_members_refuse_guest_accounts,
    guest_accounts_have_at_most_two_thirds_of_a_queue,
    a_dj_rejects_the_pending_requests_of_guest_accounts,
    topups_of_guest_accounts_are_limited,
    guest_accounts_of_an_address_are_limited,
    requests_of_guest_accounts_of_an_address_are_limited,
    repeated_requests_of_guest_accounts_do_not_count_for_their_address,
    claims_of_an_address_are_limited,
    a_claimed_account_keeps_its_money_and_its_requests,
    a_repeated_creation_returns_the_same_session,
    a_repeated_claim_returns_the_same_token,
    a_guest_account_erases_itself_without_a_password,
    a_burst_of_requests_of_guest_accounts_leaves_a_third_of_the_queue,
    an_unused_account_is_deleted_a_day_after_its_last_use,
    paid_and_old_accounts_request_while_new_ones_use_up_the_requests_of_their_address,
);

const KEY: &str = "8d5c1c54a1b24bd7b1a0c2a9b7e4f6d0";

fn create(client: &Client, key: &str) -> Answer {
    client.call("POST", "/auth/guest").header("Idempotency-Key", key).json(&json!({})).send()
}

fn claim(guest: &Person, email: &str, password: &str) -> Answer {
    guest.post("/auth/claim", &json!({"email": email, "password": password}))
}

fn refresh(client: &Client, token: &str) -> Answer {
    client.post("/auth/refresh", &json!({"refresh_token": token}))
}

fn available(person: &Person) -> String {
    person.get("/wallet").raw("/data/wallet/available").to_owned()
}

fn a_claimed_account_keeps_its_money_and_its_requests(store: Store) {
    let server = Server::start(store);
    let (client, dj, guest) = (server.client(), server.dj(), server.guest_account());
    assert_eq!(guest.email, format!("guest-{}@guest.invalid", guest.id));
    guest.topup("12.50");
    let request = guest.request_song(&dj);
    let data = claim(&guest, "Mia@example.com", PASSWORD).data(200);
    let (user, member) = (&data["user"], Person::signed_in(&client, &data));
    assert_eq!((&user["name"], &user["email"]), (&json!("Mia"), &json!("Mia@example.com")));
    assert_eq!((member.id, available(&member).as_str()), (guest.id, "7.50"));
    // Issued tokens are a member's at once, and the refresh token of the guest account is none any more.
    for token in [&guest, &member] {
        token.get("/withdrawals").data(200);
    }
    refresh(&client, &guest.refresh_token).refused(401, "invalid_refresh_token");
    refresh(&client, &member.refresh_token).data(200);
    let logged_in = client.login("mia@example.com");
    assert_eq!(logged_in.ids("/music/user/requests", "id"), [request]);
    dj.answer(request, "played").data(200);
}

fn a_repeated_creation_returns_the_same_session(store: Store) {
    let server = Server::start(store);
    let client = server.client();
    let answers: Vec<Answer> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| create(&client, KEY))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let people: Vec<Person> =
        answers.iter().map(|answer| Person::signed_in(&client, &answer.data(201))).collect();
    for person in &people {
        assert_eq!((person.id, &person.refresh_token), (people[0].id, &people[0].refresh_token));
        person.get("/wallet").data(200);
    }
    assert_ne!(create(&client, &KEY.replace('8', "9")).data(201)["user"]["id"], json!(people[0].id));
    assert_ne!(server.guest_account().id, people[0].id);
    create(&client, "123456789012345678901").refused(400, "bad_request");
    refresh(&client, &people[0].refresh_token).data(200);
    create(&client, KEY).refused(422, "idempotency_key_reused");
}

fn concurrent_claims_and_refreshes_return_the_same_token(store: Store) {
    let server = Server::start(store);
    let client = server.client();
    for round in 0..10 {
        let guest = server.guest_account();
        let email = format!("mia-{round}@example.com");
        let answers: Vec<Answer> = thread::scope(|scope| {
            let refreshing = scope.spawn(|| refresh(&client, &guest.refresh_token));
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| claim(&guest, &email, PASSWORD))).collect();
            assert!(matches!(refreshing.join().unwrap().status, 200 | 401));
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let tokens: BTreeSet<String> = answers
            .iter()
            .map(|answer| Person::signed_in(&client, &answer.data(200)).refresh_token)
            .collect();
        assert_eq!(tokens.len(), 1, "{tokens:?}");
    }
}

fn a_repeated_claim_returns_the_same_token(store: Store) {
    let server = Server::start(store);
    let (client, guest) = (server.client(), server.guest_account());
    let claimed = Person::signed_in(&client, &claim(&guest, "mia@example.com", PASSWORD).data(200));
    let again = Person::signed_in(&client, &claim(&guest, "MIA@example.com", PASSWORD).data(200));
    assert_eq!((again.id, &again.refresh_token), (guest.id, &claimed.refresh_token));
    claim(&guest, "mia@example.com", "another password").refused(409, "conflict");
    claim(&guest, "other@example.com", PASSWORD).refused(409, "conflict");
    refresh(&client, &claimed.refresh_token).data(200);
    claim(&guest, "mia@example.com", PASSWORD).refused(409, "conflict");
    claim(&server.guest(), "another@example.com", PASSWORD).refused(409, "conflict");
}

fn a_guest_account_erases_itself_without_a_password(store: Store) {
    let server = Server::start(store);
    let (guest, member) = (server.guest_account(), server.guest());
    let erase = |person: &Person| person.delete("/user");
    assert_eq!(
        member.delete("/user").invalid(&["password"])["password"],
        json!(["The password field is required."])
    );
    guest.topup("5");
    let refused = erase(&guest);
    refused.refused(409, "wallet_not_empty");
    assert!(refused.json()["message"].as_str().unwrap().contains("claim the account"), "{refused}");
    let dj = server.dj();
    let request = guest.request_song(&dj);
    dj.answer(request, "played").data(200);
    assert!(guest.get("/user/export").json()["data"]["requests_made"][0]["id"] == json!(request));
    erase(&guest).data(200);
    guest.get("/wallet").refused(401, "session_ended");
}

fn members_only_operations_tell_a_guest_account_to_claim(store: Store) {
    let server = Server::start(store);
    let guest = server.guest_account();
    guest.topup("20");
    let withdrawal = json!({"amount": 5, "currency": "BTC", "wallet_address": "x"});
    for (method, path, body) in [
        ("POST", "/withdrawal/crypto", withdrawal),
        ("GET", "/withdrawals", json!({})),
        ("GET", "/withdrawals/1", json!({})),
        ("POST", "/withdrawals/1/cancel", json!({})),
        ("POST", "/auth/password", json!({})),
        ("POST", "/auth/email/code", json!({})),
        ("POST", "/auth/tokens", json!({})),
        ("POST", "/webhook-endpoints", json!({})),
        ("POST", "/gigs", json!({"title": "Mine"})),
        ("GET", "/music/dj/requests", json!({})),
    ] {
        let call = guest.call(method, path);
        let answer = if method == "GET" { call.send() } else { call.json(&body).send() };
        answer.refused(403, "claim_required");
    }
    assert_eq!(
        guest.get("/withdrawals").json()["message"],
        "A guest account cannot do this (create, read and cancel withdrawals). Add an e-mail address and a password to \
         it first."
    );
    guest.get("/operator/users").refused(403, "insufficient_scope");
    for path in [
        "/user/personal-info",
        "/wallet",
        "/wallet/topups",
        "/music/user/requests",
        "/auth/sessions",
        "/events",
    ] {
        guest.get(path).data(200);
    }
}

fn a_guest_account_changes_its_name_alone(store: Store) {
    let server = Server::start(store);
    let guest = server.guest_account();
    let change = |body: Value| guest.patch("/user/personal-info", &body);
    assert_eq!(change(json!({"name": "Mia B."})).data(200)["user"]["name"], "Mia B.");
    for body in [
        json!({"phone": "+4930123456"}),
        json!({"name": "X", "city": "Berlin"}),
        json!({"is_dj": true}),
        json!({"online": 1}),
    ] {
        change(body).refused(403, "claim_required");
    }
    assert_eq!(guest.get("/user/personal-info").data(200)["user"]["name"], "Mia B.");
}

fn nobody_takes_an_address_of_guest_accounts(store: Store) {
    let server = Server::start(store);
    let (client, guest, member) = (server.client(), server.guest_account(), server.guest());
    let taken = "guest-99@Guest.Invalid";
    let registration = json!({"name": "Eve", "email": taken, "password": PASSWORD});
    client.post("/auth/register", &registration).invalid(&["email"]);
    claim(&guest, taken, PASSWORD).invalid(&["email"]);
    member.post("/auth/email/change", &json!({"email": taken, "password": PASSWORD})).invalid(&["email"]);
    for email in [guest.email.as_str(), &format!("guest-{}", guest.id)] {
        for password in ["!", "", PASSWORD] {
            let login = client.post("/auth/login", &json!({"email": email, "password": password}));
            assert!(matches!(login.status, 401 | 422), "{login}");
        }
    }
}

fn invalid_claims_are_refused(store: Store) {
    let server = Server::configured(store, &[("auth.breached_passwords", "refuse")]);
    let (guest, member) = (server.guest_account(), server.guest());
    guest.post("/auth/claim", &json!({})).invalid(&["email", "password"]);
    guest
        .post("/auth/claim", &json!({"email": "mia", "password": "short", "phone": "1"}))
        .invalid(&["email", "password", "phone"]);
    let errors = claim(&guest, &member.email.to_uppercase(), PASSWORD).invalid(&["email"]);
    assert_eq!(errors["email"], json!(["The email has already been taken."]));
    claim(&guest, "mia@example.com", "iloveyou").invalid(&["password"]);
    server.client().post("/auth/claim", &json!({})).refused(401, "unauthenticated");
    assert_eq!(guest.get("/user/personal-info").data(200)["user"]["email"], json!(guest.email));
}

fn operators_find_and_suspend_a_guest_account_and_give_it_no_role(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, member) = (server.guest_account(), server.guest());
    let found = operator.get(&format!("/operator/users?email={}", guest.email)).data(200);
    assert_eq!((&found["data"][0]["id"], &found["data"][0]["role"]), (&json!(guest.id), &json!("guest")));
    let give = |person: &Person, role: &str| {
        let body = json!({"role": role, "reason": "They asked."});
        operator.post(&format!("/operator/users/{}/role", person.id), &body)
    };
    give(&guest, "member").refused(409, "conflict");
    give(&guest, "operator").refused(409, "conflict");
    give(&member, "guest").invalid(&["role"]);
    let reason = json!({"reason": "Chargebacks."});
    operator.post(&format!("/operator/users/{}/suspend", guest.id), &reason).data(200);
    guest.get("/wallet").refused(403, "account_suspended");
    refresh(&server.client(), &guest.refresh_token).refused(403, "account_suspended");
    claim(&guest, "mia@example.com", PASSWORD).refused(403, "account_suspended");
}

fn gigs_for_members_refuse_guest_accounts(store: Store) {
    let server = Server::start(store);
    let (dj, guest, member) = (server.dj(), server.guest_account(), server.payer("20"));
    open(&dj, &json!({"title": "Friday", "members_only": 1}));
    guest.topup("20");
    guest.post("/music/requests", &song(dj.id)).refused(403, "claim_required");
    member.request_song(&dj);
    claim(&guest, "mia@example.com", PASSWORD).data(200);
    guest.request_song(&dj);
}

fn guest_accounts_have_at_most_two_thirds_of_a_queue(store: Store) {
    let server = Server::configured(store, &[("gigs.max_open", "6")]);
    let (dj, member) = (server.dj_at("0", "0"), server.payer("20"));
    open(&dj, &json!({"title": "Friday", "max_open_per_guest": 100}));
    let guests: Vec<Person> = (0..5).map(|_| server.guest_account()).collect();
    member.request_song(&dj);
    let requests: Vec<i64> = guests.iter().take(4).map(|guest| guest.request_song(&dj)).collect();
    let refused = guests[4].post("/music/requests", &song(dj.id));
    refused.refused(422, "limit_exceeded");
    let message = refused.json()["errors"]["dj_id"][0].as_str().unwrap().to_owned();
    assert!(message.starts_with("Requests that count as guests' can have 4 places"), "{message}");
    member.request_song(&dj);
    member.post("/music/requests", &song(dj.id)).refused(422, "limit_exceeded");
    dj.answer(requests[0], "rejected").data(200);
    guests[4].request_song(&dj);
}

/// Attack API6: keeping paying guests out of a queue by free requests of many guest accounts at once, on all servers.
fn a_burst_of_requests_of_guest_accounts_leaves_a_third_of_the_queue(store: Store) {
    let keys = [("gigs.max_open", "9")];
    let servers = match store {
        Store::Memory => vec![Server::configured(store, &keys)],
        _ => Server::as_many_as_may(&Arc::new(Database::of(store)), &keys),
    };
    let dj = servers[0].dj_at("0", "0");
    open(&dj, &json!({"title": "Friday"}));
    let guests: Vec<Person> = servers.iter().cycle().take(16).map(Server::guest_account).collect();
    let ask = |guest: &Person| guest.call("POST", "/music/requests").json(&song(dj.id));
    let answers = at_once(guests.iter().flat_map(|guest| [ask(guest), ask(guest)]).collect());
    let (made, refused): (Vec<Answer>, Vec<Answer>) =
        answers.into_iter().partition(|answer| answer.status == 201);
    assert_eq!(made.len(), 6);
    for answer in refused {
        answer.refused(422, "limit_exceeded");
    }
    let member = servers[0].payer("20");
    for _ in 0..3 {
        member.request_song(&dj);
    }
    member.post("/music/requests", &song(dj.id)).refused(422, "limit_exceeded");
}

fn a_dj_rejects_the_pending_requests_of_guest_accounts(store: Store) {
    let server = Server::start(store);
    let (dj, member, guest, other) = (server.dj(), server.payer("20"), server.guest_account(), server.dj());
    let gig = open(&dj, &json!({"title": "Friday"}));
    let path = format!("/gigs/{}/reject-guests", gig["id"]);
    guest.topup("30");
    let (accepted, pending, kept) =
        (guest.request_song(&dj), guest.request_song(&dj), member.request_song(&dj));
    dj.answer(accepted, "accepted").data(200);
    for minutes in [json!(0), json!(721), json!("x"), json!(null)] {
        dj.post(&path, &json!({"younger_than_minutes": minutes})).invalid(&["younger_than_minutes"]);
    }
    let all = json!({"younger_than_minutes": 720});
    other.post(&path, &all).refused(404, "not_found");
    member.post(&path, &all).refused(404, "not_found");
    guest.post(&path, &all).refused(403, "claim_required");
    assert_eq!(dj.post(&path, &all).data(202)["matching"], 1);
    eventually("it is rejected", || (status(&guest, pending) == "rejected").then_some(()));
    assert_eq!(
        (status(&guest, accepted), status(&member, kept)),
        ("accepted".to_owned(), "pending".to_owned())
    );
    assert_eq!(available(&guest), "25.00");
    assert_eq!(dj.post(&path, &all).data(202)["matching"], 0);
}

fn topups_of_guest_accounts_are_limited(store: Store) {
    let limits = [("topups.guest_max_balance", "30"), ("topups.guest_max_per_24h", "50")];
    let server = Server::configured(store, &limits);
    let (dj, guest) = (server.dj_at("25", "25"), server.guest_account());
    let refused = |amount: &str| {
        let answer = guest.call("POST", "/wallet/topups").text(&format!(r#"{{"amount": {amount}}}"#)).send();
        answer.refused(422, "limit_exceeded");
        answer.json()["errors"]["amount"][0].as_str().unwrap().to_owned()
    };
    guest.topup("30");
    assert!(refused("0.01").contains("at most 30.00"));
    // Held money counts, too.
    let request = guest.request_song(&dj);
    assert!(refused("0.01").contains("at most 30.00"));
    dj.answer(request, "played").data(200);
    assert!(refused("20.01").contains("at most 50.00 within 24 hours"));
    guest.topup("20");
    server.payer("1000");
    claim(&guest, "mia@example.com", PASSWORD).data(200);
    guest.topup("1000");
}

fn guest_accounts_of_an_address_are_limited(store: Store) {
    let server =
        Server::configured(store, &[("rate_limits.enabled", "true"), ("rate_limits.guests_per_minute", "2")]);
    let client = server.client();
    for _ in 0..2 {
        server.guest_account();
    }
    client.post("/auth/guest", &json!({})).refused(429, "rate_limited");
}

fn claims_of_an_address_are_limited(store: Store) {
    let keys = [("rate_limits.enabled", "true"), ("rate_limits.registrations_per_minute", "2")];
    let server = Server::configured(store, &keys);
    let guests: Vec<Person> = (0..3).map(|_| server.guest_account()).collect();
    claim(&guests[0], "one@example.com", PASSWORD).data(200);
    claim(&guests[1], "two@example.com", PASSWORD).data(200);
    claim(&guests[2], "three@example.com", PASSWORD).refused(429, "rate_limited");
}

fn requests_of_guest_accounts_of_an_address_are_limited(store: Store) {
    let keys = [("rate_limits.enabled", "true"), ("rate_limits.guest_requests_per_minute", "2")];
    let server = Server::configured(store, &keys);
    let (dj, member) = (server.dj_at("0", "0"), server.guest());
    for _ in 0..2 {
        let guest = server.guest_account();
        guest.post("/music/requests", &json!({"dj_id": dj.id})).invalid(&[
            "song_title",
            "artist_name",
            "artist_type",
        ]);
        guest.request_song(&dj);
    }
    let refused = server.guest_account().post("/music/requests", &song(dj.id));
    refused.refused(429, "rate_limited");
    member.request_song(&dj);
}

/// Attack API4: using up the requests of an address with new accounts.
fn paid_and_old_accounts_request_while_new_ones_use_up_the_requests_of_their_address(store: Store) {
    let keys = [("rate_limits.enabled", "true"), ("rate_limits.guest_requests_per_minute", "2")];
    let server = Server::configured(store, &keys);
    let (dj, database) = (server.dj_at("0", "0"), server.database().unwrap());
    let (paid, old) = (server.guest_account(), server.guest_account());
    paid.topup("5");
    let shift = database.sql("interval '16 minutes'", "960000000");
    database.execute(&format!("UPDATE users SET created_at = created_at - {shift} WHERE id = {}", old.id));
    for _ in 0..2 {
        server.guest_account().request_song(&dj);
    }
    paid.request_song(&dj);
    for _ in 0..2 {
        old.request_song(&dj);
    }
    old.post("/music/requests", &song(dj.id)).refused(429, "rate_limited");
}

/// Attack API4: using up the requests of an address by repeating one.
fn repeated_requests_of_guest_accounts_do_not_count_for_their_address(store: Store) {
    let keys = [("rate_limits.enabled", "true"), ("rate_limits.guest_requests_per_minute", "2")];
    let server = Server::configured(store, &keys);
    let (dj, guest) = (server.dj_at("0", "0"), server.guest_account());
    let ask = || guest.call("POST", "/music/requests").key("one").json(&song(dj.id)).send();
    let first = ask().data(201);
    for _ in 0..3 {
        assert_eq!(ask().data(201), first);
    }
    server.guest_account().request_song(&dj);
    server.guest_account().post("/music/requests", &song(dj.id)).refused(429, "rate_limited");
}

fn an_unused_account_is_deleted_a_day_after_its_last_use(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[SHARED_KEY]);
    let (unused, used, recent) = (server.guest_account(), server.guest_account(), server.guest_account());
    used.topup("5");
    drop(server);
    let day = database.sql("interval '25 hours'", "90000000000");
    let old = format!("id <> {} AND role = 'guest'", recent.id);
    database.execute(&format!("UPDATE users SET created_at = created_at - {day} WHERE {old}"));
    database
        .execute(&format!("UPDATE sessions SET used_at = used_at - {day} WHERE user_id <> {}", recent.id));
    let server = Server::on(&database, &[SHARED_KEY]);
    eventually("the log says it", || {
        server.log().contains("unused guest accounts were deleted").then_some(())
    });
    let client = server.client();
    refresh(&client, &unused.refresh_token).refused(401, "invalid_refresh_token");
    for kept in [used, recent] {
        refresh(&client, &kept.refresh_token).data(200);
    }
}

#[test]
fn a_claim_takes_effect_on_other_servers_within_two_seconds() {
    let database = Arc::new(Database::postgres());
    let servers = [Server::on(&database, &[SHARED_KEY]), Server::on(&database, &[SHARED_KEY])];
    let here = servers[0].guest_account();
    let there = here.moved_to(&servers[1].client());
    there.get("/withdrawals").refused(403, "claim_required");
    claim(&here, "mia@example.com", PASSWORD).data(200);
    let claimed = Instant::now();
    here.get("/withdrawals").data(200);
    loop {
        let begun = Instant::now();
        let answer = there.get("/withdrawals");
        if answer.status == 200 {
            break;
        }
        answer.refused(403, "claim_required");
        assert!(begun.duration_since(claimed) < Duration::from_secs(2), "the token is still a guest's");
    }
}

#[test]
fn guest_accounts_wait_for_a_finalized_upgrade() {
    let database = Arc::new(Database::postgres());
    let server = Server::on(&database, &[]);
    drop(server);
    database.rows("UPDATE deployment SET feature_level = 1");
    let server = Server::on(&database, &[]);
    let client = server.client();
    client.post("/auth/guest", &json!({})).refused(503, "unavailable");
    database.rows("UPDATE deployment SET feature_level = 2");
    eventually("the server knows", || {
        let answer = client.post("/auth/guest", &json!({}));
        (answer.status == 201).then_some(())
    });
}
