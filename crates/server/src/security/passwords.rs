//! Passwords hashed with argon2id, a few at a time and away from the threads that answer requests.

use std::sync::Arc;
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash as ParsedHash;
use argon2::password_hash::{Error, PasswordHasher, PasswordVerifier};
use async_trait::async_trait;
use cuepoint_domain::ports::{PasswordHash, Passwords, Unavailable};
use cuepoint_domain::text::Password;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a password waits for its turn.
const PATIENCE: Duration = Duration::from_secs(3);

/// Hashes as many passwords at once as the machine has cores: each takes 19 MiB and the whole of one.
#[derive(Clone, Debug)]
pub struct Argon2Passwords {
    turns: Arc<Semaphore>,
    patience: Duration,
}

impl Default for Argon2Passwords {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { turns: Arc::new(Semaphore::new(cores)), patience: PATIENCE }
    }
}

impl Argon2Passwords {
    /// Does the work in turn, on a thread that may block.
    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Unavailable> {
        let turn = self.turn().await?;
        let worked = tokio::task::spawn_blocking(move || {
            // Held by the work, so that a caller who goes away makes no room for one more.
            let _turn = turn;
            work()
        });
        worked.await.map_err(Unavailable::new)?.map_err(Unavailable::new)
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, Unavailable> {
        let turn = tokio::time::timeout(self.patience, self.turns.clone().acquire_owned()).await;
        turn.map_err(|_| Unavailable::new("too many passwords are waiting to be hashed"))?
            .map_err(Unavailable::new)
    }
}

#[async_trait]
impl Passwords for Argon2Passwords {
    async fn hash(&self, password: &Password) -> Result<PasswordHash, Unavailable> {
        let password = password.clone();
        self.in_turn(move || hash(&password)).await
    }

    async fn verify(&self, password: &Password, against: Option<PasswordHash>) -> Result<bool, Unavailable> {
        let password = password.clone();
        self.in_turn(move || match against {
            Some(against) => verify(&password, &against),
            // As much work as a comparison.
            None => hash(&password).map(|_| false),
        })
        .await
    }
}

fn hash(password: &Password) -> Result<PasswordHash, Error> {
    Argon2::default().hash_password(password.reveal().as_bytes()).map(|hash| PasswordHash(hash.to_string()))
}

fn verify(password: &Password, against: &PasswordHash) -> Result<bool, Error> {
    let against = ParsedHash::new(&against.0)?;
    match Argon2::default().verify_password(password.reveal().as_bytes(), &against) {
        Ok(()) => Ok(true),
        Err(Error::PasswordInvalid) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(text: &str) -> Password {
        Password::presented(text)
    }

    #[tokio::test]
    async fn a_password_matches_its_own_hash_alone() {
        let passwords = Argon2Passwords::default();
        let hash = passwords.hash(&password("correct horse")).await.unwrap();
        assert!(hash.0.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.0);
        assert!(passwords.verify(&password("correct horse"), Some(hash.clone())).await.unwrap());
        assert!(!passwords.verify(&password("correct horsE"), Some(hash)).await.unwrap());
        assert!(!passwords.verify(&password("correct horse"), None).await.unwrap());
    }

    #[tokio::test]
    async fn the_same_password_never_hashes_to_the_same() {
        let passwords = Argon2Passwords::default();
        let one = passwords.hash(&password("correct horse")).await.unwrap();
        assert!(one != passwords.hash(&password("correct horse")).await.unwrap());
    }

    #[tokio::test]
    async fn a_hash_that_is_none_is_no_wrong_password() {
        let broken = PasswordHash("$argon2id$broken".to_owned());
        assert!(Argon2Passwords::default().verify(&password("x"), Some(broken)).await.is_err());
    }

    #[tokio::test]
    async fn who_waits_too_long_for_a_turn_is_sent_away() {
        let passwords = Argon2Passwords { turns: Arc::new(Semaphore::new(0)), patience: Duration::ZERO };
        assert!(passwords.hash(&password("correct horse")).await.is_err());
    }
}
