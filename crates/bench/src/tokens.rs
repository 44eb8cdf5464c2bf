//! Real access tokens, signed with a key that the measured servers share.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use cuepoint_adapters::clock::SystemClock;
use cuepoint_adapters::security::keys::{KeysInForce, OlderKeys, Rotation, rotate_file};
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_adapters::security::tokens::SignedTokens;
use cuepoint_domain::authorization::{Epoch, Principal};
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ports::Clock;
use cuepoint_domain::user::Role;
use time::Duration;

/// The default lifetime in production.
const VALID_FOR: Duration = Duration::minutes(15);

/// An issuer of tokens for known users.
pub(crate) struct Tokens {
    key_file: PathBuf,
    djs: HashSet<UserId>,
}

impl Tokens {
    /// Creates a key file in this folder; users in `djs` get the tokens of a DJ.
    pub(crate) fn new(folder: &Path, djs: impl Iterator<Item = UserId>) -> anyhow::Result<Self> {
        let key_file = folder.join("signing-keys");
        let asked = Rotation {
            algorithm: None,
            signs_in: Duration::ZERO,
            access_token_ttl: VALID_FOR,
            older: OlderKeys::Verify,
        };
        rotate_file(&key_file, asked, &SystemClock, RandomSecrets::new()?)?;
        Ok(Self { key_file, djs: djs.collect() })
    }

    /// The path of the key file for the servers.
    pub(crate) fn key_file(&self) -> &Path {
        &self.key_file
    }

    /// Returns a token for each of these users, valid for 15 minutes.
    pub(crate) fn of(&self, people: &[UserId]) -> anyhow::Result<Vec<String>> {
        let now = SystemClock.now();
        let keys = KeysInForce::read(&self.key_file, now)?;
        let tokens = SignedTokens::new(keys, VALID_FOR, RandomSecrets::new()?);
        let issue = |user: &UserId| {
            let session = SessionId::new(user.get()).context("the session id is invalid")?;
            let caller =
                Principal { user: *user, role: Role::Member, is_dj: self.djs.contains(user), session };
            Ok(tokens.issue(&caller, Epoch(0), now)?.token)
        };
        people.iter().map(issue).collect()
    }
}
