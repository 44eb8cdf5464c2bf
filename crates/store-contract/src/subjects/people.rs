//! Users: registration, profiles, logins and the list of DJs.

use std::sync::Arc;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Money;
use cuepoint_domain::operation::plans;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{DjFilter, Erased, FirstOperator, PasswordHash, Profile, Registered, Store};
use cuepoint_domain::text::Email;
use cuepoint_domain::user::{DjChange, Field, Kilometres, Locate, ProfileChange, Role, User};

use crate::harness::scenario::{Scenario, at, at_once, balance, line, money};

promises! { ($) people as people_promises {
    a_registration_creates_a_user_and_a_wallet,
    an_email_is_unique_regardless_of_letter_case,
    concurrent_registrations_create_one_user_per_email,
    the_first_operator_is_created_once,
    a_recorded_operator_excludes_a_first_one,
    changed_profiles_round_trip,
    djs_are_listed_newest_first,
    users_are_listed_newest_first,
    names_are_read_together_and_erased_users_have_none,
}}

/// A registered user reads back unchanged, with an empty wallet; an unregistered one does not exist.
pub async fn a_registration_creates_a_user_and_a_wallet(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    for is_dj in [false, true] {
        let mut user = scenario.stranger(is_dj, at(1)).await;
        user.phone = Some(line("+15550100"));
        user.role = if is_dj { Role::Member } else { Role::Operator };
        scenario.register(&user).await;
        let profile = scenario.store.profile(user.id).await.unwrap();
        assert_eq!(profile, Some(Profile { user, balance: balance(0, 0) }));
    }
    let nobody = scenario.ids.next_user().await.unwrap();
    assert_eq!(scenario.store.profile(nobody).await.unwrap(), None);
}

async fn with_email(scenario: &Scenario, email: &str) -> User {
    User { email: Email::new(email).unwrap(), ..scenario.stranger(true, at(1)).await }
}

/// An e-mail address is unique regardless of letter case, and a second registration leaves no trace.
pub async fn an_email_is_unique_regardless_of_letter_case(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let password = PasswordHash("hash".to_owned());
    for (first, second) in [("Ada@Example.com", "aDA@eXAMPLE.COM"), ("Ünal@example.com", "ünal@example.com")]
    {
        let winner = with_email(&scenario, first).await;
        scenario.register(&winner).await;
        for email in [first, second] {
            let loser = with_email(&scenario, email).await;
            let answer = scenario.store.register(&loser, &password, None).await.unwrap();
            assert_eq!(answer, Registered::EmailTaken, "{email} after {first}");
            assert_eq!(scenario.store.profile(loser.id).await.unwrap(), None);
            assert_eq!(scenario.store.balance(loser.id).await.unwrap(), None);
        }
        assert_eq!(scenario.user(winner.id).await.email.as_str(), first);
    }
    let djs = scenario.store.djs(DjFilter::default(), PageRequest::new(1, 15)).await.unwrap();
    assert_eq!(djs.total, 2);
}

/// Of twenty concurrent registrations of one address, in various letter case, one succeeds.
pub async fn concurrent_registrations_create_one_user_per_email(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let tasks = (0..20).map(|number| {
        let scenario = scenario.clone();
        async move {
            let email = if number % 2 == 0 { "Ada@example.com" } else { "ada@Example.com" };
            let user = with_email(&scenario, email).await;
            let password = PasswordHash(number.to_string());
            let answer = scenario.store.register(&user, &password, None).await.unwrap();
            (user, answer)
        }
    });
    let answers = at_once(tasks).await;
    let (won, lost): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|(_, answer)| *answer == Registered::Done);
    assert_eq!((won.len(), lost.len()), (1, 19));
    let credentials = scenario.store.credentials("ada@example.com").await.unwrap().unwrap();
    assert_eq!(credentials.user, won[0].0.id);
    for (user, _) in lost {
        assert_eq!(scenario.store.profile(user.id).await.unwrap(), None);
    }
}

/// Every field of a profile reads back as it was set, and optional ones can be cleared.
pub async fn changed_profiles_round_trip(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let dj = scenario.dj(100).await;
    let set = |text: &str| Field::Set(Some(line(text)));
    let change = ProfileChange {
        name: Field::Set(line("DJ Ünïcode 🎧")),
        phone: set("+4722000000"),
        city: set("Oslo"),
        state: set("Oslo fylke"),
        country: set("Norway"),
        place: Locate {
            latitude: Field::Set(Some(59.913_868_8)),
            longitude: Field::Set(Some(-0.300_000_000_000_000_04)),
        },
        radius: Field::Set(Some(Kilometres::new(0.1).unwrap())),
        is_dj: Field::Set(true),
        dj: DjChange {
            online: Field::Set(false),
            fee_upcoming_artist: Field::Set(Money::ZERO),
            fee_popular_song: Field::Set(money(100_000_000_000_000)),
        },
    };
    let before = scenario.user(dj).await;
    let expected = cuepoint_domain::user::change_profile(&before, &change, at(5)).unwrap();
    scenario.fresh(plans::change_profile(scenario.by(dj, at(5)), dj, change)).await;
    assert_eq!(scenario.user(dj).await, expected);

    let nothing = Locate { latitude: Field::Set(None), longitude: Field::Set(None) };
    let clear = ProfileChange {
        phone: Field::Set(None),
        city: Field::Set(None),
        state: Field::Set(None),
        country: Field::Set(None),
        place: nothing,
        radius: Field::Set(None),
        ..ProfileChange::default()
    };
    scenario.fresh(plans::change_profile(scenario.by(dj, at(6)), dj, clear)).await;
    let cleared = scenario.user(dj).await;
    assert_eq!(
        (&cleared.phone, &cleared.city, &cleared.state, &cleared.country),
        (&None, &None, &None, &None)
    );
    assert_eq!((cleared.coordinates, cleared.radius), (None, None));
    assert_eq!(cleared.name, expected.name);
}

/// Only DJs are listed, newest first, all of them or those online or offline, in pages.
pub async fn djs_are_listed_newest_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    scenario.guest(0).await;
    let mut djs = Vec::new();
    for seconds in [5, 3, 3, 9, 3] {
        let user = scenario.stranger(true, at(seconds)).await;
        scenario.register(&user).await;
        djs.push(user);
    }
    djs.sort_by_key(|dj| std::cmp::Reverse((dj.created_at, dj.id)));
    for dj in [1, 3] {
        let user = djs[dj].id;
        let online = DjChange { online: Field::Set(true), ..DjChange::default() };
        let change = ProfileChange { dj: online, ..ProfileChange::default() };
        scenario.fresh(plans::change_profile(scenario.by(user, at(10)), user, change)).await;
        djs[dj] = scenario.user(user).await;
    }
    let page = async |online, number, size| {
        let rows = scenario.store.djs(DjFilter { online }, PageRequest::new(number, size)).await.unwrap();
        (rows.rows.iter().map(|dj| dj.id).collect::<Vec<UserId>>(), rows.total)
    };
    let ids = |places: &[usize]| places.iter().map(|place| djs[*place].id).collect::<Vec<UserId>>();
    assert_eq!(page(None, 1, 15).await, (ids(&[0, 1, 2, 3, 4]), 5));
    assert_eq!(page(None, 2, 2).await, (ids(&[2, 3]), 5));
    assert_eq!(page(Some(true), 1, 15).await, (ids(&[1, 3]), 2));
    assert_eq!(page(Some(false), 1, 15).await, (ids(&[0, 2, 4]), 3));
    assert_eq!(page(Some(false), 2, 2).await, (ids(&[4]), 3));
    assert_eq!(page(Some(true), u64::MAX, 100).await, (ids(&[]), 2));
    let rows = scenario.store.djs(DjFilter::default(), PageRequest::new(1, 15)).await.unwrap();
    assert_eq!(rows, Rows { rows: djs.clone(), total: 5 });
}

/// Users are listed newest first, in pages, or by address; erased users are not listed.
pub async fn users_are_listed_newest_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let mut people = Vec::new();
    for (place, seconds) in [5, 3, 3, 9, 3].into_iter().enumerate() {
        let user = scenario.stranger(place % 2 == 0, at(seconds)).await;
        scenario.register(&user).await;
        people.push(user);
    }
    people.sort_by_key(|user| std::cmp::Reverse((user.created_at, user.id)));
    let page = async |email: Option<&str>, number, size| {
        let rows = scenario.store.people(email, PageRequest::new(number, size)).await.unwrap();
        (rows.rows, rows.total)
    };
    assert_eq!(page(None, 1, 15).await, (people.clone(), 5));
    assert_eq!(page(None, 2, 2).await, (people[2..4].to_vec(), 5));
    assert_eq!(page(None, u64::MAX, 100).await, (vec![], 5));
    let ada = with_email(&scenario, "Ada.Lovelace@Example.com").await;
    scenario.register(&ada).await;
    let folded = ada.email.folded();
    assert_eq!(page(Some(&folded), 1, 15).await, (vec![ada.clone()], 1));
    assert_eq!(page(Some(&folded), 2, 15).await, (vec![], 1));
    assert_eq!(page(Some("bob@example.com"), 1, 15).await, (vec![], 0));
    assert_eq!(scenario.erase(ada.id, 20).await, Erased::Done);
    assert_eq!(page(None, 1, 15).await, (people, 5));
    let erased = scenario.user(ada.id).await.email.folded();
    for email in [folded, erased] {
        assert_eq!(page(Some(&email), 1, 15).await, (vec![], 0), "{email}");
    }
}

/// The first operator is created once, also by concurrent attempts, and not again after they are dismissed or
/// erased.
pub async fn the_first_operator_is_created_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let password = || PasswordHash("hash".to_owned());
    let operator = async || User { role: Role::Operator, ..scenario.stranger(false, at(1)).await };
    assert!(!scenario.store.has_first_operator().await.unwrap());
    let taken =
        User { email: Email::new("Op@example.com").unwrap(), ..scenario.stranger(false, at(1)).await };
    scenario.register(&taken).await;
    let second = User { email: Email::new("op@example.com").unwrap(), ..operator().await };
    let refused = scenario.store.register_first_operator(&second, &password()).await.unwrap();
    assert_eq!(refused, FirstOperator::EmailTaken);
    assert!(!scenario.store.has_first_operator().await.unwrap());
    assert_eq!(scenario.user(taken.id).await, taken);

    let mut candidates = Vec::new();
    for _ in 0..10 {
        candidates.push(operator().await);
    }
    let tasks = candidates.clone().into_iter().map(|user| {
        let scenario = scenario.clone();
        async move {
            scenario.store.register_first_operator(&user, &PasswordHash("hash".to_owned())).await.unwrap()
        }
    });
    let answers = at_once(tasks).await;
    assert_eq!(answers.iter().filter(|made| **made == FirstOperator::Done).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|made| **made == FirstOperator::MadeBefore).count(), 9, "{answers:?}");
    assert!(scenario.store.has_first_operator().await.unwrap());
    let made = answers.iter().position(|made| *made == FirstOperator::Done).unwrap();
    let first = candidates[made].clone();
    assert_eq!(
        scenario.store.profile(first.id).await.unwrap(),
        Some(Profile { user: first.clone(), balance: balance(0, 0) })
    );
    let email = first.email.folded();
    assert_eq!(scenario.store.credentials(&email).await.unwrap().map(|known| known.user), Some(first.id));

    scenario.operator().await;
    assert_eq!(scenario.erase(first.id, 2).await, Erased::Done);
    let again = User { email: first.email, ..operator().await };
    let refused = scenario.store.register_first_operator(&again, &password()).await.unwrap();
    assert_eq!(refused, FirstOperator::MadeBefore);
    assert_eq!(scenario.store.credentials(&email).await.unwrap(), None);
}

/// After an operator is recorded, none is registered as the first one. Recording can be repeated.
pub async fn a_recorded_operator_excludes_a_first_one(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    for second in 1..=2 {
        scenario.store.record_first_operator(at(second)).await.unwrap();
        assert!(scenario.store.has_first_operator().await.unwrap());
    }
    let late = User { role: Role::Operator, ..scenario.stranger(false, at(3)).await };
    let refused =
        scenario.store.register_first_operator(&late, &PasswordHash("hash".to_owned())).await.unwrap();
    assert_eq!(refused, FirstOperator::MadeBefore);
}

/// The names of several users are read at once; unknown and erased users have none.
pub async fn names_are_read_together_and_erased_users_have_none(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let named = async |name: &str| {
        let user = User { name: line(name), ..scenario.stranger(false, at(1)).await };
        scenario.register(&user).await;
        user
    };
    let (ada, grace, erased) = (named("Ada").await, named("Grace").await, named("Erased").await);
    assert_eq!(scenario.erase(erased.id, 2).await, Erased::Done);
    let nobody = scenario.ids.next_user().await.unwrap();
    let names = async |ids: &[UserId]| {
        scenario.store.names(&ids.iter().copied().collect()).await.unwrap().into_iter().collect::<Vec<_>>()
    };
    let all = [ada.id, grace.id, erased.id, nobody];
    let mut expected = [(ada.id, line("Ada")), (grace.id, line("Grace"))];
    expected.sort();
    assert_eq!(names(&all).await, expected);
    assert_eq!(names(&[grace.id]).await, [(grace.id, line("Grace"))]);
    assert_eq!(names(&[]).await, []);
}
