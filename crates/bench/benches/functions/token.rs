//! The first verification of an access token.

use cuepoint_adapters::clock::SystemClock;
use cuepoint_adapters::security::keys::{Algorithm, KeysInForce, OlderKeys, Rotation, rotate};
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_adapters::security::tokens::SignedTokens;
use cuepoint_domain::authorization::{Epoch, Principal};
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ports::Clock;
use cuepoint_domain::user::Role;
use divan::{Bencher, black_box};
use time::Duration;

/// The lifetime of a token in production.
const VALID_FOR: Duration = Duration::minutes(15);

#[divan::bench(args = [Algorithm::Hs256, Algorithm::Es256])]
fn verify(bencher: Bencher<'_, '_>, algorithm: Algorithm) {
    let (now, secrets) = (SystemClock.now(), RandomSecrets::new().unwrap());
    let asked = Rotation {
        algorithm: Some(algorithm),
        signs_in: Duration::ZERO,
        access_token_ttl: VALID_FOR,
        older: OlderKeys::Verify,
    };
    let ring = rotate(&String::new().into(), asked, now, secrets).unwrap();
    let tokens = SignedTokens::new(KeysInForce::parse(&ring.text, now).unwrap(), VALID_FOR, secrets);
    let caller = Principal {
        user: UserId::new(7).unwrap(),
        role: Role::Member,
        is_dj: true,
        session: SessionId::new(9).unwrap(),
    };
    let token = tokens.issue(&caller, Epoch(0), now).unwrap().token;
    assert_eq!(tokens.verify(&token, Epoch(0), now), Ok(caller));
    bencher.bench(|| tokens.verify(black_box(&token), Epoch(0), now));
}
