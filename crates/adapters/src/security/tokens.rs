//! Access tokens: signed JWTs that carry the principal, so that no request has to look it up.

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use biscuit::errors::ValidationError;
use biscuit::jwa::SignatureAlgorithm;
use biscuit::jws::{Compact, RegisteredHeader};
use biscuit::{
    ClaimPresenceOptions, ClaimsSet, Empty, JWT, RegisteredClaims, SingleOrMultiple, TemporalOptions,
    Validation, ValidationOptions,
};
use chrono::{DateTime, Utc};
use cuepoint_domain::authorization::{Epoch, Principal};
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ports::AccessToken;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::Role;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use time::Duration;

use super::keys::{Key, KeysInForce, PublicKey};
use super::random::{RandomSecrets, random};
use super::verified::{self, VerifiedToken, VerifiedTokens, Verifier};
use crate::clock::TOLERANCE;

const ISSUER: &str = "cuepoint";
const AUDIENCE: &str = "cuepoint-api";
const TYPE: &str = "JWT";
/// The maximum length of a token in bytes; longer ones are rejected unread.
const MAX_TOKEN_BYTES: usize = 4_096;

/// Why a token is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum TokenRefusal {
    /// It was valid for this session and has expired.
    #[error("the access token has expired")]
    Expired(SessionId),
    /// It is not valid, for any other reason.
    #[error("the access token is not valid")]
    Invalid,
}

/// Issues and verifies access tokens.
#[derive(Debug)]
pub struct SignedTokens {
    keys: KeysInForce,
    valid_for: Duration,
    secrets: RandomSecrets,
    verified: VerifiedTokens,
}

/// Claims beyond the registered ones.
#[derive(Serialize, Deserialize)]
struct PrivateClaims {
    role: String,
    dj: bool,
    sid: i64,
    epoch: i64,
}

/// The header of a presented token. Unknown fields are rejected, so that no extension, least of all `crit`,
/// is ignored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PresentedHeader {
    alg: SignatureAlgorithm,
    typ: String,
    kid: String,
}

/// The claims of a presented token, all required. Times are plain numbers, because biscuit's own deserializer
/// panics at those outside its calendar.
#[derive(Deserialize)]
struct PresentedClaims {
    iss: String,
    sub: String,
    aud: String,
    exp: i64,
    nbf: i64,
    iat: i64,
    jti: String,
    role: String,
    dj: bool,
    sid: i64,
    /// The epoch of the data that the ids belong to; without this claim, the first one.
    #[serde(default)]
    epoch: i64,
}

impl SignedTokens {
    /// Creates tokens with these keys and this lifetime.
    #[must_use]
    pub fn new(keys: KeysInForce, valid_for: Duration, secrets: RandomSecrets) -> Self {
        Self { keys, valid_for, secrets, verified: VerifiedTokens::default() }
    }

    /// Returns the signing keys.
    #[must_use]
    pub const fn keys(&self) -> &KeysInForce {
        &self.keys
    }

    /// Returns the public keys with which third parties verify tokens at `now`.
    #[must_use]
    pub fn public_keys(&self, now: Timestamp) -> Vec<PublicKey> {
        self.keys.ring().public(now)
    }

    /// Issues a token for a principal in the current epoch.
    ///
    /// # Errors
    /// When no key signs at `now`.
    pub fn issue(&self, identity: &Principal, epoch: Epoch, now: Timestamp) -> anyhow::Result<AccessToken> {
        let ring = self.keys.ring();
        let key = ring.signing(now).context("no signing key is currently valid")?;
        let header = RegisteredHeader {
            algorithm: key.algorithm().of_token(),
            media_type: Some(TYPE.to_owned()),
            key_id: Some(key.id().to_owned()),
            ..RegisteredHeader::default()
        };
        let token: JWT<PrivateClaims, Empty> =
            JWT::new_decoded(header.into(), self.claims(identity, epoch, now)?);
        let signed = token.encode(key.signing()).context("the access token cannot be signed")?;
        let token = signed.encoded().context("the access token is not signed")?.to_string();
        Ok(AccessToken { token, expires_in_seconds: self.valid_for.whole_seconds() })
    }

    fn claims(
        &self,
        identity: &Principal,
        epoch: Epoch,
        now: Timestamp,
    ) -> anyhow::Result<ClaimsSet<PrivateClaims>> {
        let issued = moment(now).context("the time is outside the supported calendar")?;
        let expires = moment(now.plus(self.valid_for))
            .context("the token's expiry is outside the supported calendar")?;
        let role = match identity.role {
            // Tokens cannot carry roles of newer versions, whose holders have the permissions of a member
            // here.
            Role::Unknown(_) => Role::Member,
            known => known,
        };
        let role = role.name().to_owned();
        let registered = RegisteredClaims {
            issuer: Some(ISSUER.to_owned()),
            subject: Some(identity.user.to_string()),
            audience: Some(SingleOrMultiple::Single(AUDIENCE.to_owned())),
            expiry: Some(expires.into()),
            not_before: Some(issued.into()),
            issued_at: Some(issued.into()),
            id: Some(URL_SAFE_NO_PAD.encode(random::<16>(self.secrets))),
        };
        let sid = identity.session.get();
        let private = PrivateClaims { role, dj: identity.is_dj, sid, epoch: epoch.0 };
        Ok(ClaimsSet { registered, private })
    }

    /// Returns the principal of a token.
    ///
    /// # Errors
    /// [`TokenRefusal`] unless one of the keys signed the token for this service in this epoch and it is
    /// valid at `now`, with a tolerance of 30 seconds for clock differences.
    pub fn verify(&self, token: &str, epoch: Epoch, now: Timestamp) -> Result<Principal, TokenRefusal> {
        self.verified(token, epoch, now).map(|verified| verified.caller)
    }

    /// Returns the time at which a token becomes invalid, after the same tolerance.
    ///
    /// # Errors
    /// As [`SignedTokens::verify`].
    pub fn expiry(&self, token: &str, epoch: Epoch, now: Timestamp) -> Result<Timestamp, TokenRefusal> {
        self.verified(token, epoch, now).map(|verified| verified.until)
    }

    fn verified(&self, token: &str, epoch: Epoch, now: Timestamp) -> Result<VerifiedToken, TokenRefusal> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenRefusal::Invalid);
        }
        let (ring, hash) = (self.keys.ring(), verified::hash(token));
        let verifier = Verifier { ring, epoch };
        if let Some(verified) = self.verified.find(&verifier, &hash, now) {
            return Ok(verified);
        }
        let verified = verify(&verifier, token, now)?;
        self.verified.remember(&verifier, hash, verified);
        Ok(verified)
    }
}

/// Verifies a token against the keys and the epoch, and returns its principal and how long this result holds.
fn verify(verifier: &Verifier, token: &str, now: Timestamp) -> Result<VerifiedToken, TokenRefusal> {
    let header = header(token)?;
    let key = verifier.ring.verifying(&header.kid, now).ok_or(TokenRefusal::Invalid)?;
    let claims: PresentedClaims = object(&payload(&header, key, token)?)?;
    let registered = claims.registered()?;
    let has_expired = match registered.validate(validation(now, Validation::Validate(()))?) {
        // It must be valid in every other respect.
        Err(ValidationError::Expired(_)) => {
            registered.validate(validation(now, Validation::Ignored)?).map_err(|_| TokenRefusal::Invalid)?;
            true
        }
        validated => validated.map(|()| false).map_err(|_| TokenRefusal::Invalid)?,
    };
    if Epoch(claims.epoch) != verifier.epoch {
        return Err(TokenRefusal::Invalid);
    }
    let user = claims.sub.parse().ok().and_then(UserId::new).ok_or(TokenRefusal::Invalid)?;
    let role = Role::named(&claims.role).ok_or(TokenRefusal::Invalid)?;
    let session = SessionId::new(claims.sid).ok_or(TokenRefusal::Invalid)?;
    if has_expired {
        return Err(TokenRefusal::Expired(session));
    }
    let expires = seconds(claims.exp)?.plus(TOLERANCE);
    Ok(VerifiedToken {
        caller: Principal { user, role, is_dj: claims.dj, session },
        from: seconds(claims.nbf.max(claims.iat))?,
        until: key.verifies_until().map_or(expires, |until| until.min(expires)),
    })
}

/// Returns the signed payload as is. Only the algorithm of the key is accepted.
fn payload(header: &PresentedHeader, key: &Key, token: &str) -> Result<Vec<u8>, TokenRefusal> {
    let algorithm = key.algorithm().of_token();
    if header.alg != algorithm || header.typ != TYPE {
        return Err(TokenRefusal::Invalid);
    }
    let encoded: Compact<Vec<u8>, Empty> = Compact::new_encoded(token);
    match encoded.decode(key.verifying(), algorithm) {
        Ok(Compact::Decoded { payload, .. }) => Ok(payload),
        Ok(Compact::Encoded(_)) | Err(_) => Err(TokenRefusal::Invalid),
    }
}

/// Parses the header of a token, which is not trusted yet.
fn header(token: &str) -> Result<PresentedHeader, TokenRefusal> {
    let (header, _) = token.split_once('.').ok_or(TokenRefusal::Invalid)?;
    object(&URL_SAFE_NO_PAD.decode(header).map_err(|_| TokenRefusal::Invalid)?)
}

/// Deserializes a JSON object in UTF-8 (RFC 7519, section 7.2). Arrays are rejected, because serde would accept
/// one in place of a struct; the encoding is checked here, because serde skips unknown claims unchecked.
fn object<T: DeserializeOwned>(json: &[u8]) -> Result<T, TokenRefusal> {
    let json = str::from_utf8(json).map_err(|_| TokenRefusal::Invalid)?;
    if json.starts_with('{') {
        serde_json::from_str(json).map_err(|_| TokenRefusal::Invalid)
    } else {
        Err(TokenRefusal::Invalid)
    }
}

impl PresentedClaims {
    /// Returns the registered claims, for validation.
    fn registered(&self) -> Result<RegisteredClaims, TokenRefusal> {
        if self.jti.is_empty() {
            return Err(TokenRefusal::Invalid);
        }
        let time = |seconds| DateTime::from_timestamp(seconds, 0).ok_or(TokenRefusal::Invalid);
        Ok(RegisteredClaims {
            issuer: Some(self.iss.clone()),
            subject: Some(self.sub.clone()),
            audience: Some(SingleOrMultiple::Single(self.aud.clone())),
            expiry: Some(time(self.exp)?.into()),
            not_before: Some(time(self.nbf)?.into()),
            issued_at: Some(time(self.iat)?.into()),
            id: Some(self.jti.clone()),
        })
    }
}

fn validation(now: Timestamp, expiry: Validation<()>) -> Result<ValidationOptions, TokenRefusal> {
    let now = Some(moment(now).ok_or(TokenRefusal::Invalid)?);
    let epsilon = chrono::Duration::seconds(TOLERANCE.whole_seconds());
    Ok(ValidationOptions {
        claim_presence_options: ClaimPresenceOptions::strict(),
        temporal_options: TemporalOptions { epsilon, now },
        issued_at: Validation::Validate(chrono::Duration::MAX),
        not_before: Validation::Validate(()),
        expiry,
        issuer: Validation::Validate(ISSUER.to_owned()),
        audience: Validation::Validate(AUDIENCE.to_owned()),
    })
}

/// Converts whole seconds, as in claims, to a timestamp.
fn seconds(since_1970: i64) -> Result<Timestamp, TokenRefusal> {
    since_1970.checked_mul(1_000_000).map(Timestamp::from_unix_micros).ok_or(TokenRefusal::Invalid)
}

fn moment(at: Timestamp) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_micros(at.unix_micros())
}

#[cfg(test)]
mod tests;
