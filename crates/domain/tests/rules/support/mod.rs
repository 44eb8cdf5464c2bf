//! A book with everything ever written to it, as the fixture of the tables of cases.

use std::collections::BTreeSet;

use cuepoint_domain::audit::{Auditor, Finding, Summary, Trace};
use cuepoint_domain::gig::{GuestLimit, NewGig, QueueOrder};
use cuepoint_domain::ids::{AdjustmentId, OperationId, RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ledger::adjustment::{Adjustment, Correction};
use cuepoint_domain::ledger::{Balance, Entry, Posting, Wallet};
use cuepoint_domain::money::{Amount, BasisPoints, Currency, Money};
use cuepoint_domain::music_request::{self, Addressee, MusicRequest, NewRequest, RequestTerms};
use cuepoint_domain::operation::{
    Book, Changes, Entity, OperationMetadata, Plan, Receipt, Rejection, StoredReceipt, Verdict, apply, plans,
};
use cuepoint_domain::text::{Email, GigTitle, Line, MusicUrl};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Charge, Topup};
use cuepoint_domain::user::{ArtistType, DjChange, Locate, User};
use cuepoint_domain::withdrawal::{self, WithdrawalAmount};
use time::Duration;

pub(crate) const GUEST: i64 = 1;
pub(crate) const DJ: i64 = 2;
pub(crate) const OPERATOR: i64 = 3;

/// A gig with its default settings.
pub(crate) fn new_gig() -> NewGig {
    NewGig {
        title: GigTitle::new("Friday").unwrap(),
        venue: None,
        city: None,
        place: Locate::default(),
        message: None,
        queue_order: QueueOrder::Rounds,
        max_open_per_guest: GuestLimit::default(),
        members_only: false,
        asks_kind: false,
        prices: DjChange::default(),
        new_code: false,
    }
}

pub(crate) fn user(number: i64) -> UserId {
    UserId::new(number).unwrap()
}

pub(crate) fn money(cents: i128) -> Money {
    Money::from_minor(cents)
}

pub(crate) fn amount(cents: i128) -> Amount {
    Amount::new(money(cents)).unwrap()
}

/// An amount of a withdrawal in a currency without decimals, whose minimum is 1.
pub(crate) fn withdrawal_amount(cents: i128) -> WithdrawalAmount {
    WithdrawalAmount::new(amount(cents), &Currency::new("JPY", 0).unwrap()).unwrap()
}

pub(crate) fn line(text: &str) -> Line {
    Line::new(text).unwrap()
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::EPOCH.plus(Duration::seconds(seconds))
}

/// Available, held and owed.
pub(crate) fn balance(available: i128, held: i128, owed: i128) -> Balance {
    Balance { available: money(available), held: money(held), owed: money(owed) }
}

pub(crate) fn terms(bps: u16) -> RequestTerms {
    RequestTerms { commission: BasisPoints::new(bps).unwrap(), ..RequestTerms::default() }
}

/// A correction of a user's balance; never zero.
pub(crate) fn adjustment(number: i64, who: i64, cents: i128) -> Adjustment {
    Adjustment {
        id: AdjustmentId::new(number).unwrap(),
        user: user(who),
        correction: Correction::signed(money(cents)).unwrap(),
        reason: line("a mistake"),
    }
}

/// A pending request of the guest to the DJ, made at the start.
pub(crate) fn request(fee: i128) -> MusicRequest {
    MusicRequest {
        id: RequestId::new(7).unwrap(),
        requester: user(GUEST),
        dj: user(DJ),
        song_title: line("Blue Monday"),
        artist_name: line("New Order"),
        artist_type: ArtistType::Popular,
        music_url: MusicUrl::new("https://example.com/blue-monday").unwrap(),
        fee: money(fee),
        gig: None,
        counts_as_guest: false,
        state: music_request::RequestState::Pending { answer_by: at(900) },
        created_at: at(0),
    }
}

/// A guest, a DJ and an operator with a wallet each, and all entries and postings made.
#[derive(Clone, Default)]
pub(crate) struct Ledger {
    pub(crate) book: Book,
    pub(crate) entries: Vec<Entry>,
    pub(crate) postings: Vec<Posting>,
    operations: u128,
}

impl Ledger {
    /// The DJ is online and charges `price`; the guest has `available`.
    pub(crate) fn new(price: i128, available: i128) -> Self {
        let mut ledger = Self::default();
        for (number, name, is_dj) in
            [(GUEST, "guest", false), (DJ, "dj", true), (OPERATOR, "operator", false)]
        {
            let email = Email::new(&format!("{name}@example.com")).unwrap();
            let mut person = User::registered(user(number), line(name), email, None, is_dj, at(0));
            if let Some(dj) = &mut person.dj {
                (dj.online, dj.fee_popular_song) = (true, money(price));
            }
            ledger.book.put(person);
            ledger.book.wallets.insert(user(number), Wallet::empty(user(number)));
        }
        if available > 0 {
            ledger.adjust(GUEST, available).unwrap();
        }
        ledger
    }

    pub(crate) fn metadata(&mut self, now: Timestamp) -> OperationMetadata {
        self.operations += 1;
        OperationMetadata::system(OperationId(self.operations), now)
    }

    /// Applies a plan, and stores its changes.
    pub(crate) fn apply(&mut self, plan: &Plan) -> Result<Receipt, Rejection> {
        match apply(&mut self.book, plan)? {
            Verdict::Replayed(receipt) => Ok(receipt),
            Verdict::Fresh(receipt, changes) => {
                let Changes { entries, postings, .. } = *changes;
                self.entries.extend(entries);
                self.postings.extend(postings);
                Ok(receipt)
            }
        }
    }

    pub(crate) fn adjust(&mut self, who: i64, cents: i128) -> Result<Receipt, Rejection> {
        let metadata = self.metadata(at(0));
        let number = i64::try_from(self.operations).unwrap();
        self.apply(&plans::adjust(metadata, adjustment(number, who, cents), &Default::default()).unwrap())
    }

    /// Opens a request at the list price, with this number.
    pub(crate) fn open(&mut self, number: i64, terms: &RequestTerms) -> Result<MusicRequest, Rejection> {
        let example = request(0);
        let new = NewRequest {
            dj: example.dj,
            song_title: example.song_title,
            artist_name: example.artist_name,
            artist_type: example.artist_type,
            music_url: Some(example.music_url),
            fee: None,
            message: None,
        };
        let dj = self.book.get(user(DJ)).cloned();
        let id = RequestId::new(number).unwrap();
        let metadata = self.metadata(at(1));
        let plan =
            plans::open_request(metadata, id, user(GUEST), Addressee::of(dj.as_ref()), new, terms).unwrap();
        let receipt = self.apply(&plan)?;
        match receipt.outcome.entity {
            Entity::MusicRequest(request) => Ok(request),
            other => panic!("no request: {other:?}"),
        }
    }

    /// Moves a stored request; the rule must allow the move.
    pub(crate) fn step(
        &mut self,
        number: i64,
        to: music_request::Move,
        terms: &RequestTerms,
    ) -> Result<Receipt, Rejection> {
        let stored = self.book.get(RequestId::new(number).unwrap()).unwrap().clone();
        let metadata = self.metadata(at(2));
        self.apply(&plans::move_request(metadata, &stored, to, terms).unwrap())
    }

    /// Opens a withdrawal, with this number.
    pub(crate) fn withdraw(&mut self, number: i64, who: i64, cents: i128) -> Result<Receipt, Rejection> {
        let new = cuepoint_domain::withdrawal::NewWithdrawal {
            amount: withdrawal_amount(cents),
            wallet_address: line("bc1qexample"),
            currency: line("BTC"),
            network: line("bitcoin"),
        };
        let (id, metadata) = (WithdrawalId::new(number).unwrap(), self.metadata(at(3)));
        self.apply(&plans::open_withdrawal(metadata, id, user(who), new, &Default::default()).unwrap())
    }

    pub(crate) fn balance(&self, who: i64) -> Balance {
        self.book.wallets[&user(who)].balance
    }

    /// Opens a top-up, with this number.
    pub(crate) fn topup(
        &mut self,
        number: i64,
        who: i64,
        cents: i128,
        charge: Charge,
    ) -> Result<Receipt, Rejection> {
        let (id, metadata) = (TopupId::new(number).unwrap(), self.metadata(at(3)));
        self.apply(&plans::open_topup(metadata, id, user(who), amount(cents), charge))
    }

    /// A stored top-up.
    pub(crate) fn the_topup(&self, number: i64) -> Topup {
        self.book.get(TopupId::new(number).unwrap()).unwrap().clone()
    }

    /// Reverses a stored top-up.
    pub(crate) fn reverse(&mut self, number: i64) -> Result<Receipt, Rejection> {
        let metadata = self.metadata(at(6));
        let plan = plans::reverse_topup(metadata, &self.the_topup(number)).unwrap();
        self.apply(&plan)
    }

    /// Books late money of a stored top-up into suspense.
    pub(crate) fn suspend(&mut self, number: i64) -> Result<Receipt, Rejection> {
        let metadata = self.metadata(at(7));
        let plan = plans::suspend_topup(metadata, &self.the_topup(number));
        self.apply(&plan)
    }

    /// Takes late money of a stored top-up out of suspense.
    pub(crate) fn settle_suspense(&mut self, number: i64) -> Result<Receipt, Rejection> {
        let metadata = self.metadata(at(8));
        let (topup, reason) = (self.the_topup(number), line("sent back"));
        let plan = plans::settle_suspense(metadata, &topup, user(OPERATOR), reason).unwrap();
        self.apply(&plan)
    }

    /// Moves a stored withdrawal; the rule must allow the move.
    pub(crate) fn move_withdrawal(
        &mut self,
        number: i64,
        to: withdrawal::Move,
    ) -> Result<Receipt, Rejection> {
        let stored = self.book.get(WithdrawalId::new(number).unwrap()).unwrap().clone();
        let metadata = self.metadata(at(4));
        self.apply(&plans::move_withdrawal(metadata, &stored, to).unwrap())
    }

    /// Audits everything written.
    pub(crate) fn audit(&self) -> Result<Summary, Finding> {
        let mut auditor = Auditor::new();
        let mut wallets: Vec<&Wallet> = self.book.wallets.values().collect();
        wallets.sort_by_key(|wallet| wallet.user);
        for wallet in wallets {
            auditor.wallet(wallet.clone());
            self.entries
                .iter()
                .filter(|entry| entry.wallet == wallet.user)
                .for_each(|entry| auditor.entry(entry));
        }
        self.postings.iter().for_each(|posting| auditor.posting(posting));
        self.entities().iter().for_each(|entity| auditor.entity(entity, &self.trace(entity)));
        auditor.finish()
    }

    /// The receipt of an operation.
    pub(crate) fn receipt_mut(&mut self, operation: OperationId) -> &mut Receipt {
        match self.book.operations.get_mut(&operation).unwrap() {
            StoredReceipt::Whole(receipt) => receipt,
            redacted => panic!("{redacted:?}"),
        }
    }

    /// All entities that entries can refer to, by kind and id.
    pub(crate) fn entities(&self) -> Vec<Entity> {
        let receipts = self.book.operations.values().filter_map(StoredReceipt::whole);
        let adjustments = receipts.filter_map(|receipt| match &receipt.outcome.entity {
            Entity::Adjustment(adjustment) => Some(Entity::Adjustment(adjustment.clone())),
            _ => None,
        });
        let stored = self.book.entities().filter(|entity| entity.kind().is_posted());
        let mut entities: Vec<Entity> = stored.chain(adjustments).collect();
        entities.sort_by_key(Entity::reference);
        entities
    }

    fn trace(&self, entity: &Entity) -> Trace {
        let about = |entry: &&Entry| entry.reference == entity.reference();
        let entries: Vec<Entry> = self.entries.iter().filter(about).cloned().collect();
        let with_entries = entries.iter().map(|entry| entry.operation);
        let operations: BTreeSet<OperationId> =
            with_entries.chain(entity.operations_without_entries()).collect();
        let posted = |posting: &&Posting| operations.contains(&posting.operation);
        Trace {
            postings: self.postings.iter().filter(posted).copied().collect(),
            receipts: operations
                .iter()
                .filter_map(|one| self.book.operations.get(one)?.whole().cloned())
                .collect(),
            moves: self.moves(entity),
            entries,
        }
    }

    /// The receipts of all operations on a withdrawal.
    fn moves(&self, entity: &Entity) -> Vec<Receipt> {
        let Entity::Withdrawal(withdrawal) = entity else { return Vec::new() };
        let about = |receipt: &&Receipt| match &receipt.outcome.entity {
            Entity::Withdrawal(then) => then.id == withdrawal.id,
            _ => false,
        };
        self.book.operations.values().filter_map(StoredReceipt::whole).filter(about).cloned().collect()
    }
}
