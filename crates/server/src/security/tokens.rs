//! Access tokens: signed JWTs that say who calls, so that no request has to look it up.

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use biscuit::jws::{Compact, RegisteredHeader};
use biscuit::{
    ClaimPresenceOptions, ClaimsSet, Empty, JWT, RegisteredClaims, SingleOrMultiple, TemporalOptions,
    Validation, ValidationOptions,
};
use chrono::{DateTime, Utc};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::people::Role;
use cuepoint_domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use time::Duration;

use super::key_ring::{ALGORITHM, KeyRing};
use super::secrets::{RandomSecrets, random};

const ISSUER: &str = "cuepoint";
const AUDIENCE: &str = "cuepoint-api";
const TYPE: &str = "JWT";
/// How far the clocks of two servers may be apart.
const LEEWAY: chrono::Duration = chrono::Duration::seconds(30);
/// The longest token that is looked at, in bytes.
const MAX_TOKEN_BYTES: usize = 4_096;

/// Who calls, as their token says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Who.
    pub user: UserId,
    /// What they may do.
    pub role: Role,
    /// Whether they are a DJ.
    pub is_dj: bool,
}

/// A new access token.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    /// The token in clear, for its owner alone.
    pub token: String,
    /// How many seconds from now it is valid.
    pub expires_in_seconds: i64,
}

/// A token that proves nothing, for whatever reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the access token is not valid")]
pub struct InvalidToken;

/// Issues and verifies access tokens.
#[derive(Debug)]
pub struct AccessTokens {
    keys: KeyRing,
    valid_for: Duration,
    secrets: RandomSecrets,
}

/// Claims beyond the registered ones.
#[derive(Serialize, Deserialize)]
struct PrivateClaims {
    role: RoleClaim,
    dj: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RoleClaim {
    Member,
    Operator,
}

/// The claims of a presented token, all required. Times are numbers here, since biscuit's own reader panics at
/// those beyond its calendar.
#[derive(Deserialize)]
struct PresentedClaims {
    iss: String,
    sub: String,
    aud: String,
    exp: i64,
    nbf: i64,
    iat: i64,
    jti: String,
    role: RoleClaim,
    dj: bool,
}

impl AccessTokens {
    /// Tokens under these keys, each valid for this long.
    #[must_use]
    pub fn new(keys: KeyRing, valid_for: Duration, secrets: RandomSecrets) -> Self {
        Self { keys, valid_for, secrets }
    }

    /// A new token that says who calls.
    ///
    /// # Errors
    /// When it cannot be signed.
    pub fn issue(&self, identity: &Identity, now: Timestamp) -> anyhow::Result<IssuedToken> {
        let header = RegisteredHeader {
            algorithm: ALGORITHM,
            media_type: Some(TYPE.to_owned()),
            key_id: Some(self.keys.signing_id.clone()),
            ..RegisteredHeader::default()
        };
        let token: JWT<PrivateClaims, Empty> = JWT::new_decoded(header.into(), self.claims(identity, now)?);
        let signed = token.encode(&self.keys.signing_key).context("the access token cannot be signed")?;
        let token = signed.encoded().context("the access token is not signed")?.to_string();
        Ok(IssuedToken { token, expires_in_seconds: self.valid_for.whole_seconds() })
    }

    fn claims(&self, identity: &Identity, now: Timestamp) -> anyhow::Result<ClaimsSet<PrivateClaims>> {
        let issued = moment(now).context("the clock is beyond the calendar")?;
        let expires = moment(now.plus(self.valid_for)).context("the token's end is beyond the calendar")?;
        let role = match identity.role {
            Role::Member => RoleClaim::Member,
            Role::Operator => RoleClaim::Operator,
        };
        let registered = RegisteredClaims {
            issuer: Some(ISSUER.to_owned()),
            subject: Some(identity.user.to_string()),
            audience: Some(SingleOrMultiple::Single(AUDIENCE.to_owned())),
            expiry: Some(expires.into()),
            not_before: Some(issued.into()),
            issued_at: Some(issued.into()),
            id: Some(URL_SAFE_NO_PAD.encode(random::<16>(self.secrets))),
        };
        Ok(ClaimsSet { registered, private: PrivateClaims { role, dj: identity.is_dj } })
    }

    /// Who calls with this token.
    ///
    /// # Errors
    /// [`InvalidToken`] unless one of the keys signed it for this service and it is valid at this moment; the
    /// clocks of two servers may be 30 seconds apart.
    pub fn verify(&self, token: &str, now: Timestamp) -> Result<Identity, InvalidToken> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(InvalidToken);
        }
        let claims: PresentedClaims =
            serde_json::from_slice(&self.payload(token)?).map_err(|_| InvalidToken)?;
        claims.registered()?.validate(validation(now)?).map_err(|_| InvalidToken)?;
        let user = claims.sub.parse().ok().and_then(UserId::new).ok_or(InvalidToken)?;
        let role = match claims.role {
            RoleClaim::Member => Role::Member,
            RoleClaim::Operator => Role::Operator,
        };
        Ok(Identity { user, role, is_dj: claims.dj })
    }

    /// What one of the keys signed, as it was signed.
    fn payload(&self, token: &str) -> Result<Vec<u8>, InvalidToken> {
        let encoded: Compact<Vec<u8>, Empty> = Compact::new_encoded(token);
        let decoded = encoded.decode_with_jwks(&self.keys.keys, Some(ALGORITHM)).map_err(|_| InvalidToken)?;
        let Compact::Decoded { header, payload } = decoded else { return Err(InvalidToken) };
        let known =
            header.registered.critical.is_none() && header.registered.media_type.as_deref() == Some(TYPE);
        if known { Ok(payload) } else { Err(InvalidToken) }
    }
}

impl PresentedClaims {
    /// The registered claims, for validation.
    fn registered(&self) -> Result<RegisteredClaims, InvalidToken> {
        let time = |seconds| DateTime::from_timestamp(seconds, 0).ok_or(InvalidToken);
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

fn validation(now: Timestamp) -> Result<ValidationOptions, InvalidToken> {
    let now = Some(moment(now).ok_or(InvalidToken)?);
    Ok(ValidationOptions {
        claim_presence_options: ClaimPresenceOptions::strict(),
        temporal_options: TemporalOptions { epsilon: LEEWAY, now },
        issued_at: Validation::Validate(chrono::Duration::MAX),
        not_before: Validation::Validate(()),
        expiry: Validation::Validate(()),
        issuer: Validation::Validate(ISSUER.to_owned()),
        audience: Validation::Validate(AUDIENCE.to_owned()),
    })
}

fn moment(at: Timestamp) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_micros(at.unix_micros())
}

#[cfg(test)]
mod tests;
