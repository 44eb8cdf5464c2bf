//! Boards: what everybody, and what the guests of a gig can see of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::gig_scene::{end, open};
use crate::harness::{Client, Database, EventStream, Person, Server, Store, keys, song};

on_one_store!(
    a_board_shows_no_guest_and_no_title_that_was_not_accepted,
    a_board_is_ended_between_gigs_and_an_earlier_code_is_not_found,
    a_suspension_ends_the_board_and_an_erasure_removes_it,
    unknown_codes_are_limited_for_an_address_and_boards_of_open_gigs_stay_readable,
    unknown_codes_of_an_address_do_not_lock_guests_out_of_a_gig_that_has_ended,
    invalid_places_and_offers_are_refused,
    a_stream_of_an_unchanged_board_sends_its_version_every_15_seconds,
    a_stream_ends_when_its_code_is_replaced,
    two_servers_give_a_board_the_same_version,
    guests_see_the_places_of_their_requests_and_offers,
    gigs_near_a_place_are_listed_nearest_first,
    a_stream_signals_every_board_change,
);

/// The time in which a server may show an older board, with a reserve.
const STALE_FOR: Duration = Duration::from_millis(1_050);

fn path(gig: &Value) -> String {
    format!("/boards/{}", gig["code"].as_str().unwrap())
}

/// The board as everybody sees it, once it cannot be an older one.
fn board(client: &Client, gig: &Value) -> Value {
    std::thread::sleep(STALE_FOR);
    client.call("GET", &path(gig)).send().data(200)["board"].clone()
}

fn ask(guest: &Person, dj: &Person, title: &str) -> i64 {
    let mut body = song(dj.id);
    body["song_title"] = json!(title);
    body["message"] = json!("for Grace");
    guest.post("/music/requests", &body).data(201)["id"].as_i64().unwrap()
}

fn a_board_shows_no_guest_and_no_title_that_was_not_accepted(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj_at("5", "10"), server.payer("100"));
    guest.patch("/user/personal-info", &json!({"name": "Zelda"})).data(200);
    let body = json!({"title": "Friday", "venue": "Blue Room", "city": "Berlin", "message": "Hello"});
    let gig = open(&dj, &body);
    let [_, accepted, played] =
        ["Pending title", "Accepted title", "Played title"].map(|title| ask(&guest, &dj, title));
    dj.answer(accepted, "accepted").data(200);
    dj.answer(played, "played").data(200);
    let shown = board(&server.client(), &gig);
    let mut found = keys(&shown);
    found.sort_unstable();
    let expected = [
        "asks_kind",
        "city",
        "code",
        "currency",
        "dj",
        "fee_popular_song",
        "fee_upcoming_artist",
        "last_played",
        "members_only",
        "message",
        "queue_length",
        "queue_order",
        "status",
        "title",
        "up_next",
        "venue",
        "version",
        "wait_minutes",
    ];
    assert_eq!(found, expected);
    let text = shown.to_string();
    for secret in ["Pending title", "Zelda", "for Grace"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert_eq!(
        shown["dj"],
        json!({"id": dj.id, "name": shown["dj"]["name"], "played": 1, "rating": 0, "rating_count": 0})
    );
    assert_eq!(
        shown["up_next"],
        json!([{"position": 2, "song_title": "Accepted title", "artist_name": "New Order"}])
    );
    assert_eq!(shown["last_played"]["song_title"], "Played title");
    assert_eq!((&shown["status"], &shown["queue_length"]), (&json!("open"), &json!(2)));
    assert_eq!((&shown["fee_popular_song"], &shown["wait_minutes"]), (&json!(10.0), &json!(4)));
    let lower = path(&gig).to_lowercase();
    assert_eq!(server.client().call("GET", &lower).send().data(200)["board"]["code"], gig["code"]);
}

fn a_board_is_ended_between_gigs_and_an_earlier_code_is_not_found(store: Store) {
    let server = Server::start(store);
    let (dj, client) = (server.dj(), server.client());
    let gig = open(&dj, &json!({"title": "Friday"}));
    dj.patch("/user/personal-info", &json!({"online": 0})).data(200);
    assert_eq!(board(&client, &gig)["status"], "paused");
    end(&dj, &gig).data(200);
    let ended = board(&client, &gig);
    assert_eq!(
        (&ended["status"], &ended["title"], &ended["up_next"]),
        (&json!("ended"), &json!(null), &json!([]))
    );
    assert_eq!(ended["code"], gig["code"]);
    let next = open(&dj, &json!({"title": "Saturday", "new_code": 1}));
    std::thread::sleep(STALE_FOR);
    client.call("GET", &path(&gig)).send().refused(404, "not_found");
    assert_eq!(board(&client, &next)["title"], "Saturday");
    for code in ["222222", "K7TW3", "K7TW3MM", "AAAAAA", "%F0%9F%8E%A7"] {
        client.call("GET", &format!("/boards/{code}")).send().refused(404, "not_found");
    }
}

fn a_suspension_ends_the_board_and_an_erasure_removes_it(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let dj = server.dj();
    let gig = open(&dj, &json!({"title": "Friday"}));
    operator.post(&format!("/operator/users/{}/suspend", dj.id), &json!({"reason": "a complaint"})).data(200);
    assert_eq!(board(&server.client(), &gig)["status"], "ended");
    operator.post(&format!("/operator/users/{}/restore", dj.id), &json!({"reason": "settled"})).data(200);
    let dj = server.client().login(&dj.email);
    dj.call("DELETE", "/user").json(&json!({"password": crate::harness::PASSWORD})).send().data(200);
    std::thread::sleep(STALE_FOR);
    server.client().call("GET", &path(&gig)).send().refused(404, "not_found");
}

/// Attack API4: guessing the codes of DJs.
fn unknown_codes_are_limited_for_an_address_and_boards_of_open_gigs_stay_readable(store: Store) {
    let keys = [
        ("rate_limits.enabled", "true"),
        ("rate_limits.unknown_codes_per_minute", "5"),
        ("server.trusted_proxies", "127.0.0.1"),
    ];
    let server = Server::configured(store, &keys);
    let (dj, client) = (server.dj(), server.client());
    let gig = open(&dj, &json!({"title": "Friday"}));
    let other = open(&server.dj(), &json!({"title": "Other"}));
    let from = |address: &str, path: &str| client.call("GET", path).header("x-forwarded-for", address).send();
    from("192.0.2.9", &path(&gig)).data(200);
    // An address has ten times the quota of a member.
    for _ in 0..50 {
        from("192.0.2.1", "/boards/222222").refused(404, "not_found");
    }
    from("192.0.2.1", "/boards/222222").refused(429, "rate_limited");
    from("192.0.2.1", "/boards/xxx").refused(429, "rate_limited");
    std::thread::sleep(Duration::from_secs(2));
    // Nobody can lock the guests of a venue out of its board.
    for gig in [&gig, &other] {
        from("192.0.2.1", &path(gig)).data(200);
    }
    from("192.0.2.2", "/boards/222222").refused(404, "not_found");
    // A current code counts in no gig either.
    let between = server.dj();
    let ended = open(&between, &json!({"title": "Over"}));
    end(&between, &ended).data(200);
    let guest = server.guest();
    for _ in 0..7 {
        let mine = guest.call("GET", &format!("{}/mine", path(&ended)));
        mine.header("x-forwarded-for", "192.0.2.3").send().data(200);
    }
    // Guesses of strangers at the same address are not those of a guest with a token.
    let mine = |path: &str| guest.call("GET", path).header("x-forwarded-for", "192.0.2.1").send();
    mine(&format!("{}/mine", path(&ended))).data(200);
    for _ in 0..5 {
        mine("/boards/222222/mine").refused(404, "not_found");
    }
    mine("/boards/222222/mine").refused(429, "rate_limited");
}

/// Attack API4: using up the unknown codes of a venue.
fn unknown_codes_of_an_address_do_not_lock_guests_out_of_a_gig_that_has_ended(store: Store) {
    let keys = [("rate_limits.enabled", "true"), ("rate_limits.unknown_codes_per_minute", "2")];
    let server = Server::configured(store, &keys);
    let (dj, guest, client) = (server.dj(), server.guest_account(), server.client());
    guest.topup("5");
    let gig = open(&dj, &json!({"title": "Friday"}));
    end(&dj, &gig).data(200);
    for _ in 0..20 {
        client.call("GET", "/boards/222222").send().refused(404, "not_found");
    }
    client.call("GET", "/boards/222222").send().refused(429, "rate_limited");
    guest.post(&format!("{}/tips", path(&gig)), &json!({"amount": 1})).data(201);
    guest.get(&format!("{}/mine", path(&gig))).data(200);
    assert_eq!(board(&client, &gig)["status"], "ended");
}

fn guests_see_the_places_of_their_requests_and_offers(store: Store) {
    let server = Server::start(store);
    let dj = server.dj();
    let [ada, ben] = [server.payer("500"), server.payer("500")];
    let gig = open(&dj, &json!({"title": "Friday", "fee_upcoming_artist": 5}));
    let mine = |guest: &Person, query: &str| guest.get(&format!("{}/mine{query}", path(&gig))).data(200);
    assert_eq!(mine(&ada, ""), json!({"requests": [], "offers": []}));
    let [first, second] = ["One", "Two"].map(|title| ask(&ada, &dj, title));
    let other = ask(&ben, &dj, "Three");
    let shown = mine(&ada, "?offers=5.00,25");
    let places: Vec<_> = shown["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| (own["request"]["id"].as_i64().unwrap(), own["place"]["position"].as_i64().unwrap()))
        .collect();
    assert_eq!(places, [(second, 3), (first, 1)]);
    assert_eq!(
        (&shown["requests"][0]["message"], &shown["requests"][0]["stars"]),
        (&json!("for Grace"), &json!(null))
    );
    // A third song of Ada is in round 3, at any fee; Ben's second one shares round 2.
    let offered = |shown: &Value| -> Vec<i64> {
        shown["offers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|offer| offer["place"]["position"].as_i64().unwrap())
            .collect()
    };
    assert_eq!(offered(&shown), [4, 4]);
    assert_eq!(offered(&mine(&ben, "?offers=5,25")), [4, 3]);
    dj.answer(first, "played").data(200);
    ada.post(&format!("/music/requests/{first}/rating"), &json!({"stars": 4})).data(200);
    let shown = mine(&ada, "");
    let played =
        shown["requests"].as_array().unwrap().iter().find(|own| own["request"]["id"] == first).unwrap();
    assert_eq!((&played["place"], &played["stars"]), (&json!(null), &json!(4)));
    assert!(!mine(&ben, "").to_string().contains("One"), "requests of others are not shown");
    end(&dj, &gig).data(200);
    std::thread::sleep(STALE_FOR);
    let after = mine(&ben, "?offers=5");
    assert_eq!((&after["requests"][0]["request"]["id"], &after["offers"]), (&json!(other), &json!([])));
    assert_eq!(mine(&server.guest(), ""), json!({"requests": [], "offers": []}));
    server.client().call("GET", &format!("{}/mine", path(&gig))).send().refused(401, "unauthenticated");
}

fn gigs_near_a_place_are_listed_nearest_first(store: Store) {
    let server = Server::start(store);
    let at = |title: &str, latitude: f64, longitude: f64| {
        let dj = server.dj();
        let gig = open(&dj, &json!({"title": title, "latitude": latitude, "longitude": longitude}));
        (dj, gig)
    };
    let near = at("near", 52.52, 13.41);
    at("far", 52.60, 13.40);
    at("elsewhere", 48.14, 11.58);
    at("west of the line", -16.8, 179.9);
    at("east of it", -16.8, -179.9);
    open(&server.dj(), &json!({"title": "without a place"}));
    let listed = |query: &str| -> Vec<String> {
        let boards =
            server.client().call("GET", &format!("/boards?{query}")).send().data(200)["boards"].clone();
        boards.as_array().unwrap().iter().map(|board| board["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed("near=52.52,13.40"), ["near", "far"]);
    assert_eq!(listed("near=52.52,13.40&within=5"), ["near"]);
    assert_eq!(listed("near=-16.8,179.95"), ["west of the line", "east of it"]);
    assert_eq!(listed("near=0,0&within=200"), [""; 0]);
    let boards = server.client().call("GET", "/boards?near=52.52,13.40").send().data(200);
    assert_eq!(boards["boards"][0]["distance_km"], json!(0.7));
    assert_eq!(
        (&boards["boards"][0]["code"], &boards["boards"][0]["dj"]["id"]),
        (&near.1["code"], &json!(near.0.id))
    );
    end(&near.0, &near.1).data(200);
    assert_eq!(listed("near=52.52,13.40"), ["far"]);
}

fn invalid_places_and_offers_are_refused(store: Store) {
    let server = Server::start(store);
    let gig = open(&server.dj(), &json!({"title": "Friday"}));
    for (query, field) in [
        ("", "near"),
        ("?near=", "near"),
        ("?near=91,0", "near"),
        ("?near=0,181", "near"),
        ("?near=NaN,0", "near"),
        ("?near=1e1,0", "near"),
        ("?near=52.52", "near"),
        ("?near=1,2,3", "near"),
        ("?near=1,2&within=0", "within"),
        ("?near=1,2&within=201", "within"),
        ("?near=1,2&within=x", "within"),
        ("?near=1,2&far=1", "far"),
    ] {
        server.client().call("GET", &format!("/boards{query}")).send().invalid(&[field]);
    }
    let guest = server.guest();
    for offers in ["", "x", "-1", "1,2,3,4,5", "1e9", "1,,2", "0.001", "99999999999999999999"] {
        guest.get(&format!("{}/mine?offers={offers}", path(&gig))).invalid(&["offers"]);
    }
}

/// Opens the stream of a board, and returns the version that it sends first.
fn stream(server: &Server, gig: &Value) -> (EventStream, String) {
    let mut stream = server.guest().stream(&format!("{}/stream", path(gig)), &[]);
    assert!(stream.block().unwrap().starts_with("retry: "));
    let version = change(&mut stream);
    (stream, version)
}

/// The version in the next message.
fn change(stream: &mut EventStream) -> String {
    let block = stream.block().expect("the stream goes on");
    let data = block.strip_prefix("event: changed\ndata: ").unwrap_or_else(|| panic!("{block}"));
    serde_json::from_str::<Value>(data).unwrap()["version"].as_str().unwrap().to_owned()
}

fn a_stream_signals_every_board_change(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj(), server.payer("100"));
    let gig = open(&dj, &json!({"title": "Friday"}));
    let (mut stream, first) = stream(&server, &gig);
    assert_eq!(board(&server.client(), &gig)["version"], first);
    let begin = Instant::now();
    guest.request_song(&dj);
    let second = change(&mut stream);
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert_ne!(second, first);
    assert_eq!(board(&server.client(), &gig)["version"], second);
    dj.patch(&format!("/gigs/{}", gig["id"]), &json!({"message": "Last hour"})).data(200);
    let third = change(&mut stream);
    assert_ne!(third, second);
    end(&dj, &gig).data(200);
    assert_eq!(change(&mut stream), board(&server.client(), &gig)["version"]);
}

fn a_stream_of_an_unchanged_board_sends_its_version_every_15_seconds(store: Store) {
    let server = Server::start(store);
    let gig = open(&server.dj(), &json!({"title": "Friday"}));
    let (mut stream, first) = stream(&server, &gig);
    let begin = Instant::now();
    assert_eq!(change(&mut stream), first);
    assert!((14..17).contains(&begin.elapsed().as_secs()), "{:?}", begin.elapsed());
}

fn a_stream_ends_when_its_code_is_replaced(store: Store) {
    let server = Server::start(store);
    let dj = server.dj();
    let gig = open(&dj, &json!({"title": "Friday"}));
    let (mut stream, _) = stream(&server, &gig);
    end(&dj, &gig).data(200);
    open(&dj, &json!({"title": "Saturday", "new_code": 1}));
    while stream.block().is_some() {}
    server.client().call("GET", &format!("{}/stream", path(&gig))).send().refused(404, "not_found");
}

fn two_servers_give_a_board_the_same_version(_: Store) {
    let database = Arc::new(Database::postgres());
    let servers = [Server::on(&database, &[]), Server::on(&database, &[])];
    let (dj, guest) = (servers[0].dj(), servers[0].payer("100"));
    let gig = open(&dj, &json!({"title": "Friday", "latitude": 52.52, "longitude": 13.405}));
    let (mut stream, _) = stream(&servers[1], &gig);
    let request = guest.request_song(&dj);
    dj.answer(request, "accepted").data(200);
    let versions = servers.each_ref().map(|server| board(&server.client(), &gig)["version"].clone());
    assert_eq!(versions[0], versions[1]);
    let told = change(&mut stream);
    let told = if json!(told) == versions[1] { told } else { change(&mut stream) };
    assert_eq!(json!(told), versions[1], "events of another server are seen");
}
