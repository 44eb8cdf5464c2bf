//! Webhook endpoints: the schedule of attempts, the end of an endpoint, its secrets, and who may receive.

use cuepoint_domain::event::{EventType, Feed};
use cuepoint_domain::ids::{SessionId, UserId, WebhookEndpointId};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::operation::{KeyRecord, KeyScope, Position};
use cuepoint_domain::text::{Email, Line, TextError};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::session::{Candidates, TokenHash};
use cuepoint_domain::user::{Role, User};
use cuepoint_domain::webhook::{
    Attempt, AttemptError, AttemptOutcome, DeliveryKind, DisabledReason, EndpointChange, EndpointSecrets,
    EndpointSettings, EndpointState, EndpointUrl, FailedDelivery, FollowUp, KnownCreation, NewEndpoint,
    PresentedCreation, Replay, SealedSecret, SettingsAuthor, Turn, WebhookEndpoint,
};
use time::Duration;

const NOW: Timestamp = Timestamp::EPOCH;

fn answered(status: u16) -> AttemptOutcome {
    AttemptOutcome::Answered { status, retry_after: None }
}

fn secret(text: &str) -> SealedSecret {
    SealedSecret(text.to_owned())
}

fn position(number: i64) -> Position {
    Position::new(number).unwrap()
}

fn endpoint(feed: Feed) -> WebhookEndpoint {
    let new = NewEndpoint {
        owner: UserId::new(7).unwrap(),
        session: SessionId::new(3),
        key: None,
        feed,
        url: EndpointUrl::new("https://example.com/hook").unwrap(),
        types: None,
        description: None,
        secret: secret("a"),
        at: NOW,
    };
    WebhookEndpoint::new(WebhookEndpointId::new(1).unwrap(), position(5), new)
}

fn author(user: i64, has_password: bool) -> SettingsAuthor {
    SettingsAuthor { user: UserId::new(user).unwrap(), session: SessionId::new(user), has_password }
}

fn owner(role: Role) -> User {
    let (name, email) = (Line::new("Ada").unwrap(), Email::new("ada@example.com").unwrap());
    User { role, ..User::registered(UserId::new(7).unwrap(), name, email, None, false, NOW) }
}

#[test]
fn a_failed_delivery_is_retried_nine_times_within_76_hours() {
    let mut at = NOW;
    let mut delays = Vec::new();
    for number in 1.. {
        match answered(500).follow_up(number, at, 0) {
            FollowUp::RepeatAt(next) => {
                delays.push(next.since(at).whole_seconds());
                at = next;
            }
            FollowUp::GiveUp => break,
            FollowUp::Done => panic!("delivered"),
        }
    }
    assert_eq!(delays, [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    assert_eq!(answered(500).follow_up(u32::MAX, NOW, 0), FollowUp::GiveUp);
}

#[test]
fn retry_delays_vary_by_at_most_20_percent() {
    let delay = |number, spread| match answered(500).follow_up(number, NOW, spread) {
        FollowUp::RepeatAt(at) => at.since(NOW),
        other => panic!("{other:?}"),
    };
    assert_eq!((delay(1, -1_000), delay(1, 1_000)), (Duration::seconds(4), Duration::seconds(6)));
    assert_eq!(delay(9, i32::MAX), Duration::seconds(103_680));
    assert_eq!(delay(9, i32::MIN), Duration::seconds(69_120));
    assert_eq!(delay(2, 500), Duration::seconds(330));
}

#[test]
fn a_retry_after_header_delays_the_next_attempt_by_up_to_a_day() {
    let repeated = |seconds| {
        let outcome = AttemptOutcome::Answered { status: 503, retry_after: Some(Duration::seconds(seconds)) };
        outcome.follow_up(1, NOW, 0)
    };
    let after = |seconds| FollowUp::RepeatAt(NOW.plus(Duration::seconds(seconds)));
    assert_eq!(repeated(0), after(5), "not before the schedule");
    assert_eq!(repeated(90), after(90));
    assert_eq!(repeated(1_000_000), after(86_400));
}

#[test]
fn only_2xx_statuses_count_as_delivered() {
    for (status, delivers) in
        [(199, false), (200, true), (204, true), (299, true), (301, false), (410, false)]
    {
        let follow_up = answered(status).follow_up(1, NOW, 0);
        assert_eq!(follow_up == FollowUp::Done, delivers, "{status}");
    }
    for error in AttemptError::all() {
        let follow_up = AttemptOutcome::Unanswered(error).follow_up(1, NOW, 0);
        assert!(matches!(follow_up, FollowUp::RepeatAt(_)), "{error:?}");
    }
}

#[test]
fn an_endpoint_is_disabled_after_five_days_of_failures() {
    let mut failing = endpoint(Feed::Own);
    let at = |hours| NOW.plus(Duration::hours(hours));
    (failing.state, failing.failing_since) = failing.after(answered(500), at(1));
    assert_eq!((failing.state, failing.failing_since), (EndpointState::Active, Some(at(1))));
    let later = at(121).minus(Duration::microseconds(1));
    assert_eq!(failing.after(answered(500), later), (EndpointState::Active, Some(at(1))));
    let disabled = EndpointState::Disabled { at: at(121), reason: DisabledReason::Failing };
    assert_eq!(failing.after(answered(500), at(121)).0, disabled);
    assert_eq!(failing.after(answered(200), at(121)), (EndpointState::Active, None), "a success restarts");
    let gone = EndpointState::Disabled { at: at(1), reason: DisabledReason::Gone };
    assert_eq!(endpoint(Feed::Own).after(answered(410), at(1)).0, gone);
}

#[test]
fn endpoints_receive_only_events_that_their_owner_may_read() {
    let suspended = |user: User| User { suspended_at: Some(NOW), ..user };
    let erased = |user: User| User { erased_at: Some(NOW), ..user };
    for (feed, user, may) in [
        (Feed::Own, owner(Role::Member), true),
        (Feed::Own, suspended(owner(Role::Member)), false),
        (Feed::Own, erased(owner(Role::Member)), false),
        (Feed::All, owner(Role::Member), false),
        (Feed::All, owner(Role::Operator), true),
        (Feed::All, owner(Role::Auditor), false),
        (Feed::All, suspended(owner(Role::Operator)), false),
        (Feed::All, erased(owner(Role::Operator)), false),
    ] {
        assert_eq!(endpoint(feed).may_deliver(&user), may, "{feed:?} {user:?}");
    }
    let paused = WebhookEndpoint { state: EndpointState::Paused, ..endpoint(Feed::Own) };
    assert!(!paused.may_deliver(&owner(Role::Member)));
}

#[test]
fn previous_secrets_keep_signing_for_a_day() {
    let signing = |secrets: &EndpointSecrets, at: Timestamp| {
        secrets.signing(at).map(|secret| secret.0.clone()).collect::<String>()
    };
    let mut secrets = EndpointSecrets::new(secret("a")).rotated(secret("b"), NOW);
    assert_eq!(signing(&secrets, NOW), "ba");
    let day = NOW.plus(Duration::hours(24));
    assert_eq!(signing(&secrets, day.minus(Duration::microseconds(1))), "ba");
    assert_eq!(signing(&secrets, day), "b");
    secrets = secrets.rotated(secret("c"), NOW.plus(Duration::hours(1)));
    assert_eq!(signing(&secrets, NOW.plus(Duration::hours(2))), "cba", "each for its own day");
    for next in ["d", "e", "f", "g", "h"] {
        secrets = secrets.rotated(secret(next), NOW);
    }
    assert_eq!(signing(&secrets, NOW), "hgfedc", "at most five");
}

#[test]
fn settings_change_independently_and_enabling_clears_failures() {
    let before = WebhookEndpoint {
        state: EndpointState::Disabled { at: NOW, reason: DisabledReason::Failing },
        failing_since: Some(NOW),
        ..endpoint(Feed::Own)
    };
    let by = author(2, true);
    let change =
        |settings| before.clone().changed(&EndpointChange::Settings { settings, by }, FeatureLevel::NEWEST);
    assert_eq!(change(EndpointSettings::default()), before);
    let types = Some([EventType::TopupConfirmed].into_iter().collect());
    let only = change(EndpointSettings { types: Some(types.clone()), ..Default::default() });
    assert_eq!(only, WebhookEndpoint { types, ..before.clone() });
    let enabled = change(EndpointSettings { is_paused: Some(false), ..Default::default() });
    assert_eq!((enabled.state, enabled.failing_since), (EndpointState::Active, None));
}

#[test]
fn pausing_a_disabled_endpoint_keeps_it_disabled_with_its_reason() {
    let pause = EndpointChange::Settings {
        settings: EndpointSettings { is_paused: Some(true), ..Default::default() },
        by: author(7, true),
    };
    let paused = |state| {
        let before = WebhookEndpoint { state, ..endpoint(Feed::Own) };
        before.changed(&pause, FeatureLevel::NEWEST).state
    };
    assert_eq!(paused(EndpointState::Active), EndpointState::Paused);
    for reason in DisabledReason::all() {
        let disabled = EndpointState::Disabled { at: NOW, reason };
        assert_eq!(paused(disabled), disabled);
    }
}

#[test]
fn at_feature_level_1_endpoints_are_paused_instead_of_disabled_for_new_reasons() {
    let (active, at) = (endpoint(Feed::Own), NOW);
    let disable =
        |reason, level| active.clone().changed(&EndpointChange::Disable { reason, at }, level).state;
    for reason in DisabledReason::all() {
        let disabled = EndpointState::Disabled { at, reason };
        assert_eq!(disable(reason, FeatureLevel::NEWEST), disabled);
        let is_known = matches!(reason, DisabledReason::Gone | DisabledReason::Failing);
        let earlier = if is_known { disabled } else { EndpointState::Paused };
        assert_eq!(disable(reason, FeatureLevel::Level1), earlier);
        let paused = WebhookEndpoint { state: EndpointState::Paused, ..active.clone() };
        let change = EndpointChange::Disable { reason, at };
        assert_eq!(paused.clone().changed(&change, FeatureLevel::NEWEST), paused);
    }
}

#[test]
fn a_lost_secret_must_be_rotated_before_its_endpoint_is_enabled() {
    let by = author(7, true);
    let changed = |endpoint: &WebhookEndpoint, change: EndpointChange| {
        endpoint.clone().changed(&change, FeatureLevel::NEWEST)
    };
    let pause = |is_paused| EndpointChange::Settings {
        settings: EndpointSettings { is_paused: Some(is_paused), ..Default::default() },
        by,
    };
    let lose = |text: &str| EndpointChange::LoseSecret { lost: secret(text), at: NOW };
    let active = endpoint(Feed::Own);
    let paused = changed(&active, pause(true));
    for before in [&active, &paused] {
        assert_eq!(changed(before, lose("b")), *before, "it has another secret");
        let earlier = before.clone().changed(&lose("a"), FeatureLevel::Level1);
        assert_eq!(earlier, *before, "an earlier server may have the key");
        let lost = changed(before, lose("a"));
        let reason = DisabledReason::SecretLost;
        assert_eq!(lost.state, EndpointState::Disabled { at: NOW, reason });
        for is_paused in [true, false] {
            assert_eq!(changed(&lost, pause(is_paused)), lost);
        }
        let rotated = changed(&lost, EndpointChange::Rotate { secret: secret("b"), at: NOW });
        assert_eq!((rotated.state, &rotated.secrets.current), (EndpointState::Paused, &secret("b")));
        assert_eq!(changed(&rotated, pause(false)).state, EndpointState::Active);
    }
    let rotated = changed(&active, EndpointChange::Rotate { secret: secret("b"), at: NOW });
    assert_eq!(rotated.state, EndpointState::Active);
}

#[test]
fn whoever_sets_the_url_becomes_the_owner_of_the_endpoint() {
    let before = endpoint(Feed::All);
    let by = author(2, true);
    let change = |settings| {
        let after = before.clone().changed(&EndpointChange::Settings { settings, by }, FeatureLevel::NEWEST);
        (after.owner, after.set_in)
    };
    let description = Some(Some(Line::new("a note").unwrap()));
    let kept = (before.owner, before.set_in);
    assert_eq!(change(EndpointSettings { description, ..Default::default() }), kept);
    let set = EndpointSettings { url: Some(before.url.clone()), ..Default::default() };
    assert_eq!(change(set), (by.user, by.session));
}

#[test]
fn setting_a_new_url_or_enabling_an_endpoint_requires_the_password() {
    let settings = |url: Option<&str>, is_paused| EndpointSettings {
        url: url.map(|url| EndpointUrl::new(url).unwrap()),
        is_paused,
        description: Some(Some(Line::new("a note").unwrap())),
        ..Default::default()
    };
    let (same, other) = (Some("https://example.com/hook"), Some("https://example.org/"));
    let paused = EndpointState::Paused;
    let disabled = EndpointState::Disabled { at: NOW, reason: DisabledReason::Security };
    for (user, state, settings, is_required) in [
        (7, EndpointState::Active, settings(None, None), false),
        (7, EndpointState::Active, settings(same, Some(true)), false),
        (7, EndpointState::Active, settings(None, Some(false)), false),
        (7, disabled, settings(None, Some(true)), false),
        (7, paused, settings(None, Some(false)), true),
        (7, disabled, settings(None, Some(false)), true),
        (7, EndpointState::Active, settings(other, None), true),
        (2, EndpointState::Active, settings(None, None), false),
        (2, EndpointState::Active, settings(same, None), true),
    ] {
        let before = WebhookEndpoint { state, ..endpoint(Feed::All) };
        assert_eq!(
            before.requires_password(&settings, author(user, false).user),
            is_required,
            "{settings:?}"
        );
        let changes = |has_password| {
            let (settings, by) = (settings.clone(), author(user, has_password));
            let change = EndpointChange::Settings { settings, by };
            before.clone().changed(&change, FeatureLevel::NEWEST) != before
        };
        assert!(changes(true));
        assert_eq!(changes(false), !is_required, "{settings:?}");
    }
}

#[test]
fn an_endpoint_creation_can_be_repeated_with_its_idempotency_key_for_a_week() {
    let body = |number| TokenHash([number; 32]);
    let presented = |scope, current, others: &[u8]| PresentedCreation {
        scope: KeyScope([scope; 32]),
        bodies: Candidates { current: body(current), others: others.iter().copied().map(body).collect() },
    };
    let created = WebhookEndpoint { creation: Some(presented(1, 5, &[6]).stored()), ..endpoint(Feed::Own) };
    let end = NOW.plus(KeyRecord::RETENTION);
    let last = end.minus(Duration::MICROSECOND);
    for (key, at, expected) in [
        (presented(1, 5, &[]), last, KnownCreation::Repeated),
        (presented(1, 7, &[5]), last, KnownCreation::Repeated),
        (presented(1, 6, &[]), last, KnownCreation::OtherBody),
        (presented(1, 5, &[]), end, KnownCreation::Expired),
        (presented(2, 5, &[]), last, KnownCreation::Expired),
    ] {
        assert_eq!(created.known_creation(&key, at), expected, "{key:?}");
    }
}

#[test]
fn url_authorities_contain_only_host_and_port() {
    for (url, authority) in [
        ("https://example.com", "example.com"),
        ("https://example.com:8443/secret", "example.com:8443"),
        ("https://[2001:db8::1]?secret", "[2001:db8::1]"),
    ] {
        assert_eq!(EndpointUrl::new(url).unwrap().authority(), authority);
    }
}

#[test]
fn stored_urls_are_read_in_canonical_form() {
    for (stored, read, authority) in [
        ("HTTPS://EXAMPLE.com:443/a/../b?q", "https://example.com/b?q", "example.com"),
        ("https:evil.example/hook", "https://evil.example/hook", "evil.example"),
        (
            r"https://evil.example\@hooks.good.example/",
            "https://evil.example/@hooks.good.example/",
            "evil.example",
        ),
        (
            "https://good.example:443@evil.example:8443/",
            "https://good.example:443@evil.example:8443/",
            "evil.example:8443",
        ),
        ("https:\\\\0x7f.1\\good.example", "https://127.0.0.1/good.example", "127.0.0.1"),
        ("https://example.com:99999/", "https://example.com:99999/", "an invalid URL"),
        ("mailto:guest@example.com", "mailto:guest@example.com", "an invalid URL"),
    ] {
        let url = EndpointUrl::from_stored(stored.to_owned());
        assert_eq!((url.as_str(), url.authority().as_str()), (read, authority), "{stored}");
    }
    // Each of these characters takes three in the canonical form, which has no room.
    let long = format!("https://EXAMPLE.com/{}", "\"".repeat(1_000));
    let url = EndpointUrl::from_stored(long.clone());
    assert_eq!((url.as_str(), url.authority().as_str()), (long.as_str(), "example.com"));
}

#[test]
fn replays_start_only_on_active_endpoints_and_one_at_a_time() {
    let range = |after| Replay { after: position(after), until: position(5) };
    let once = endpoint(Feed::Own).changed(&EndpointChange::Replay(range(1)), FeatureLevel::NEWEST);
    assert_eq!(once.replay, Some(range(1)));
    let paused = WebhookEndpoint { state: EndpointState::Paused, ..endpoint(Feed::Own) };
    let replayed = paused.clone().changed(&EndpointChange::Replay(range(1)), FeatureLevel::NEWEST);
    assert_eq!(replayed, paused);
    assert_eq!(once.changed(&EndpointChange::Replay(range(2)), FeatureLevel::NEWEST).replay, Some(range(1)));
}

#[test]
fn a_batch_records_the_outcome_of_each_attempt() {
    let (mut turn, mut endpoint) = (Turn::default(), endpoint(Feed::Own));
    let mut note = |number: i64, kind, attempts, outcome| {
        let attempt = Attempt {
            position: Some(position(number)),
            event_type: Some(EventType::TopupConfirmed),
            number: attempts,
            outcome,
            milliseconds: 1,
            answer: None,
            at: NOW,
        };
        turn.note(&mut endpoint, kind, position(number), attempt, NOW, 0);
    };
    let failed = |number, attempts, next_at| FailedDelivery {
        position: position(number),
        attempts,
        next_at,
        failed_at: NOW.minus(Duration::hours(1)),
    };
    let due = Some(NOW);
    note(6, DeliveryKind::First, 1, answered(200));
    note(7, DeliveryKind::First, 1, answered(500));
    note(2, DeliveryKind::Repeated(failed(2, 9, due)), 10, answered(500));
    note(3, DeliveryKind::Repeated(failed(3, 2, due)), 3, answered(200));
    note(4, DeliveryKind::Replayed, 1, answered(200));
    let repeat = FailedDelivery {
        position: position(7),
        attempts: 1,
        next_at: Some(NOW.plus(Duration::seconds(5))),
        failed_at: NOW,
    };
    assert_eq!(turn.failed, [repeat, failed(2, 10, None)]);
    assert_eq!(turn.settled, [position(3), position(4)]);
    assert_eq!((turn.cursor, turn.replayed_to), (Some(position(7)), Some(position(4))));
    assert_eq!((turn.failing_since, turn.disabled), (Some(None), None), "the last one succeeded");
    assert_eq!(turn.attempts.len(), 5);
}

#[test]
fn endpoint_urls_are_visible_ascii_of_limited_length() {
    let long = format!("https://example.com/{}", "x".repeat(EndpointUrl::MAX_CHARACTERS));
    for (text, error) in [
        ("", TextError::Empty),
        ("https://example.com/a b", TextError::Malformed),
        ("https://exämple.com/", TextError::Malformed),
        ("https://example.com/\n", TextError::Malformed),
        (long.as_str(), TextError::TooLong(EndpointUrl::MAX_CHARACTERS)),
    ] {
        assert_eq!(EndpointUrl::new(text), Err(error), "{text}");
    }
}

#[test]
fn failures_of_the_previous_url_do_not_count() {
    let failing = WebhookEndpoint { failing_since: Some(NOW), ..endpoint(Feed::Own) };
    let url = EndpointUrl::new("https://example.com/corrected").unwrap();
    let settings = EndpointSettings { url: Some(url), ..Default::default() };
    let corrected = failing
        .clone()
        .changed(&EndpointChange::Settings { settings, by: author(7, true) }, FeatureLevel::NEWEST);
    assert_eq!(corrected.failing_since, None);
    let turn = Turn {
        disabled: Some(EndpointState::Disabled { at: NOW, reason: DisabledReason::Gone }),
        failing_since: Some(Some(NOW)),
        url: Some(failing.url),
        ..Turn::default()
    };
    assert_eq!(corrected.clone().after_turn(&turn), corrected);
}
