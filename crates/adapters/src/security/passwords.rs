//! Password hashing with argon2id, with limited concurrency and outside the threads that answer requests.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use argon2::password_hash::Error;
use argon2::password_hash::phc::{Output, ParamsString, PasswordHash as ParsedHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use async_trait::async_trait;
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::ports::{HashingError, PasswordCheck, PasswordHash, Passwords, Unavailable};
use cuepoint_domain::text::Password;
use passwords::analyzer::is_common_password;
use serde::Deserialize;

use super::password_queue::{PATIENCE, PasswordQueue};

/// The maximum length of common passwords; no list has longer ones.
const LONGEST_COMMON: usize = 64;

/// The treatment of passwords known from breaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BreachedPasswords {
    Refuse,
    /// Breached passwords are accepted, for development.
    Accept,
}

/// A password hasher, which runs at most one hash per core: each occupies a core and the configured memory.
#[derive(Clone, Debug)]
pub struct Argon2Passwords {
    cost: Params,
    breached: BreachedPasswords,
    queue: Arc<PasswordQueue>,
    argon2id: Arc<Argon2id>,
}

impl Argon2Passwords {
    /// Creates a hasher with these cost parameters, for which at most this many passwords of a network wait.
    #[must_use]
    pub fn new(cost: Params, breached: BreachedPasswords, most_waiting: Option<NonZeroU32>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let queue = PasswordQueue::new(cores, most_waiting, PATIENCE);
        let argon2id = Arc::new(Argon2id { free: Mutex::default(), kept: cost.block_count() });
        Self { cost, breached, queue, argon2id }
    }

    /// The queue of waiting passwords.
    #[must_use]
    pub fn queue(&self) -> Arc<PasswordQueue> {
        Arc::clone(&self.queue)
    }

    /// Waits for a free place, then runs the work on a blocking thread.
    async fn in_turn<T: Send + 'static>(
        &self,
        network: Option<ClientNetwork>,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, HashingError> {
        let place = self.queue.place(network).await?;
        let worked = tokio::task::spawn_blocking(move || {
            // Held until the work ends, so that a cancelled request does not free its place early.
            let _place = place;
            work()
        });
        Ok(worked.await.map_err(Unavailable::new)?.map_err(Unavailable::new)?)
    }
}

#[async_trait]
impl Passwords for Argon2Passwords {
    async fn hash(
        &self,
        password: &Password,
        network: Option<ClientNetwork>,
    ) -> Result<PasswordHash, HashingError> {
        let (password, cost, argon2id) = (password.clone(), self.cost.clone(), Arc::clone(&self.argon2id));
        self.in_turn(network, move || argon2id.hash(&password, &cost)).await
    }

    async fn rehash(
        &self,
        password: &Password,
        before: &PasswordHash,
        network: Option<ClientNetwork>,
    ) -> Result<PasswordHash, HashingError> {
        let (password, cost, argon2id) = (password.clone(), self.cost.clone(), Arc::clone(&self.argon2id));
        let before = before.clone();
        self.in_turn(network, move || {
            let salt = ParsedHash::new(&before.0)?.salt.ok_or(Error::EncodingInvalid)?;
            argon2id.hash_with(&password, salt, &cost)
        })
        .await
    }

    async fn verify(
        &self,
        password: &Password,
        against: Option<PasswordHash>,
        network: Option<ClientNetwork>,
    ) -> Result<PasswordCheck, HashingError> {
        let (password, cost, argon2id) = (password.clone(), self.cost.clone(), Arc::clone(&self.argon2id));
        self.in_turn(network, move || match against {
            Some(against) => argon2id.verify(&password, &against, &cost),
            // Takes as much work as a comparison.
            None => argon2id.hash(&password, &cost).map(|_| PasswordCheck::Wrong),
        })
        .await
    }

    fn is_breached(&self, password: &Password) -> bool {
        let password = password.reveal();
        self.breached == BreachedPasswords::Refuse
            && password.len() <= LONGEST_COMMON
            && (is_common_password(password) || is_common_password(password.to_lowercase()))
    }
}

/// The hash function, with memory that it keeps: an allocator would keep a multiple of it for the threads that hash.
#[derive(Debug)]
struct Argon2id {
    free: Mutex<Vec<Vec<Block>>>,
    /// The number of blocks of a hash at the configured cost: the memory of more expensive ones is not kept.
    kept: usize,
}

impl Argon2id {
    /// Hashes a password with a random salt.
    fn hash(&self, password: &Password, cost: &Params) -> Result<PasswordHash, Error> {
        self.hash_with(password, Salt::generate(), cost)
    }

    fn hash_with(&self, password: &Password, salt: Salt, cost: &Params) -> Result<PasswordHash, Error> {
        let hash = ParsedHash {
            algorithm: Algorithm::Argon2id.ident(),
            version: Some(Version::V0x13.into()),
            params: ParamsString::try_from(cost)?,
            salt: Some(salt),
            hash: Some(self.output(password, &salt, cost, Params::DEFAULT_OUTPUT_LEN)?),
        };
        Ok(PasswordHash(hash.to_string()))
    }

    /// Compares a password with a hash, which determines the cost of the comparison.
    fn verify(
        &self,
        password: &Password,
        against: &PasswordHash,
        cost: &Params,
    ) -> Result<PasswordCheck, Error> {
        let against = ParsedHash::new(&against.0)?;
        let (Some(salt), Some(hash)) = (against.salt, against.hash) else {
            return Err(Error::EncodingInvalid);
        };
        let is_own = against.algorithm == Algorithm::Argon2id.ident()
            && against.version.is_none_or(|version| version == u32::from(Version::V0x13));
        if !is_own {
            return Err(Error::Algorithm);
        }
        let kept = Params::try_from(&against)?;
        let costs = |params: &Params| (params.m_cost(), params.t_cost(), params.p_cost());
        // `Output` compares in constant time.
        match self.output(password, &salt, &kept, hash.len())? == hash {
            false => Ok(PasswordCheck::Wrong),
            true if costs(&kept) != costs(cost) => Ok(PasswordCheck::Outdated),
            true => Ok(PasswordCheck::Right),
        }
    }

    /// The hash of this length, computed in memory that no other hash uses at the same time.
    fn output(
        &self,
        password: &Password,
        salt: &[u8],
        cost: &Params,
        length: usize,
    ) -> Result<Output, Error> {
        let fits = cost.block_count() <= self.kept;
        let mut blocks = if fits { self.free().pop() } else { None }.unwrap_or_default();
        blocks.reserve_exact(cost.block_count().saturating_sub(blocks.len()));
        blocks.resize(cost.block_count(), Block::new());
        let mut bytes = vec![0; length];
        let argon2id = Argon2::new(Algorithm::Argon2id, Version::V0x13, cost.clone());
        let password = password.reveal().as_bytes();
        let hashed = argon2id.hash_password_into_with_memory(password, salt, &mut bytes, &mut *blocks);
        if blocks.capacity() <= self.kept {
            self.free().push(blocks);
        }
        hashed?;
        Ok(Output::new(&bytes)?)
    }

    fn free(&self) -> MutexGuard<'_, Vec<Vec<Block>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(memory_kib: u32) -> Params {
        Params::new(memory_kib, 2, 1, None).unwrap()
    }

    fn passwords(memory_kib: u32) -> Argon2Passwords {
        Argon2Passwords::new(cost(memory_kib), BreachedPasswords::Refuse, None)
    }

    fn password(text: &str) -> Password {
        Password::presented(text)
    }

    #[tokio::test]
    async fn a_hash_matches_only_its_own_password() {
        let passwords = passwords(19_456);
        let hash = passwords.hash(&password("correct horse"), None).await.unwrap();
        assert!(hash.0.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.0);
        assert_eq!(
            passwords.verify(&password("correct horse"), Some(hash.clone()), None).await.unwrap(),
            PasswordCheck::Right
        );
        assert_eq!(
            passwords.verify(&password("correct horsE"), Some(hash), None).await.unwrap(),
            PasswordCheck::Wrong
        );
        assert_eq!(
            passwords.verify(&password("correct horse"), None, None).await.unwrap(),
            PasswordCheck::Wrong
        );
    }

    #[tokio::test]
    async fn a_hash_with_a_different_cost_is_outdated() {
        let before = passwords(8_192).hash(&password("correct horse"), None).await.unwrap();
        assert!(before.0.contains("$m=8192,t=2,p=1$"), "{}", before.0);
        let passwords = passwords(9_216);
        let verified =
            passwords.verify(&password("correct horse"), Some(before.clone()), None).await.unwrap();
        assert_eq!(verified, PasswordCheck::Outdated);
        assert_eq!(
            passwords.verify(&password("wrong horse"), Some(before), None).await.unwrap(),
            PasswordCheck::Wrong
        );
    }

    /// Attack API2: what is bound to a password outlives it, or ends although the password stays.
    #[tokio::test]
    async fn a_new_hash_of_the_same_password_keeps_its_mark() {
        let before = passwords(8_192).hash(&password("correct horse"), None).await.unwrap();
        let passwords = passwords(9_216);
        let after = passwords.rehash(&password("correct horse"), &before, None).await.unwrap();
        assert!(after.0.contains("$m=9216,t=2,p=1$"), "{}", after.0);
        assert_eq!(
            passwords.verify(&password("correct horse"), Some(after.clone()), None).await.unwrap(),
            PasswordCheck::Right
        );
        assert_eq!(after.mark(), before.mark());
        assert!(before.mark().is_some());
        let another = passwords.hash(&password("correct horse"), None).await.unwrap();
        assert_ne!(another.mark(), before.mark(), "the password was set again");
    }

    #[tokio::test]
    async fn hashes_of_one_password_differ() {
        let passwords = passwords(8_192);
        let one = passwords.hash(&password("correct horse"), None).await.unwrap();
        assert!(one != passwords.hash(&password("correct horse"), None).await.unwrap());
    }

    #[tokio::test]
    async fn a_hash_of_the_argon2_library_is_verified_in_the_memory_of_earlier_hashes() {
        use argon2::password_hash::PasswordHasher;
        let library = Argon2::new(Algorithm::Argon2id, Version::V0x13, cost(8_192));
        let foreign = PasswordHash(library.hash_password(b"correct horse").unwrap().to_string());
        let passwords = passwords(9_216);
        for text in ["correct horse", "battery staple", "correct horse"] {
            passwords.hash(&password(text), None).await.unwrap();
            let expensive = PasswordHash(
                Argon2::new(Algorithm::Argon2id, Version::V0x13, cost(20_480))
                    .hash_password(b"x")
                    .unwrap()
                    .to_string(),
            );
            passwords.verify(&password(text), Some(expensive), None).await.unwrap();
            let verified = passwords.verify(&password(text), Some(foreign.clone()), None).await.unwrap();
            let expected =
                if text == "correct horse" { PasswordCheck::Outdated } else { PasswordCheck::Wrong };
            assert_eq!(verified, expected);
        }
        let blocks = cost(9_216).block_count();
        let kept: Vec<usize> = passwords.argon2id.free().iter().map(Vec::capacity).collect();
        assert_eq!(kept, [blocks], "the memory of the expensive hash is not kept");
    }

    #[tokio::test]
    async fn a_malformed_hash_is_an_error() {
        let broken = PasswordHash("$argon2id$broken".to_owned());
        assert!(passwords(8_192).verify(&password("x"), Some(broken), None).await.is_err());
    }

    #[test]
    fn breached_passwords_are_recognized_in_any_letter_case() {
        let refuses = passwords(8_192);
        for common in ["password", "12345678", "qwertyuiop", "PassWord", "TRUSTNO1", "P@ssw0rd"] {
            assert!(refuses.is_breached(&password(common)), "{common}");
        }
        for own in ["correct horse", "battery staple", "12345678 and more", &"password".repeat(1_000)] {
            assert!(!refuses.is_breached(&password(own)), "{own}");
        }
        let accepts = Argon2Passwords::new(cost(8_192), BreachedPasswords::Accept, None);
        assert!(!accepts.is_breached(&password("password")));
    }
}
