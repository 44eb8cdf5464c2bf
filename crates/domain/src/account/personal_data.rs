//! Personal data: everything that is kept about a person, in lists that are read from the newest record to the oldest.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::account::User;
use crate::account::challenge::Challenge;
use crate::account::security_log::SecurityEvent;
use crate::account::session::Session;
use crate::ids::{OperationId, UserId};
use crate::ledger::{Actor, Balance, EntityKind, EntityRef, Entry, Outcome, StoredReceipt};
use crate::music_request::MusicRequest;
use crate::names::named_enum;
use crate::network::KnownNetwork;
use crate::ports::Block;
use crate::provider_message::ProviderMessage;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::topup::Topup;
use crate::withdrawal::Withdrawal;

/// What is kept about a person beside their profile and wallet, a list each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum Part {
    /// Their sessions, those that ended too.
    Sessions,
    /// The networks from which they were logged in.
    Networks,
    /// The codes and tokens that they were sent.
    Challenges,
    /// The requests that they made.
    RequestsMade,
    /// The requests addressed to them.
    RequestsReceived,
    /// Their withdrawals.
    Withdrawals,
    /// Their top-ups.
    Topups,
    /// Their wallet's entries.
    #[strum(serialize = "wallet_entries")]
    Entries,
    /// What changed their profile and their account, and what operators did about them with a reason.
    Operations,
    /// The messages of providers about their top-ups and withdrawals that contradict the ledger.
    ProviderMessages,
    /// Whom they take no requests from.
    Blocks,
    /// Who takes no requests from them.
    BlockedBy,
    /// What the security log has about them.
    #[strum(serialize = "security_events")]
    Events,
}

named_enum!(Part);

/// Who was behind an operation, as the person learns whom it is about: which operator it was is not theirs to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum ActedBy {
    /// The person.
    #[strum(serialize = "self")]
    Themselves,
    /// An operator.
    Operator,
    /// The service, or a provider.
    Service,
}

named_enum!(ActedBy);

impl ActedBy {
    /// Who this actor is to a person: only operators act on what is others'.
    fn of(actor: Actor, person: Option<UserId>) -> Self {
        match actor {
            Actor::System => Self::Service,
            Actor::User(user) if Some(user) == person => Self::Themselves,
            Actor::User(_) => Self::Operator,
        }
    }
}

/// An operation about a person, as it is shown to them.
#[derive(Clone, PartialEq, Debug)]
pub struct OperationNote {
    /// Which.
    pub id: OperationId,
    /// What it did, by the name of a [`crate::ledger::PlanKind`] of this version or of a newer one.
    pub kind: String,
    /// Who was behind it.
    pub acted_by: ActedBy,
    /// Why, where somebody said so.
    pub reason: Option<Line>,
    /// What it was about; `None` where it was the profile or the account itself.
    pub reference: Option<EntityRef>,
    /// The profile after it, as long as it is kept.
    pub profile: Option<(User, Balance)>,
    /// When it was decided.
    pub at: Timestamp,
}

impl OperationNote {
    /// The person whom an operation is about, if it is shown to them: whose profile or account it changed, or about whose
    /// money or request somebody gave a reason.
    #[must_use]
    pub fn person(receipt: &StoredReceipt, reason: Option<&Line>) -> Option<UserId> {
        let outcome = match receipt {
            StoredReceipt::Redacted { user, .. } => return Some(*user),
            StoredReceipt::Whole(receipt) => &receipt.outcome,
        };
        match outcome {
            Outcome::Profile(user, _) => Some(user.id),
            _ if reason.is_none() => None,
            Outcome::Request(request) => Some(request.requester),
            Outcome::Withdrawal(withdrawal, _) => Some(withdrawal.user),
            Outcome::Topup(topup) => Some(topup.user),
            Outcome::Adjustment(adjustment, _) => Some(adjustment.user),
            Outcome::Message(_) => None,
        }
    }

    /// The note of an operation with this receipt.
    #[must_use]
    pub fn new(
        kind: String,
        actor: Actor,
        reason: Option<Line>,
        receipt: &StoredReceipt,
        at: Timestamp,
    ) -> Self {
        let acted_by = ActedBy::of(actor, Self::person(receipt, reason.as_ref()));
        let outcome = receipt.whole().map(|receipt| &receipt.outcome);
        let reference = outcome.map(Outcome::reference);
        let reference = reference.filter(|reference| reference.kind().is_ok_and(EntityKind::is_posted));
        let profile = outcome.and_then(|outcome| match outcome {
            Outcome::Profile(user, balance) => Some((user.clone(), *balance)),
            _ => None,
        });
        Self { id: receipt.operation(), kind, acted_by, reason, reference, profile, at }
    }
}

/// One record about a person.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "a page of records is short-lived")]
pub enum Record {
    /// A session, with its end if it was ended before its time.
    Session(Session, Option<Timestamp>),
    /// A network, with its number.
    Network(i64, KnownNetwork),
    /// A code or token that was sent.
    Challenge(Challenge),
    /// A request, made or received.
    Request(MusicRequest),
    /// A withdrawal.
    Withdrawal(Withdrawal),
    /// A top-up.
    Topup(Topup),
    /// An entry of the wallet, with the reason of its operation, if there is one.
    Entry(Entry, Option<Line>),
    /// An operation.
    Operation(OperationNote),
    /// A message of a provider.
    ProviderMessage(ProviderMessage),
    /// A block by the person.
    Block(Block),
    /// A block of the person.
    BlockedBy {
        /// The DJ.
        dj: UserId,
        /// Since when.
        at: Timestamp,
    },
    /// An event of the security log, with its number.
    Event(i64, SecurityEvent),
}

/// The place of a record in its list: no two of a list have the same, and none ever changes its place. Lists are in
/// descending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// Microseconds since the start of 1970, or a number.
    pub major: i64,
    /// What orders records of the same moment.
    pub minor: u128,
}

impl Place {
    fn at(at: Timestamp, minor: i64) -> Self {
        Self { major: at.unix_micros(), minor: u128::try_from(minor).unwrap_or(0) }
    }

    const fn number(major: i64) -> Self {
        Self { major, minor: 0 }
    }

    /// The moment that the place begins with, in a list by time.
    #[must_use]
    pub fn moment(self) -> Timestamp {
        Timestamp::from_unix_micros(self.major)
    }

    /// The number of what has this place, in a list by time.
    #[must_use]
    pub fn id(self) -> i64 {
        i64::try_from(self.minor).unwrap_or(i64::MAX)
    }
}

impl Record {
    /// Its place in its list.
    #[must_use]
    pub fn place(&self) -> Place {
        match self {
            Self::Session(session, _) => Place::at(session.began_at, session.id.get()),
            Self::Network(number, _) | Self::Event(number, _) => Place::number(*number),
            Self::Challenge(challenge) => {
                // Two that were sent at once differ in their hash.
                let minor = challenge.hash.0.first_chunk().copied().map_or(0, u128::from_be_bytes);
                Place { major: challenge.issued_at.unix_micros(), minor }
            }
            Self::Request(request) => Place::at(request.created_at, request.id.get()),
            Self::Withdrawal(withdrawal) => Place::at(withdrawal.created_at, withdrawal.id.get()),
            Self::Topup(topup) => Place::at(topup.created_at, topup.id.get()),
            Self::Entry(entry, _) => Place::number(entry.seq),
            Self::Operation(note) => Place { major: note.at.unix_micros(), minor: note.id.0 },
            Self::ProviderMessage(message) => Place::number(message.id.get()),
            Self::Block(block) => Place::at(block.at, block.guest.get()),
            Self::BlockedBy { dj, at } => Place::at(*at, dj.get()),
        }
    }

    /// The record as the person may see it at this moment: requests are seen by the clock, and what an operator did shows
    /// neither which operator it was nor from where.
    #[must_use]
    pub fn shown_to(self, user: UserId, now: Timestamp) -> Self {
        match self {
            Self::Request(request) => Self::Request(request.seen_at(now)),
            Self::Event(number, event) => Self::Event(number, event.shown_to(user)),
            other => other,
        }
    }

    /// The next of these records behind a place, `limit` at most, for lists that a store has whole in memory.
    #[must_use]
    pub fn next(records: impl IntoIterator<Item = Self>, after: Option<Place>, limit: u32) -> Vec<Self> {
        let behind = records.into_iter().filter(|record| after.is_none_or(|after| record.place() < after));
        let mut behind: Vec<Self> = behind.collect();
        behind.sort_unstable_by_key(|record| std::cmp::Reverse(record.place()));
        behind.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        behind
    }
}
