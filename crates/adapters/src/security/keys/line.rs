//! The text format of a key: `kid:key` or `kid:es256:key`, optionally followed by `from=…` and `until=…`.

use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use cuepoint_domain::timestamp::Timestamp;
use secrecy::zeroize::Zeroizing;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::key::{Algorithm, DerivationKey, Key, Material};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

const FROM: &str = "from";
const UNTIL: &str = "until";

/// Parses a line; `None` if it is empty or a comment.
///
/// # Errors
/// When the line is invalid; the error does not contain it, because any part may be key material.
pub(super) fn parse(line: &str) -> anyhow::Result<Option<Key>> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (id, rest) = line.split_once(':').context("must be `kid:key`")?;
    let fits = (1..=64).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    ensure!(fits, "a key id has 1 to 64 letters, digits, dots, dashes or underscores");
    let mut words = rest.split_whitespace();
    let word = words.next().unwrap_or_default();
    let (algorithm, key) = match word.split_once(':') {
        None => (Algorithm::Hs256, word),
        Some((name, key)) => (Algorithm::named(name).context("the algorithm must be hs256 or es256")?, key),
    };
    let Ok(bytes) = BASE64.decode(key).map(Zeroizing::new) else { bail!("the key is not base64") };
    let derivation = DerivationKey::new(&bytes);
    let material = Material::new(algorithm, bytes)?;
    let mut key = Key { id: id.to_owned(), material, derivation, signs_from: None, verifies_until: None };
    for word in words {
        limit(&mut key, word)?;
    }
    Ok(Some(key))
}

/// Parses one of the times that follow a key.
fn limit(key: &mut Key, word: &str) -> anyhow::Result<()> {
    let (name, limit) = match word.split_once('=') {
        Some((FROM, _)) => (FROM, &mut key.signs_from),
        Some((UNTIL, _)) => (UNTIL, &mut key.verifies_until),
        _ => bail!("only `{FROM}=…` and `{UNTIL}=…` may follow the key"),
    };
    ensure!(limit.is_none(), "`{name}` is repeated");
    let written = word.split_once('=').map_or("", |(_, written)| written);
    let moment = OffsetDateTime::parse(written, &Rfc3339).ok();
    *limit = Some(Timestamp::new(
        moment.with_context(|| format!("`{name}` is not a timestamp such as 2026-11-20T12:00:00Z"))?,
    ));
    Ok(())
}

/// Formats the line of a new key.
///
/// # Errors
/// When the year of the time has more than four digits.
pub(super) fn new(
    id: &str,
    algorithm: Algorithm,
    material: &str,
    signs_from: Option<Timestamp>,
) -> anyhow::Result<String> {
    let line = format!("{id}:{}:{material}", algorithm.name());
    signs_from.map_or_else(|| Ok(line.clone()), |from| Ok(format!("{line} {FROM}={}", moment(from)?)))
}

/// Appends an end to the line of a key.
///
/// # Errors
/// As [`new`].
pub(super) fn ending(line: &str, until: Timestamp) -> anyhow::Result<String> {
    Ok(format!("{} {UNTIL}={}", line.trim_end(), moment(until)?))
}

/// Formats a time according to RFC 3339.
///
/// # Errors
/// As [`new`].
pub(super) fn moment(at: Timestamp) -> anyhow::Result<String> {
    at.to_utc().format(&Rfc3339).context("the time is outside the supported calendar")
}
