//! The songs that the page of a gig suggests.

use serde_json::json;

use crate::harness::{Server, Store};

on_one_store!(the_page_of_a_gig_suggests_the_songs_that_its_dj_played);

fn the_page_of_a_gig_suggests_the_songs_that_its_dj_played(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj_at("0", "0"), server.guest());
    let gig = dj.post("/gigs", &json!({"title": "Friday"})).data(201)["gig"].clone();
    let played = guest.request_song(&dj);
    dj.answer(played, "played").data(200);
    let accepted = json!({
        "dj_id": dj.id, "song_title": "Regret", "artist_name": "Orgy", "artist_type": "popular"
    });
    let accepted = guest.post("/music/requests", &accepted).data(201)["id"].as_i64().unwrap();
    dj.answer(accepted, "accepted").data(200);
    let page = server.client().outside("GET", &format!("/g/{}", gig["code"].as_str().unwrap())).send();
    assert_eq!(page.status, 200, "{page}");
    for suggestion in ["<option value=\"Blue Monday\">", "<option value=\"New Order\">"] {
        assert_eq!(page.text.matches(suggestion).count(), 1, "{suggestion}: {page}");
    }
    assert!(!page.text.contains("<option value=\"Regret\">"), "an accepted song is no play: {page}");
}
