//! The measured operations of the service, and the limit that each is compared with.

use std::collections::HashMap;

use anyhow::Context;
use cuepoint_domain::ids::UserId;

use crate::limits;
use crate::load::Requests;
use crate::load::requests::{at_random, request, write_request};
use crate::seeding::Population;
use crate::tokens::Tokens;

/// The body of a withdrawal: the smallest amount, to an address with a valid checksum.
const WITHDRAWAL: &str = r#"{"amount":1,"wallet_address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq","currency":"BTC","network":"bitcoin"}"#;

/// The row of the empty handler.
pub const BARE_HANDLER: &str = "bare handler";

/// The store of the service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Store {
    /// In PostgreSQL.
    Postgres,
    /// In memory.
    Memory,
}

/// A kind of request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Users read their personal info.
    PersonalInfo,
    /// DJs list the requests addressed to them.
    List,
    /// DJs accept pending requests.
    Update,
    /// Users withdraw.
    Withdrawal,
    /// One user withdraws, on all connections at once.
    HotWithdrawal,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 5] =
        [Self::PersonalInfo, Self::List, Self::Update, Self::Withdrawal, Self::HotWithdrawal];

    /// Its name in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PersonalInfo => "personal-info",
            Self::List => "list",
            Self::Update => "requests-update",
            Self::Withdrawal => "withdrawal (random)",
            Self::HotWithdrawal => "withdrawal (hot)",
        }
    }

    /// The row that limits it, and the required share of that limit at the highest number of connections.
    #[must_use]
    pub const fn limit(self, store: Store) -> (&'static str, Option<f64>) {
        match (store, self) {
            (Store::Postgres, Self::PersonalInfo) => (limits::ONE_ROW, Some(0.75)),
            (Store::Postgres, Self::List) => (limits::COUNT_AND_PAGE, Some(0.65)),
            (Store::Postgres, Self::Update) => (limits::CONDITIONAL_UPDATE, Some(1.0)),
            (Store::Postgres, Self::Withdrawal) => (limits::RANDOM_STATEMENT, Some(1.3)),
            (Store::Postgres, Self::HotWithdrawal) => (limits::HOT_STATEMENT, Some(5.0)),
            (Store::Memory, Self::PersonalInfo) => (BARE_HANDLER, Some(0.6)),
            (Store::Memory, Self::Withdrawal) => (BARE_HANDLER, Some(0.4)),
            (Store::Memory, Self::List | Self::Update | Self::HotWithdrawal) => (BARE_HANDLER, None),
        }
    }

    /// The query of a count that each request increases by one; `None` if the operation only reads.
    #[must_use]
    pub const fn counted_by(self) -> Option<&'static str> {
        match self {
            Self::PersonalInfo | Self::List => None,
            Self::Update => Some("SELECT count(*) FROM music_requests WHERE status = 'accepted'"),
            Self::Withdrawal | Self::HotWithdrawal => Some("SELECT count(*) FROM withdrawals"),
        }
    }

    /// Returns the requests, each with the token of a user who is allowed to make it.
    ///
    /// # Errors
    /// If no user can make them.
    pub fn requests(
        self,
        population: &Population,
        tokens: &Tokens,
    ) -> anyhow::Result<Box<Requests<'static>>> {
        let of_all = |people: Vec<UserId>, method, path, body| -> anyhow::Result<Box<Requests<'static>>> {
            let tokens = tokens.of(&people)?;
            let requests: Vec<Vec<u8>> =
                tokens.iter().map(|token| request(method, path, Some(token), body)).collect();
            Ok(Box::new(at_random(&requests)))
        };
        let withdrawal = |people| of_all(people, "POST", "/api/v1/withdrawal/crypto", Some(WITHDRAWAL));
        match self {
            Self::PersonalInfo => {
                of_all(population.users().collect(), "GET", "/api/v1/user/personal-info", None)
            }
            Self::List => of_all(population.djs().collect(), "GET", "/api/v1/music/dj/requests", None),
            Self::Withdrawal => withdrawal(population.users().collect()),
            Self::HotWithdrawal => withdrawal(population.users().take(1).collect()),
            Self::Update => acceptances(population, tokens),
        }
    }
}

/// Returns the acceptances of all pending requests, each once, in random order.
fn acceptances(population: &Population, tokens: &Tokens) -> anyhow::Result<Box<Requests<'static>>> {
    let djs: Vec<UserId> = population.djs().collect();
    let tokens: HashMap<UserId, String> = djs.iter().copied().zip(tokens.of(&djs)?).collect();
    let mut pending: Vec<_> = population.pending().collect();
    fastrand::Rng::with_seed(2).shuffle(&mut pending);
    pending.first().context("nothing is pending")?;
    let mut pending = pending.into_iter();
    Ok(Box::new(move |into| {
        let Some((id, dj)) = pending.next() else { return false };
        let path = format!("/api/v1/music/requests-update/{id}");
        write_request(
            into,
            "PATCH",
            &path,
            tokens.get(&dj).map(String::as_str),
            Some(r#"{"status":"accepted"}"#),
        );
        true
    }))
}
