//! Checks of the secrets of endpoints, on doubles of the ports.

use std::sync::atomic::{AtomicI64, Ordering};

use super::*;
use crate::ids::WebhookEndpointId;
use crate::operation::feature_level::FeatureLevel;
use crate::ports::EndpointUpdate;
use crate::webhook::{
    EndpointSecrets, MissingKeys, SealedSecret, SecretKeys, UndecryptableSecret, WebhookEndpoint,
};

type Act = Box<dyn FnOnce() + Send>;

/// The endpoints of a store. Each secret names the key that it needs.
struct Scene {
    endpoints: Arc<Mutex<Vec<WebhookEndpoint>>>,
    seconds: Arc<AtomicI64>,
    deliveries: Deliveries,
    /// Runs before the next endpoints are read behind the first ones.
    between_batches: Arc<Mutex<Option<Act>>>,
}

fn id(number: i64) -> WebhookEndpointId {
    WebhookEndpointId::new(number).unwrap()
}

/// Fails for secrets that name a missing key.
fn problem(secret: &SealedSecret) -> Result<(), UndecryptableSecret> {
    let problem = |keys, key: &str| Err(UndecryptableSecret { keys, key: key.to_owned() });
    match secret.0.as_str() {
        "signing" => problem(SecretKeys::Signing, "a"),
        "webhooks" => problem(SecretKeys::Webhooks, "b"),
        _ => Ok(()),
    }
}

impl Scene {
    fn new(secrets: &[&str], level: FeatureLevel) -> Self {
        let endpoints = (1..).zip(secrets).map(|(number, secret)| webhook_endpoint(number, secret)).collect();
        let (endpoints, seconds) = (Arc::new(Mutex::new(endpoints)), Arc::new(AtomicI64::new(0)));
        let mut stored = MockWebhookEndpoints::new();
        let between_batches = Arc::new(Mutex::new(None::<Act>));
        let (shared, hook) = (Arc::clone(&endpoints), Arc::clone(&between_batches));
        stored.expect_endpoints_after().returning(move |after, _| {
            if let Some(act) = after.and_then(|_| hook.lock().unwrap().take()) {
                act();
            }
            let endpoints: &Vec<WebhookEndpoint> = &shared.lock().unwrap();
            Ok(endpoints.iter().filter(|endpoint| Some(endpoint.id) > after).cloned().collect())
        });
        let shared = Arc::clone(&endpoints);
        stored.expect_change_endpoint().returning(move |id, change| {
            let endpoints: &mut Vec<WebhookEndpoint> = &mut shared.lock().unwrap();
            let found = endpoints.iter_mut().find(|endpoint| endpoint.id == id).unwrap();
            let before = Box::new(found.clone());
            *found = found.clone().changed(change, level);
            Ok(EndpointUpdate::Done { before, after: Box::new(found.clone()) })
        });
        stored.expect_endpoint().returning(|_| Ok(None));
        let shared = Arc::clone(&endpoints);
        stored.expect_endpoints_with_work().returning(move |_, limit| {
            let endpoints: &Vec<WebhookEndpoint> = &shared.lock().unwrap();
            Ok(endpoints.iter().map(|endpoint| endpoint.id).take(limit.try_into().unwrap()).collect())
        });
        let mut webhooks = MockWebhookSender::new();
        webhooks.expect_reseal().returning(|_, secrets: &EndpointSecrets, _| {
            problem(&secrets.current)?;
            let current = SealedSecret("current".to_owned());
            Ok((secrets.current != current).then(|| EndpointSecrets::new(current)))
        });
        webhooks.expect_check_secret().returning(|_, secret| problem(secret));
        let mut clock = MockClock::new();
        let shared = Arc::clone(&seconds);
        clock.expect_now().returning(move || now().plus(Duration::seconds(shared.load(Ordering::Relaxed))));
        let doubles = Doubles { endpoints: stored, webhooks, clock: Some(clock), ..Doubles::default() };
        Self { endpoints, seconds, deliveries: Deliveries::new(doubles.env()), between_batches }
    }

    fn check(&self, without_keys: WithoutKeys) -> CheckedSecrets {
        run(self.deliveries.check_secrets(without_keys)).unwrap()
    }

    fn lost(&self) -> Vec<i64> {
        let endpoints = self.endpoints.lock().unwrap();
        endpoints.iter().filter(|endpoint| endpoint.has_lost_secret()).map(|lost| lost.id.get()).collect()
    }
}

#[test]
fn secrets_of_a_removed_signing_key_are_declared_lost_after_five_minutes() {
    let scene = Scene::new(&["earlier", "signing", "webhooks"], FeatureLevel::NEWEST);
    let checked = scene.check(WithoutKeys::Wait);
    assert_eq!(checked, CheckedSecrets { resealed: 1, found: vec![id(2), id(3)], lost: Vec::new() });
    scene.seconds.store(299, Ordering::Relaxed);
    assert_eq!(scene.check(WithoutKeys::Wait), CheckedSecrets::default(), "each is found once");
    scene.seconds.store(300, Ordering::Relaxed);
    let lost = CheckedSecrets { lost: vec![id(2)], ..CheckedSecrets::default() };
    assert_eq!(scene.check(WithoutKeys::Wait), lost);
    assert_eq!(scene.check(WithoutKeys::Wait), CheckedSecrets::default());
    assert_eq!(scene.lost(), [2], "another server may have the webhook key");
}

#[test]
fn no_secret_is_declared_lost_at_feature_level_1() {
    let scene = Scene::new(&["signing"], FeatureLevel::Level1);
    assert_eq!(scene.check(WithoutKeys::Wait).found, [id(1)]);
    scene.seconds.store(3_600, Ordering::Relaxed);
    assert_eq!(scene.check(WithoutKeys::Wait), CheckedSecrets::default());
    assert_eq!(scene.check(WithoutKeys::Disable), CheckedSecrets::default());
    assert!(scene.lost().is_empty());
}

#[test]
fn continuing_without_keys_marks_every_undecryptable_secret_as_lost() {
    let scene = Scene::new(&["signing", "webhooks", "current", "webhooks"], FeatureLevel::NEWEST);
    let missing = |keys, key: &str| UndecryptableSecret { keys, key: key.to_owned() };
    let expected = [(missing(SecretKeys::Signing, "a"), 1), (missing(SecretKeys::Webhooks, "b"), 2)];
    assert_eq!(run(scene.deliveries.missing_keys()).unwrap(), MissingKeys::from(expected));
    assert_eq!(scene.check(WithoutKeys::Disable).lost, [id(1), id(2), id(4)]);
    assert_eq!(scene.lost(), [1, 2, 4]);
    assert!(run(scene.deliveries.missing_keys()).unwrap().is_empty(), "the next start needs no keys");
}

#[test]
fn endpoints_with_undecryptable_secrets_are_not_leased() {
    let scene = Scene::new(&["webhooks", "signing", "current"], FeatureLevel::NEWEST);
    scene.check(WithoutKeys::Wait);
    let with_work = || run(scene.deliveries.endpoints_with_work(1)).unwrap();
    assert_eq!(with_work(), [id(3)], "those before take no places");
    // A lease would be unexpected.
    assert_eq!(run(scene.deliveries.take_turn(id(1), || false)).unwrap(), Default::default());
    scene.deliveries.note_new_secret(id(1));
    assert_eq!(with_work(), [id(1)]);
}

#[test]
fn a_secret_rotated_during_a_check_of_all_secrets_is_used() {
    let scene = Scene::new(&["webhooks", "webhooks"], FeatureLevel::NEWEST);
    let (endpoints, deliveries) = (Arc::clone(&scene.endpoints), scene.deliveries.clone());
    *scene.between_batches.lock().unwrap() = Some(Box::new(move || {
        endpoints.lock().unwrap()[0].secrets = EndpointSecrets::new(SealedSecret("current".to_owned()));
        deliveries.note_new_secret(id(1));
    }));
    scene.check(WithoutKeys::Wait);
    let with_work = || run(scene.deliveries.endpoints_with_work(2)).unwrap();
    assert_eq!(with_work(), [id(1)], "the check has read the previous secret");
    // As if another server had rotated it with a key that this one lacks.
    scene.endpoints.lock().unwrap()[0].secrets = EndpointSecrets::new(SealedSecret("webhooks".to_owned()));
    scene.check(WithoutKeys::Wait);
    assert!(with_work().is_empty());
}
