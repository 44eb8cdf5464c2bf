//! The measured operations of the service, and the limit that each is compared with.

use std::collections::HashMap;

use anyhow::Context;
use cuepoint_domain::ids::UserId;

use crate::file_limits;
use crate::limits;
use crate::load::Requests;
use crate::load::requests::{at_random, request, write_request};
use crate::machine::Vendor;
use crate::seeding::Population;
use crate::tokens::Tokens;

/// The body of a withdrawal: the smallest amount, to an address with a valid checksum.
const WITHDRAWAL: &str = r#"{"amount":1,"wallet_address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq","currency":"BTC","network":"bitcoin"}"#;

/// The row of the empty handler.
pub(crate) const BARE_HANDLER: &str = "bare handler";

/// The store of the service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Store {
    /// In PostgreSQL.
    Postgres,
    /// In a SQLite file.
    Sqlite,
    Memory,
}

/// A kind of request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    /// Users read their personal info.
    PersonalInfo,
    /// DJs list the requests addressed to them.
    List,
    /// Guests list their own requests.
    GuestList,
    /// DJs accept pending requests.
    Update,
    /// Users withdraw.
    Withdrawal,
    /// One user withdraws, on all connections at once.
    HotWithdrawal,
}

impl Store {
    /// Every store.
    pub(crate) const ALL: [Self; 3] = [Self::Postgres, Self::Sqlite, Self::Memory];

    /// Its name, with which its rows begin.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite",
            Self::Memory => "memory",
        }
    }

    /// Its name in a title.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Sqlite => "SQLite",
            Self::Memory => "In memory",
        }
    }

    /// The maximum memory of a server on the store, in MiB, at the number of connections at which results are judged.
    pub(crate) const fn most_memory(self) -> Option<u32> {
        match self {
            Self::Postgres => Some(40),
            Self::Sqlite => Some(64),
            Self::Memory => None,
        }
    }
}

/// A row that an operation is compared with.
pub(crate) struct Limit {
    /// The name of the row.
    pub(crate) row: String,
    /// The target.
    pub(crate) wanted: Option<Wanted>,
}

/// The required share of the best result of a limit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Wanted {
    /// On every processor.
    Share(f64),
    /// On the processors of each vendor.
    ByVendor {
        /// On those of Intel.
        intel: f64,
        /// On those of AMD.
        amd: f64,
    },
}

impl Wanted {
    /// The required share on the processors of a vendor.
    pub(crate) const fn on(self, vendor: Option<Vendor>) -> Option<f64> {
        match (self, vendor) {
            (Self::Share(share), _)
            | (Self::ByVendor { intel: share, .. }, Some(Vendor::Intel))
            | (Self::ByVendor { amd: share, .. }, Some(Vendor::Amd)) => Some(share),
            (Self::ByVendor { .. }, None) => None,
        }
    }
}

impl Operation {
    /// The operations of the table.
    pub(crate) const ALL: [Self; 5] =
        [Self::PersonalInfo, Self::List, Self::Update, Self::Withdrawal, Self::HotWithdrawal];

    /// Its name in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::PersonalInfo => "personal-info",
            Self::List => "list",
            Self::GuestList => "guest's list",
            Self::Update => "requests-update",
            Self::Withdrawal => "withdrawal (random)",
            Self::HotWithdrawal => "withdrawal (hot)",
        }
    }

    /// The row of the operation on a store.
    pub(crate) fn row(self, store: Store) -> String {
        format!("{}: {}", store.name(), self.name())
    }

    /// The rows that the operation on a store is compared with, the most telling one first.
    pub(crate) fn limits(self, store: Store) -> Vec<Limit> {
        let limit = |row: &str, share| Limit { row: row.to_owned(), wanted: Some(Wanted::Share(share)) };
        let unjudged = |row: &str| Limit { row: row.to_owned(), wanted: None };
        let ours = |share| limit(&self.row(Store::Postgres), share);
        match (store, self) {
            (Store::Postgres, Self::PersonalInfo) => vec![limit(limits::ONE_ROW, 1.1)],
            (Store::Postgres, Self::List) => vec![limit(limits::COUNT_AND_PAGE, 0.9)],
            (Store::Postgres, Self::Update) => vec![limit(limits::CONDITIONAL_UPDATE, 1.2)],
            (Store::Postgres, Self::Withdrawal) => vec![limit(limits::RANDOM_STATEMENT, 1.6)],
            (Store::Postgres, Self::HotWithdrawal) => vec![limit(limits::HOT_STATEMENT, 8.0)],
            (Store::Sqlite, Self::PersonalInfo | Self::List) => vec![ours(1.4)],
            (Store::Sqlite, Self::Update) => vec![ours(1.3), unjudged(file_limits::UPDATE)],
            (Store::Sqlite, Self::Withdrawal) => vec![ours(1.6), unjudged(file_limits::RANDOM_WITHDRAWAL)],
            (Store::Sqlite, Self::HotWithdrawal) => vec![unjudged(file_limits::HOT_WITHDRAWAL)],
            (Store::Memory, Self::PersonalInfo) => {
                let wanted = Some(Wanted::ByVendor { intel: 0.65, amd: 0.9 });
                vec![Limit { row: BARE_HANDLER.to_owned(), wanted }]
            }
            (Store::Memory, _) | (_, Self::GuestList) => Vec::new(),
        }
    }

    /// The query of a count that each request increases by one; `None` if the operation only reads.
    pub(crate) const fn counted_by(self) -> Option<&'static str> {
        match self {
            Self::PersonalInfo | Self::List | Self::GuestList => None,
            Self::Update => Some("SELECT count(*) FROM music_requests WHERE status = 'accepted'"),
            Self::Withdrawal | Self::HotWithdrawal => Some("SELECT count(*) FROM withdrawals"),
        }
    }

    /// Returns the requests, each with the token of a user who is allowed to make it.
    pub(crate) fn requests(
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
            Self::GuestList => {
                let guests = population.users().filter(|user| !population.is_dj(*user)).collect();
                of_all(guests, "GET", "/api/v1/music/user/requests", None)
            }
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
