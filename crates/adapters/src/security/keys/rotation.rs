//! Key rotation as a pure function of text and time, so that it can be tested over time.

use cuepoint_domain::timestamp::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use time::{Duration, OffsetDateTime};

use super::key::{Algorithm, Key};
use super::{line, ring};
use crate::clock::TOLERANCE;
use crate::security::random::{RandomSecrets, random};

/// The parameters of a rotation.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    /// The algorithm of the new key. Default: that of the first key in the list, or HS256 without any.
    pub algorithm: Option<Algorithm>,
    /// The delay before the new key signs, in which the servers must read it.
    pub signs_in: Duration,
    /// The lifetime of an access token.
    pub access_token_ttl: Duration,
    /// The treatment of the older keys.
    pub older: OlderKeys,
}

/// The treatment of existing keys by a rotation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OlderKeys {
    /// They verify until the last token that they may have signed expires.
    Verify,
    /// They are removed, and the new key signs immediately; all their signatures become invalid.
    Remove,
    /// They are kept, because secrets that they encrypted must stay readable, also in backups.
    Keep,
}

/// The result of a rotation.
pub struct Rotated {
    /// The text of the new ring.
    pub text: SecretString,
    /// The outcome for each key, one per line, without key material.
    pub report: String,
}

/// Adds a new key as the first of a ring. It signs after the delay, or immediately if no other key signs. Each
/// older key is set to expire after the last token that it may have signed, and expired keys are removed.
///
/// # Errors
/// When the text is not a valid ring, or the operating system provides no randomness.
pub fn rotate(
    text: &SecretString,
    asked: Rotation,
    now: Timestamp,
    secrets: RandomSecrets,
) -> anyhow::Result<Rotated> {
    let lines = ring::lines(text.expose_secret())?;
    let newest = lines.iter().find_map(|(_, key)| key.as_ref());
    let algorithm = asked.algorithm.or(newest.map(Key::algorithm)).unwrap_or(Algorithm::Hs256);
    let keeps_older = asked.older != OlderKeys::Remove;
    let another_signs =
        keeps_older && lines.iter().filter_map(|(_, key)| key.as_ref()).any(|key| key.signs(now));
    let from = second(now).plus(if another_signs { asked.signs_in } else { Duration::ZERO });
    // Server clocks may differ by the tolerance, and verification grants it again.
    let until = from.plus(asked.access_token_ttl).plus(TOLERANCE).plus(TOLERANCE);

    let (id, material) = (new_id(now, secrets), algorithm.generate(secrets)?);
    let signs_from = another_signs.then_some(from);
    let mut new = Some(line::new(&id, algorithm, material.expose_secret(), signs_from)?);
    let does = if asked.older == OlderKeys::Keep { "encrypts" } else { "signs" };
    let mut report = format!("{id} {} {does} from {}\n", algorithm.name(), line::moment(from)?);
    let mut written = Vec::new();
    for (line, key) in &lines {
        match key {
            None => written.push((*line).to_owned()),
            Some(key) => {
                // Comments above the first key stay above the ring.
                written.extend(new.take());
                let (kept, fate) = match asked.older {
                    OlderKeys::Verify => aged(line, key, until, now)?,
                    OlderKeys::Remove => (None, "is removed".to_owned()),
                    OlderKeys::Keep => (Some((*line).to_owned()), "is kept, to decrypt".to_owned()),
                };
                written.extend(kept);
                report.push_str(&format!("{} {} {fate}\n", key.id(), key.algorithm().name()));
            }
        }
    }
    written.extend(new);
    let text = SecretString::from(written.join("\n") + "\n");
    super::KeyRing::parse(&text)?;
    Ok(Rotated { text, report })
}

/// Returns the line of an older key, if it is kept, and the outcome for the report.
fn aged(line: &str, key: &Key, until: Timestamp, now: Timestamp) -> anyhow::Result<(Option<String>, String)> {
    if !key.verifies(now) {
        return Ok((None, "has ended and is removed".to_owned()));
    }
    let (kept, until) = match key.verifies_until {
        Some(until) => (line.to_owned(), until),
        None => (line::ending(line, until)?, until),
    };
    Ok((Some(kept), format!("verifies until {}", line::moment(until)?)))
}

/// Returns an id made of the date, for people, and a random part, because there may be several rotations a
/// day.
fn new_id(now: Timestamp, secrets: RandomSecrets) -> String {
    let random = u32::from_be_bytes(random(secrets));
    format!("{}-{random:08x}", now.to_utc().date())
}

/// Truncates a time to seconds, the precision of key files.
fn second(at: Timestamp) -> Timestamp {
    let seconds = at.to_utc().unix_timestamp();
    OffsetDateTime::from_unix_timestamp(seconds).map_or(at, Timestamp::new)
}

#[cfg(test)]
mod tests;
