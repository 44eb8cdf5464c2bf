//! Views write the same bytes as serde's general writer, whatever they show.

#![allow(clippy::unwrap_used, reason = "a failure fails the test")]

use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::ids::{OperationId, RequestId, UserId, WithdrawalId};
use cuepoint_domain::ledger::{Balance, ChainHash, Entry, EntryKind};
use cuepoint_domain::money::{Amount, Currency, Money};
use cuepoint_domain::music_request::{MusicRequest, RequestState};
use cuepoint_domain::text::{Email, Line, MusicUrl};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{ArtistType, Coordinates, DjProfile, Kilometres, Rating, User};
use cuepoint_domain::withdrawal::{Clearing, Withdrawal, WithdrawalState};
use cuepoint_views::people::{DjView, UserData, UserView};
use cuepoint_views::request::MusicRequestView;
use cuepoint_views::view;
use cuepoint_views::wallet::{WalletEntryView, WalletView};
use cuepoint_views::wire::money::Number;
use cuepoint_views::wire::time::WireTimestamp;
use cuepoint_views::wire::write_json::WriteJson;
use cuepoint_views::withdrawal::WithdrawalView;
use proptest::prelude::*;
use serde::Serialize;

view! {
    /// An object within another.
    struct InnerView as Inner of (number: i64, flag: bool) {
        /// A number.
        number: i64 = number,
        /// A truth value.
        flag: bool = flag,
        /// A keyword as a name.
        r#type: bool = flag,
    }
}

view! {
    /// Every form of field.
    struct FormsView<'t> as Forms of (
        text: &'t str,
        texts: &[String],
        number: i64,
        maybe: Option<f64>,
        money: Number,
        at: Option<Timestamp>,
    ) {
        /// Left out if there is none, even at the start.
        #[serde(skip_serializing_if = "Option::is_none")]
        first: Option<f64> = maybe,
        /// Under another name.
        #[serde(rename = "another name")]
        kind: &'t str = text,
        /// Among the others.
        #[serde(flatten)]
        inner: InnerView = InnerView::new(number, maybe.is_some()),
        /// In an object.
        nested: InnerView = InnerView::new(number, maybe.is_none()),
        /// In a list.
        list: Vec<InnerView> = texts.iter().map(|_| InnerView::new(number, true)).collect(),
        /// Texts.
        texts: Vec<String> = texts.to_vec(),
        /// Maybe a text.
        maybe_text: Option<String> = texts.first().cloned(),
        /// Maybe a fraction.
        fraction: Option<f64> = maybe,
        /// Money.
        #[decimal()]
        money: Number = money,
        /// Maybe a time.
        #[timestamp_or_null()]
        at: Option<WireTimestamp> = at.map(WireTimestamp),
    }
}

fn check<T: Serialize + WriteJson>(view: &T) {
    let mut written = b"before".to_vec();
    view.write_json(&mut written);
    let expected = [b"before".to_vec(), serde_json::to_vec(view).unwrap()].concat();
    assert_eq!(String::from_utf8(written).unwrap(), String::from_utf8(expected).unwrap());
}

/// Texts with much of what JSON escapes, and with what it does not.
fn texts() -> impl Strategy<Value = String> {
    let special = "[\"\\\\/\u{0}-\u{1f}\u{7f}\u{80}\u{2028}\u{feff}é漢🎵]{0,12}";
    prop_oneof![any::<String>(), "[ -~]{0,40}", special]
}

fn lines() -> impl Strategy<Value = Line> {
    texts().prop_map(Line::from_stored)
}

fn moneys() -> impl Strategy<Value = Money> {
    let any = prop_oneof![any::<i128>(), any::<i64>().prop_map(i128::from), Just(0), -200_i128..=200];
    any.prop_map(Money::from_minor)
}

fn times() -> impl Strategy<Value = Timestamp> {
    let years = -62_167_219_200_000_000_i64..=253_402_300_799_999_999;
    prop_oneof![years, Just(0), Just(-1), Just(951_782_400_000_000)].prop_map(Timestamp::from_unix_micros)
}

fn currencies() -> impl Strategy<Value = Currency> {
    (0_u8..=8).prop_map(|scale| Currency::new("USD", scale).unwrap())
}

fn user(id: i64) -> UserId {
    UserId::new(id).unwrap()
}

proptest! {
    #[test]
    fn music_requests_are_written_as_serde_writes_them(
        currency in currencies(), id in 1_i64.., title in lines(), artist in lines(), url in texts(),
        fee in moneys(), created_at in times(), at in times(),
    ) {
        let request = MusicRequest {
            id: RequestId::new(id).unwrap(),
            requester: user(id),
            dj: user(1),
            song_title: title,
            artist_name: artist,
            artist_type: ArtistType::Popular,
            music_url: MusicUrl::from_stored(url),
            fee,
            gig: None,
            counts_as_guest: false,
            state: RequestState::Rejected { at, displaced: false },
            created_at,
        };
        check(&vec![MusicRequestView::new(&request, &currency); 2]);
    }

    #[test]
    fn users_and_djs_are_written_as_serde_writes_them(
        currency in currencies(), name in lines(), email in texts(), phone in prop::option::of(lines()),
        place in prop::option::of((lines(), -90.0..=90.0, -180.0..=180.0, 0.0..1.0e9)),
        dj in prop::option::of((any::<bool>(), moneys(), moneys(), any::<i64>(), 0_i64..=5_000, 0_i64..=1_000)),
        available in moneys(),
    ) {
        let email = Email::from_stored(email);
        let mut person = User::registered(user(7), name, email, phone, dj.is_some(), Timestamp::EPOCH);
        person.dj = dj.map(|(online, fee_upcoming_artist, fee_popular_song, played, stars, count)| DjProfile {
            online, fee_upcoming_artist, fee_popular_song, played, rating: Rating { stars, count },
        });
        if let Some((line, latitude, longitude, radius)) = place {
            person.city = Some(line.clone());
            person.country = Some(line);
            person.coordinates = Coordinates::new(latitude, longitude);
            person.radius = Kilometres::new(radius);
        }
        check(&UserData { user: UserView::new(&person, available, &currency) });
        check(&DjView::new(&person, &currency));
    }

    #[test]
    fn withdrawals_are_written_as_serde_writes_them(
        currency in currencies(), amount in 1_i128.., address in lines(), code in lines(),
        txid in prop::option::of(lines()), created_at in times(), updated_at in times(),
    ) {
        let withdrawal = Withdrawal {
            id: WithdrawalId::new(5).unwrap(),
            opening: Some(OperationId(1)),
            user: user(7),
            amount: Amount::new(Money::from_minor(amount)).unwrap(),
            wallet_address: address,
            currency: code.clone(),
            network: code,
            state: txid.map_or(WithdrawalState::Pending, |txid| WithdrawalState::Completed { txid }),
            approvals: Vec::new(),
            created_at,
            updated_at,
        };
        check(&WithdrawalView::new(&withdrawal, &currency));
    }

    #[test]
    fn wallets_and_entries_are_written_as_serde_writes_them(
        currency in currencies(), available in moneys(), held in moneys(), owed in moneys(), at in times(),
    ) {
        let balance = Balance { available, held, owed };
        check(&WalletView::new(balance, Clearing { amount: balance.available, until: Some(at) }, &currency));
        let entry = Entry {
            wallet: user(8),
            seq: 2,
            operation: OperationId(1),
            kind: EntryKind::Reversal,
            reference: EntityRef::MusicRequest(RequestId::new(42).unwrap()),
            change: balance,
            after: balance,
            at,
            previous: ChainHash::START,
            hash: ChainHash::START,
        };
        check(&WalletEntryView::new(&entry, &currency));
    }

    #[test]
    fn every_form_of_field_is_written_as_serde_writes_it(
        text in texts(), texts in prop::collection::vec(texts(), 0..=3), number: i64,
        maybe in prop::option::of(any::<f64>()), hundredths: i64, at in prop::option::of(times()),
    ) {
        check(&FormsView::new(&text, &texts, number, maybe, Number::hundredths(hundredths), at));
    }
}

#[test]
fn every_ascii_character_is_written_as_serde_writes_it() {
    for byte in 0..=0x7f_u8 {
        let alone = char::from(byte).to_string();
        check(&alone);
        check(&format!("a long text before and {alone} a long text behind"));
    }
}

#[test]
fn nan_and_infinite_numbers_are_written_as_null() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        check(&vec![Some(number), None]);
    }
}
