#![allow(clippy::arithmetic_side_effects, reason = "a test may fail loudly")]

use cuepoint_domain::authorization::{Epoch, Principal};
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::user::Role;

use super::*;
use crate::security::keys::{KeyRing, KeysInForce};
use crate::security::tokens::SignedTokens;

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// 2026-11-20T12:00:00Z.
const START: i64 = 1_795_176_000;
const TTL: i64 = 900;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_micros((START + seconds) * 1_000_000)
}

fn asked(algorithm: Option<Algorithm>, signs_in: i64) -> Rotation {
    Rotation {
        algorithm,
        signs_in: Duration::seconds(signs_in),
        access_token_ttl: Duration::seconds(TTL),
        older: OlderKeys::Verify,
    }
}

fn rotated(text: &str, asked: Rotation, now: i64) -> (String, String) {
    let rotated = rotate(&text.into(), asked, at(now), RandomSecrets::new().unwrap()).unwrap();
    (rotated.text.expose_secret().to_owned(), rotated.report)
}

/// Returns the ids and times of a ring, without generated ids and key material.
fn shown(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| match line.split_once(':') {
            Some((id, rest)) if !line.starts_with('#') => {
                let id = if id.starts_with("2026-") { "new" } else { id };
                let moments = rest.split_once(' ').map_or("", |(_, moments)| moments);
                format!("{id} {moments}").trim_end().to_owned()
            }
            _ => line.to_owned(),
        })
        .collect()
}

#[test]
fn the_first_key_signs_immediately() {
    for text in ["", "# keys\n"] {
        let (text, report) = rotated(text, asked(None, 60), 0);
        assert_eq!(shown(text.trim_start_matches("# keys\n")), ["new"]);
        assert!(
            report.starts_with("2026-11-20-") && report.ends_with(" hs256 signs from 2026-11-20T12:00:00Z\n"),
            "{report}"
        );
        let ring = KeyRing::parse(&text.into()).unwrap();
        assert_eq!(ring.signing(at(0)).unwrap().algorithm(), Algorithm::Hs256);
    }
}

#[test]
fn older_keys_verify_until_their_last_token_expires() {
    let text = format!(
        "# ours\nb:{KEY}\n# before\na:hs256:{KEY}\nended:{KEY} until=2026-11-20T12:00:00Z\n\
         ending:{KEY} until=2026-11-20T12:00:01Z"
    );
    let (text, report) = rotated(&text, asked(None, 60), 0);
    assert_eq!(
        shown(&text),
        [
            "# ours",
            "new from=2026-11-20T12:01:00Z",
            "b until=2026-11-20T12:17:00Z",
            "# before",
            "a until=2026-11-20T12:17:00Z",
            "ending until=2026-11-20T12:00:01Z",
        ]
    );
    let lines: Vec<&str> = report.lines().collect();
    assert!(lines[0].ends_with(" hs256 signs from 2026-11-20T12:01:00Z"), "{report}");
    assert_eq!(lines[1], "b hs256 verifies until 2026-11-20T12:17:00Z");
    assert_eq!(lines[3], "ended hs256 has ended and is removed");
    assert!(!report.contains("AAECAwQF"), "{report}");
    // Once more, before the first new key signs.
    let (text, _) = rotated(&text, asked(None, 60), 30);
    assert_eq!(
        shown(&text),
        [
            "# ours",
            "new from=2026-11-20T12:01:30Z",
            "new from=2026-11-20T12:01:00Z until=2026-11-20T12:17:30Z",
            "b until=2026-11-20T12:17:00Z",
            "# before",
            "a until=2026-11-20T12:17:00Z",
        ]
    );
}

#[test]
fn a_new_key_has_the_algorithm_of_the_newest_key_by_default() {
    use Algorithm::{Es256, Hs256};
    let algorithm = |text: &str, asked| {
        let ring = KeyRing::parse(&text.into()).unwrap();
        let (text, _) = rotated(text, asked, 0);
        let signing = KeyRing::parse(&text.into()).unwrap().signing(at(60)).unwrap().algorithm();
        (ring.signing(at(0)).unwrap().algorithm(), signing)
    };
    let (es256, _) = rotated("", asked(Some(Es256), 60), 0);
    let hs256 = format!("a:{KEY}");
    assert_eq!(algorithm(&es256, asked(None, 60)), (Es256, Es256));
    assert_eq!(algorithm(&es256, asked(Some(Hs256), 60)), (Es256, Hs256));
    assert_eq!(algorithm(&hs256, asked(None, 60)), (Hs256, Hs256));
    assert_eq!(algorithm(&hs256, asked(Some(Es256), 60)), (Hs256, Es256));
}

#[test]
fn a_new_key_signs_immediately_if_no_older_key_is_valid() {
    let (text, _) = rotated(&format!("a:{KEY} until=2026-11-20T12:00:00Z"), asked(None, 60), 0);
    assert_eq!(shown(&text), ["new"]);
    let (text, _) = rotated(&format!("a:{KEY} from=2026-11-20T13:00:00Z"), asked(None, 60), 0);
    assert_eq!(shown(&text), ["new", "a from=2026-11-20T13:00:00Z until=2026-11-20T12:16:00Z"]);
}

/// A server: its keys before and after it reads the rotated file, and how far its clock is ahead.
struct Server {
    before: SignedTokens,
    after: SignedTokens,
    reads: i64,
    ahead: i64,
}

impl Server {
    fn new(texts: [&str; 2], reads: i64, ahead: i64) -> Self {
        let [before, after] = texts.map(|text| {
            let keys = KeysInForce::parse(&text.into(), at(0)).unwrap();
            SignedTokens::new(keys, Duration::seconds(TTL), RandomSecrets::new().unwrap())
        });
        Self { before, after, reads, ahead }
    }

    fn tokens(&self, time: i64) -> &SignedTokens {
        if time < self.reads { &self.before } else { &self.after }
    }

    fn issue(&self, time: i64) -> String {
        self.tokens(time).issue(&ada(), Epoch(0), at(time + self.ahead)).unwrap().token
    }

    fn accepts(&self, token: &str, time: i64) -> bool {
        self.tokens(time).verify(token, Epoch(0), at(time + self.ahead)).is_ok()
    }

    fn knows(&self, id: &str, time: i64) -> bool {
        self.tokens(time).keys().ring().verifying(id, at(time + self.ahead)).is_some()
    }
}

fn ada() -> Principal {
    let (user, session) = (UserId::new(7).unwrap(), SessionId::new(8).unwrap());
    Principal { user, role: Role::Member, is_dj: true, session }
}

/// Returns the first time at which one of two servers refuses a token of the other, if any. The file is
/// rotated at 0.
fn logged_out(texts: [&str; 2], [late, early]: [(i64, i64); 2], signs_in: i64) -> Option<(i64, i64)> {
    let servers = [late, early].map(|(reads, ahead)| Server::new(texts, reads, ahead));
    for issued in (-20..signs_in + 120).step_by(5) {
        for issuer in &servers {
            let token = issuer.issue(issued);
            for verifier in &servers {
                // The issuer's clock sets the expiry, and the verifier's clock judges it.
                let end = issued + issuer.ahead + TTL - verifier.ahead;
                // A key is read once and expires once, so that the first and the last time are the hardest
                // cases.
                for time in [issued, issued + 60, end] {
                    if !verifier.accepts(&token, time) {
                        return Some((issued, time));
                    }
                }
            }
        }
    }
    for server in &servers {
        assert!(!server.knows("before", signs_in + TTL + 60 - server.ahead), "the old key has ended");
    }
    None
}

#[test]
fn rotation_keeps_tokens_valid_on_both_servers() {
    use Algorithm::{Es256, Hs256};
    for (old, new) in [(Hs256, Hs256), (Hs256, Es256), (Es256, Hs256)] {
        let material = old.generate(RandomSecrets::new().unwrap()).unwrap();
        let before = format!("before:{}:{}", old.name(), material.expose_secret());
        let (after, _) = rotated(&before, asked(Some(new), 60), 0);
        // For each server, when it reads the file and how far its clock is ahead of that of the rotation.
        for servers in [
            [(0, 0), (0, 0)],
            [(5, 0), (0, 0)],
            [(60, 0), (0, 0)],
            [(30, 0), (0, 30)],
            [(30, -15), (5, 15)],
            [(60, 0), (60, -30)],
            [(5, 30), (5, 0)],
        ] {
            assert_eq!(logged_out([&before, &after], servers, 60), None, "{old:?} {new:?} {servers:?}");
        }
    }
}

#[test]
fn a_server_that_reloads_its_keys_late_refuses_new_tokens() {
    let before = format!("before:{KEY}");
    let (after, _) = rotated(&before, asked(None, 60), 0);
    assert_eq!(logged_out([&before, &after], [(70, 0), (0, 0)], 60), Some((60, 60)));
    let (after, _) = rotated(&before, asked(None, 0), 0);
    assert_eq!(logged_out([&before, &after], [(5, 0), (0, 0)], 0), Some((0, 0)));
}

#[test]
fn rotation_can_remove_all_older_keys() {
    let before = format!("# ours\nb:{KEY}\na:{KEY} from=2030-01-01T00:00:00Z\n");
    let (text, report) = rotated(&before, Rotation { older: OlderKeys::Remove, ..asked(None, 60) }, 0);
    assert_eq!(shown(&text), ["# ours", "new"]);
    assert!(report.contains("b hs256 is removed\na hs256 is removed\n"), "{report}");
    assert!(KeyRing::parse(&text.into()).unwrap().signing(at(0)).is_some(), "the new key signs at once");
}
