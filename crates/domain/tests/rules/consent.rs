//! What a form may hold: the fee that the guest saw, after the questions that apply.

use cuepoint_domain::gig::DjCode;
use cuepoint_domain::gig::consent::{
    Asked, ChosenOffer, Consent, Found, Questions, SentForm, Topic, WantedSong, consent,
};
use cuepoint_domain::gig::song::SongKey;
use cuepoint_domain::gig::song_tonight::SongTonight;
use cuepoint_domain::ids::{GigId, RequestId};
use cuepoint_domain::money::{Currency, Money};
use cuepoint_domain::music_request::{Agreement, OpenRefusal};
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::ArtistType;
use proptest::prelude::*;

fn money(minor: i128) -> Money {
    Money::from_minor(minor)
}

fn usd() -> Currency {
    Currency::new("USD", 2).unwrap()
}

fn request(id: i64) -> RequestId {
    RequestId::new(id).unwrap()
}

fn wanted(code: &str, title: &str, kind: ArtistType) -> WantedSong {
    let song = SongKey::of(&Line::new(title).unwrap(), &Line::new("New Order").unwrap());
    WantedSong { code: DjCode::new(code).unwrap(), gig: GigId::new(7), song, kind }
}

fn blue_monday() -> WantedSong {
    wanted("B2C3D4", "Blue Monday", ArtistType::Popular)
}

/// A song at this price of which nothing else is known.
fn at(price: i128) -> Found {
    Found { price: money(price), tonight: SongTonight::default(), has_open: false }
}

/// A new form that displayed this price.
fn form(displayed: i128) -> SentForm {
    SentForm { displayed: money(displayed), choice: ChosenOffer::Price, asked: None, joins: None }
}

/// The form that asks these questions, as it is sent without a change.
fn answered(questions: Questions) -> SentForm {
    let Questions { asked, choice, .. } = questions;
    SentForm { displayed: asked.fee(), choice, asked: Some(asked), joins: None }
}

#[track_caller]
fn missing(form: &SentForm, found: &Found) -> Questions {
    match consent(form, blue_monday(), found) {
        Consent::Missing(questions) => questions,
        given @ Consent::Given { .. } => panic!("{given:?}"),
    }
}

#[track_caller]
fn given(form: &SentForm, found: &Found) -> Agreement {
    match consent(form, blue_monday(), found) {
        Consent::Given { agreement, .. } => agreement,
        missing @ Consent::Missing(_) => panic!("{missing:?}"),
    }
}

fn topics(questions: &Questions) -> Vec<Topic> {
    Topic::all().filter(|topic| questions.asked.is_about(*topic)).collect()
}

#[test]
fn a_lowered_price_is_honoured_and_a_raised_one_is_asked_about() {
    assert_eq!(given(&form(500), &at(500)), Agreement::AtMost(money(500)));
    let agreed = given(&form(500), &at(200));
    assert_eq!(agreed.fee(money(200)), Ok(money(200)));
    let questions = missing(&form(500), &at(501));
    assert_eq!((topics(&questions), questions.asked.fee()), (vec![Topic::Price], money(501)));
    assert_eq!(given(&answered(questions), &at(501)), Agreement::AtMost(money(501)));
}

#[test]
fn a_form_without_a_displayed_price_is_asked_about_unless_the_song_is_free() {
    assert_eq!(topics(&missing(&form(0), &at(1))), [Topic::Price]);
    assert_eq!(given(&form(0), &at(0)), Agreement::AtMost(Money::ZERO));
}

#[test]
fn a_chosen_amount_is_held_as_it_is_unless_the_price_is_above_it() {
    let chosen = SentForm { choice: ChosenOffer::Amount(money(750)), ..form(500) };
    assert_eq!(given(&chosen, &at(200)), Agreement::Exactly(money(750)));
    assert_eq!(given(&chosen, &at(750)), Agreement::Exactly(money(750)));
    let questions = missing(&chosen, &at(900));
    assert_eq!((topics(&questions), questions.choice), (vec![Topic::Price], ChosenOffer::Price));
    assert_eq!(questions.asked.fee(), money(900));
}

#[test]
fn all_questions_that_apply_are_asked_at_once() {
    let tonight = SongTonight { played_at: Some(Timestamp::EPOCH), accepted: vec![request(4)] };
    let found = Found { price: money(900), tonight, has_open: true };
    let questions = missing(&form(500), &found);
    assert_eq!(topics(&questions), [Topic::Price, Topic::Played, Topic::Accepted, Topic::Own]);
    assert_eq!(questions.played_at, Some(Timestamp::EPOCH));
    assert_eq!(given(&answered(questions), &found), Agreement::AtMost(money(900)));
}

#[test]
fn an_answer_holds_only_for_its_own_questions_its_fee_and_its_song() {
    let played = |price| Found {
        tonight: SongTonight { played_at: Some(Timestamp::EPOCH), accepted: Vec::new() },
        ..at(price)
    };
    let answer = answered(missing(&form(500), &played(500)));
    // A question that came later.
    let both = Found { has_open: true, ..played(500) };
    assert_eq!(topics(&missing(&answer, &both)), [Topic::Played, Topic::Own]);
    // A price that was raised later.
    assert_eq!(topics(&missing(&answer, &played(501))), [Topic::Price, Topic::Played]);
    // A price that was lowered later.
    assert_eq!(given(&answer, &played(200)).fee(money(200)), Ok(money(200)));
    // Another code, gig, song or kind.
    for other in [
        wanted("B2C3D5", "Blue Monday", ArtistType::Popular),
        WantedSong { gig: GigId::new(8), ..blue_monday() },
        wanted("B2C3D4", "Temptation", ArtistType::Popular),
        wanted("B2C3D4", "Blue Monday", ArtistType::Upcoming),
    ] {
        assert!(matches!(consent(&answer, other, &played(500)), Consent::Missing(_)), "{other:?}");
        // Nothing to ask.
        assert!(matches!(consent(&answer, other, &at(500)), Consent::Given { .. }), "{other:?}");
    }
}

#[test]
fn joining_an_accepted_request_answers_that_question_alone() {
    let tonight = SongTonight { played_at: None, accepted: vec![request(4), request(5)] };
    let found = Found { tonight, ..at(500) };
    let joining = |id| SentForm { joins: Some(request(id)), ..form(500) };
    assert_eq!(topics(&missing(&form(500), &found)), [Topic::Accepted]);
    assert_eq!(topics(&missing(&joining(6), &found)), [Topic::Accepted]);
    assert_eq!(given(&joining(5), &found), Agreement::AtMost(money(500)));
    let raised = Found { price: money(600), has_open: true, ..found };
    let questions = missing(&joining(5), &raised);
    assert_eq!(topics(&questions), [Topic::Price, Topic::Own]);
    let answer = SentForm { joins: Some(request(5)), ..answered(questions) };
    assert_eq!(given(&answer, &raised), Agreement::AtMost(money(600)));
}

#[test]
fn a_form_that_is_sent_after_its_payment_has_answered_what_it_joined() {
    let found = Found { tonight: SongTonight { played_at: None, accepted: vec![request(4)] }, ..at(500) };
    let joining = SentForm { joins: Some(request(4)), ..form(500) };
    let Consent::Given { asked, fee, .. } = consent(&joining, blue_monday(), &found) else { panic!() };
    let draft = SentForm { asked: Some(asked), ..form(fee.minor()) };
    assert_eq!(given(&draft, &found), Agreement::AtMost(money(500)));
}

#[test]
fn an_agreement_never_holds_more_or_less_than_agreed() {
    let refused = Err(OpenRefusal::FeeBelowPrice(money(501)));
    assert_eq!(Agreement::AtMost(money(500)).fee(money(501)), refused);
    assert_eq!(Agreement::Exactly(money(500)).fee(money(501)), refused);
    assert_eq!(Agreement::AtMost(money(500)).fee(money(499)), Ok(money(499)));
    assert_eq!(Agreement::Exactly(money(500)).fee(money(499)), Ok(money(500)));
}

#[test]
fn the_text_of_questions_is_read_as_it_was_written_and_nothing_else_is() {
    let tonight = SongTonight { played_at: Some(Timestamp::EPOCH), accepted: vec![request(4)] };
    let largest = usd().largest();
    let found = Found { price: largest, tonight, has_open: true };
    let Questions { asked, .. } = missing(&form(500), &found);
    let text = asked.print(&usd());
    assert_eq!(Asked::read(&text, &usd()), Some(asked));
    let long = "x".repeat(65_536);
    for forged in ["", "price", "5.00", "9.999 0 price", "a 0 price", "5.00 0 price ", "5.00 0 all", &long] {
        assert_eq!(Asked::read(forged, &usd()), None, "{forged:.20}");
    }
}

/// What happens between two taps.
#[derive(Clone, Debug)]
enum Event {
    Price(i128),
    Played(bool),
    Accepted(bool),
    Own(bool),
    /// The guest opens the page anew, and chooses the price or a higher offer.
    Opens {
        offer: Option<i128>,
    },
    /// The guest sends the form that is shown. The price changes before its request is made.
    Sends {
        then: i128,
    },
}

fn event() -> impl Strategy<Value = Event> {
    let price = 0..12_i128;
    prop_oneof![
        price.clone().prop_map(Event::Price),
        any::<bool>().prop_map(Event::Played),
        any::<bool>().prop_map(Event::Accepted),
        any::<bool>().prop_map(Event::Own),
        proptest::option::of(0..6_i128).prop_map(|offer| Event::Opens { offer }),
        price.prop_map(|then| Event::Sends { then }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn the_held_amount_is_never_above_what_the_last_form_displayed(
        events in proptest::collection::vec(event(), 1..24),
    ) {
        let mut found = at(5);
        let (mut shown, mut displayed) = (form(5), money(5));
        for event in events {
            match event {
                Event::Price(price) => found.price = money(price),
                Event::Played(is) => found.tonight.played_at = is.then_some(Timestamp::EPOCH),
                Event::Accepted(is) => found.tonight.accepted = if is { vec![request(4)] } else { Vec::new() },
                Event::Own(is) => found.has_open = is,
                Event::Opens { offer } => {
                    let offer = offer.map(|more| money(found.price.minor() + more));
                    shown = form(found.price.minor());
                    shown.choice = offer.map_or(ChosenOffer::Price, ChosenOffer::Amount);
                    displayed = offer.unwrap_or(found.price);
                }
                Event::Sends { then } => {
                    let consented = consent(&shown, blue_monday(), &found);
                    found.price = money(then);
                    let refused = match consented {
                        Consent::Given { agreement, .. } => match agreement.fee(found.price) {
                            Ok(held) => {
                                prop_assert!(held <= displayed, "{held:?} of {shown:?}");
                                prop_assert!(held >= found.price);
                                None
                            }
                            // The page asks at the price that refused it.
                            Err(_) => Some(consent(&shown, blue_monday(), &found)),
                        },
                        missing @ Consent::Missing(_) => Some(missing),
                    };
                    if let Some(refused) = refused {
                        let Consent::Missing(questions) = refused else {
                            return Err(TestCaseError::fail("a refused price is not asked about"));
                        };
                        displayed = questions.asked.fee();
                        shown = answered(questions);
                    }
                }
            }
        }
    }
}
