//! The live part of the booth.

#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../examples/gallery/samples/mod.rs"]
mod samples;

use cuepoint_domain::application::queries::ShownQueue;
use cuepoint_domain::gig::GigStatus;
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::RequestState;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_pages::booth::{BoothAnswer, BoothOutcome, QueuePart};
use cuepoint_pages::forms::Keys;
use cuepoint_pages::frame::{Frame, RenderedPart};
use cuepoint_pages::language::Language;
use samples::{booth, now, site};
use time::Duration;

fn part(queue: &ShownQueue, keys: &str, at: Timestamp) -> RenderedPart {
    let site = site();
    let frame = Frame::new(&site, Language::English, at);
    QueuePart { frame: &frame, queue, keys: Keys::new(keys) }.render()
}

#[test]
fn neither_keys_nor_the_passing_of_time_change_the_digest() {
    let queue = booth::queue(5, 2, GigStatus::Open);
    let first = part(&queue, "q7Zr1mX0c3Vb5Nk8Ls2Dt4", now());
    let later = part(&queue, "w8As2nY1d4Wc6Ol9Mt3Eu5", now().plus(Duration::minutes(7)));
    assert_eq!(first.digest, later.digest);
    assert_ne!(first.html, later.html);
    let cards = |html: &str| -> Vec<String> {
        let digests = html.split("<li data-digest=\"").skip(1);
        digests.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    assert_eq!(cards(&first.html).len(), 5);
    assert_eq!(cards(&first.html), cards(&later.html), "nor the digests of cards");
}

#[test]
fn the_rejection_of_guest_accounts_changes_with_their_requests_alone() {
    let mut queue = booth::queue(5, 2, GigStatus::Open);
    queue.waiting.iter_mut().for_each(|queued| queued.request.counts_as_guest = true);
    let digest = |queue: &ShownQueue, seconds| {
        part(queue, "q7Zr1mX0c3Vb5Nk8Ls2Dt4", now().plus(Duration::seconds(seconds))).digest
    };
    let first = digest(&queue, 0);
    assert_eq!(digest(&queue, 30), first);
    queue.waiting[3].request.counts_as_guest = false;
    assert_ne!(digest(&queue, 0), first);
}

#[test]
fn a_change_of_the_queue_changes_the_digest() {
    let queue = booth::queue(5, 2, GigStatus::Open);
    let digest = |queue: &ShownQueue| part(queue, "q7Zr1mX0c3Vb5Nk8Ls2Dt4", now()).digest;
    let mut risky = queue.clone();
    risky.waiting[3].is_at_risk = true;
    let mut earned = queue.clone();
    earned.totals.earned = Money::from_minor(1);
    let mut digests =
        [queue, risky, earned, booth::queue(5, 3, GigStatus::Open), booth::queue(5, 2, GigStatus::Paused)]
            .map(|queue| digest(&queue));
    digests.sort();
    assert!(digests.is_sorted_by(|one, next| one < next), "{digests:?}");
}

#[test]
fn every_form_of_the_booth_has_a_key_of_its_own() {
    let html = part(&booth::queue(8, 3, GigStatus::Open), "q7Zr1mX0c3Vb5Nk8Ls2Dt4", now()).html;
    let forms = html.matches("<form ").count();
    let mut keys: Vec<&str> =
        html.split("name=\"key\" value=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(forms > 20 && keys.iter().all(|key| key.len() >= 22));
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), forms);
}

#[test]
fn one_button_answers_all_requests_of_a_song_up_to_the_number_that_one_form_takes() {
    for (requests, label, named) in [(12, "Accept all 12", 12), (101, "Accept the first 100", 100)] {
        let mut queue = booth::queue(requests, 0, GigStatus::Open);
        queue.waiting.iter_mut().for_each(|queued| queued.song = 1);
        let html = part(&queue, "q7Zr1mX0c3Vb5Nk8Ls2Dt4", now()).html;
        assert!(html.contains(&format!(">{label}</button>")), "{html}");
        assert!(html.contains(&format!("{requests} requests for this song")), "{html}");
        let ids = html.split("name=\"ids\" value=\"").skip(1).filter_map(|rest| rest.split('"').next());
        assert_eq!(ids.map(|ids| ids.split(',').count()).max(), Some(named));
    }
}

#[test]
fn the_end_of_a_gig_says_what_it_does_with_numbers() {
    let html = part(&booth::queue(2, 0, GigStatus::Open), "", now()).html;
    let sentence = "2 open requests are rejected, 44.00\u{a0}EUR is returned. 212.00\u{a0}EUR stays yours.";
    assert!(html.contains(sentence), "{html}");
}

#[test]
fn a_tap_that_came_too_late_says_why() {
    let site = site();
    let frame = Frame::new(&site, Language::German, now());
    let state = RequestState::Expired { at: now().minus(Duration::minutes(5)) };
    let request = booth::request(3, ("Blue Monday", "New Order"), 40, state);
    let answer = BoothAnswer { frame: &frame, outcome: BoothOutcome::TooLate { request: &request } };
    assert!(!answer.is_done());
    let (element, rest) =
        ("<p>Um <time datetime=", " abgelaufen, 12,50\u{a0}EUR gehen an den Gast zurück.</p>");
    let html = answer.render();
    assert!(html.starts_with(element) && html.ends_with(&format!("</time>{rest}")), "{html}");
    assert!(answer.text().ends_with(&format!(" UTC{rest}").replace("</p>", "")), "{}", answer.text());
}
