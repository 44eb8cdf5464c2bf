//! A plan: one atomic change, decided by a rule and applied by a store.

use std::collections::BTreeSet;

use crate::access::Caller;
use crate::adjustment::Adjustment;
use crate::ids::{OperationId, ProviderMessageId, RequestId, SessionId, TopupId, UserId, WithdrawalId};
use crate::ledger::{IdempotencyKey, PostingRules, Reference, Transfer};
use crate::money::Amount;
use crate::music_request::{MusicRequest, RequestState, RequestStatus};
use crate::people::{ProfileChange, StandingChange};
use crate::provider_message::{ProviderMessage, Resolution};
use crate::session::Visitor;
use crate::text::{Line, PaymentUrl};
use crate::timestamp::Timestamp;
use crate::topup::{Orders, Suspense, Topup, TopupStatus};
use crate::withdrawal::{Window, Withdrawal, WithdrawalState};

/// Who is behind a change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Actor {
    /// A person, in their own affairs or as an operator.
    User(UserId),
    /// The service itself: the clock, a provider's word.
    System,
}

/// Where a plan comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The permanent identity of the change.
    pub operation: OperationId,
    /// Who is behind it.
    pub actor: Actor,
    /// When it was decided.
    pub at: Timestamp,
    /// Why, where somebody must say so.
    pub reason: Option<Line>,
    /// The client's key, where it sent one.
    pub key: Option<IdempotencyKey>,
    /// The session that a person called in.
    pub session: Option<SessionId>,
    /// The client that a person called from.
    pub visitor: Visitor,
    /// Whether the person acts as an operator: the plan is then rejected unless they are an active one when it is applied.
    pub as_operator: bool,
}

impl Origin {
    /// A change by the service itself.
    #[must_use]
    pub const fn system(operation: OperationId, at: Timestamp) -> Self {
        Self::of(Actor::System, operation, at)
    }

    /// A change by a person who did not call over the network, so that no session and no client are known.
    #[must_use]
    pub const fn by(user: UserId, operation: OperationId, at: Timestamp) -> Self {
        Self::of(Actor::User(user), operation, at)
    }

    /// A change by a caller, in their session and from this client.
    #[must_use]
    pub const fn called(caller: &Caller, visitor: Visitor, operation: OperationId, at: Timestamp) -> Self {
        let (actor, session) = (Actor::User(caller.user), Some(caller.session));
        Self { operation, actor, at, reason: None, key: None, session, visitor, as_operator: false }
    }

    /// A change without a reason, a key, a session or a client.
    #[must_use]
    pub const fn of(actor: Actor, operation: OperationId, at: Timestamp) -> Self {
        let visitor = Visitor { address: None, agent: None };
        Self { operation, actor, at, reason: None, key: None, session: None, visitor, as_operator: false }
    }

    /// The person behind the plan, if one is.
    #[must_use]
    pub const fn person(&self) -> Option<UserId> {
        match self.actor {
            Actor::User(user) => Some(user),
            Actor::System => None,
        }
    }
}

/// What a plan does beside moving money.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Nothing: the thing stands where it should, and is answered.
    None(Subject),
    /// Makes a request.
    OpenRequest(MusicRequest),
    /// Moves a request.
    MoveRequest {
        /// The request as it must stand.
        before: MusicRequest,
        /// Where it goes.
        to: RequestState,
    },
    /// Makes a withdrawal.
    OpenWithdrawal(Withdrawal),
    /// Moves a withdrawal.
    MoveWithdrawal {
        /// The withdrawal as it must stand.
        before: Withdrawal,
        /// Where it goes.
        to: WithdrawalState,
    },
    /// Adds an operator's approval to a pending withdrawal, which is approved by it or still pending.
    ApproveWithdrawal {
        /// The withdrawal as it must stand, approvals included.
        before: Withdrawal,
        /// Who approves it.
        by: UserId,
        /// Above this it takes the approvals of two operators.
        second_above: Option<Amount>,
    },
    /// Makes a top-up.
    OpenTopup(Topup),
    /// Orders a pending top-up at its provider, or keeps what came of that.
    OrderTopup {
        /// The top-up as it must stand.
        before: Topup,
        /// How it is ordered from now on.
        orders: Orders,
        /// Where the guest pays, where the provider named a page.
        page: Option<PaymentUrl>,
    },
    /// Ends a pending top-up, or takes the money of a confirmed one back.
    MoveTopup {
        /// The top-up as it must stand.
        before: Topup,
        /// Where it goes.
        to: TopupStatus,
    },
    /// Takes the money of a top-up into suspense, or out of it; a pending top-up fails.
    SuspendTopup {
        /// The top-up as it must stand.
        before: Topup,
        /// The money from now on.
        suspense: Suspense,
    },
    /// Corrects a balance.
    Adjust(Adjustment),
    /// Changes a person's profile.
    Profile {
        /// Whose.
        user: UserId,
        /// How.
        change: Box<ProfileChange>,
    },
    /// Changes how a person stands with the service.
    Standing {
        /// Whose.
        user: UserId,
        /// How.
        change: StandingChange,
    },
    /// Resolves a message of a provider.
    ResolveMessage {
        /// The message as it must stand.
        before: Box<ProviderMessage>,
        /// How.
        resolution: Resolution,
    },
}

/// The thing that a plan without a change answers with, as it must stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A music request.
    Request(MusicRequest),
    /// A withdrawal.
    Withdrawal(Withdrawal),
    /// A top-up.
    Topup(Topup),
}

/// What must hold on the locked book, beyond the floors of the accounts and the states of what moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guard {
    /// The withdrawal that the plan makes stays within this window.
    Window(Window),
    /// With the request that the plan makes, its guest has no more than this many open ones with its DJ.
    OpenRequests(u32),
    /// This operator, who judges the withdrawal, has not adjusted its owner's wallet within
    /// [`Adjustment::BARS_JUDGING_FOR`].
    NoRecentAdjustment(UserId),
    /// The change of a person's standing leaves an active operator, if there was one.
    ActiveOperator,
}

/// One atomic change. Only the rules in [`crate::plans`] make one.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    pub(crate) origin: Origin,
    pub(crate) step: Step,
    pub(crate) guards: Vec<Guard>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) rules: PostingRules,
}

/// The rows that a plan must see, locked, in the book that it is applied to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// Requests, by id.
    pub requests: BTreeSet<RequestId>,
    /// People, by id.
    pub users: BTreeSet<UserId>,
    /// Whether the rows of all operators are needed; they are locked together with those people, all by id.
    pub operators: bool,
    /// Wallets, by their owner's id.
    pub wallets: BTreeSet<UserId>,
    /// Withdrawals, by id.
    pub withdrawals: BTreeSet<WithdrawalId>,
    /// Top-ups, by id.
    pub topups: BTreeSet<TopupId>,
    /// Messages of providers, by id.
    pub provider_messages: BTreeSet<ProviderMessageId>,
    /// Whose withdrawals made after the moment are needed to judge a window.
    pub withdrawn_since: Option<(UserId, Timestamp)>,
    /// Whose requests that hold a fee are needed, to count those with the DJ beside them.
    pub open_requests: Option<(UserId, UserId)>,
    /// The wallet whose adjustments after the moment are needed, with who made them.
    pub adjusted_since: Option<(UserId, Timestamp)>,
}

impl Plan {
    /// Where it comes from.
    #[must_use]
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// What it does beside moving money.
    #[must_use]
    pub const fn step(&self) -> &Step {
        &self.step
    }

    /// What it is about, for the entries; `None` where it moves no money by its nature.
    #[must_use]
    pub const fn reference(&self) -> Option<Reference> {
        match &self.step {
            Step::OpenRequest(request) => Some(Reference::MusicRequest(request.id)),
            Step::MoveRequest { before, .. } => Some(Reference::MusicRequest(before.id)),
            Step::OpenWithdrawal(withdrawal) => Some(Reference::Withdrawal(withdrawal.id)),
            Step::MoveWithdrawal { before, .. } | Step::ApproveWithdrawal { before, .. } => {
                Some(Reference::Withdrawal(before.id))
            }
            Step::OpenTopup(topup) => Some(Reference::Topup(topup.id)),
            Step::OrderTopup { before, .. }
            | Step::MoveTopup { before, .. }
            | Step::SuspendTopup { before, .. } => Some(Reference::Topup(before.id)),
            Step::Adjust(adjustment) => Some(Reference::Adjustment(adjustment.id)),
            Step::None(_) | Step::Profile { .. } | Step::Standing { .. } | Step::ResolveMessage { .. } => {
                None
            }
        }
    }

    /// The same plan, its money posted by these rules.
    #[must_use]
    pub fn posted_by(self, rules: PostingRules) -> Self {
        Self { rules, ..self }
    }

    /// Every name of what a plan does.
    pub const KINDS: [&str; 18] = [
        "none",
        "open_request",
        "move_request",
        "open_withdrawal",
        "move_withdrawal",
        "approve_withdrawal",
        "open_topup",
        "order_topup",
        "move_topup",
        "reverse_topup",
        "suspend_topup",
        "settle_suspense",
        "adjust",
        "profile",
        "suspend",
        "restore",
        "role",
        "resolve_message",
    ];

    /// A short name of what it does, for the record of operations: one of [`Self::KINDS`].
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match &self.step {
            Step::None(_) => "none",
            Step::OpenRequest(_) => "open_request",
            Step::MoveRequest { .. } => "move_request",
            Step::OpenWithdrawal(_) => "open_withdrawal",
            Step::MoveWithdrawal { .. } => "move_withdrawal",
            Step::ApproveWithdrawal { .. } => "approve_withdrawal",
            Step::OpenTopup(_) => "open_topup",
            Step::OrderTopup { .. } => "order_topup",
            Step::MoveTopup { to: TopupStatus::Reversed, .. } => "reverse_topup",
            Step::MoveTopup { .. } => "move_topup",
            Step::SuspendTopup { suspense: Suspense { settlement: None, .. }, .. } => "suspend_topup",
            Step::SuspendTopup { .. } => "settle_suspense",
            Step::Adjust(_) => "adjust",
            Step::Profile { .. } => "profile",
            Step::Standing { change: StandingChange::Suspend, .. } => "suspend",
            Step::Standing { change: StandingChange::Restore, .. } => "restore",
            Step::Standing { change: StandingChange::Role(_), .. } => "role",
            Step::ResolveMessage { .. } => "resolve_message",
        }
    }

    /// The person who must be an active operator for it to be applied.
    pub(crate) const fn operator(&self) -> Option<UserId> {
        match self.origin.actor {
            Actor::User(user) if self.origin.as_operator => Some(user),
            _ => None,
        }
    }

    /// The rows that it must see, locked.
    #[must_use]
    pub fn names(&self) -> Names {
        let mut names = Names::default();
        for transfer in &self.transfers {
            names.wallets.extend(transfer.debit.owner());
            names.wallets.extend(transfer.credit.owner());
        }
        if let (Some(_), Actor::User(user)) = (&self.origin.key, self.origin.actor) {
            names.wallets.insert(user);
        }
        names.users.extend(self.operator());
        self.name_step(&mut names);
        self.name_guards(&mut names);
        names
    }

    fn name_step(&self, names: &mut Names) {
        match &self.step {
            Step::OpenRequest(request) => {
                names.wallets.insert(request.requester);
            }
            Step::OpenTopup(topup) => {
                names.users.insert(topup.user);
                names.wallets.insert(topup.user);
            }
            Step::None(Subject::Request(request)) => {
                names.requests.insert(request.id);
            }
            Step::None(Subject::Withdrawal(withdrawal)) => {
                names.withdrawals.insert(withdrawal.id);
                names.wallets.insert(withdrawal.user);
            }
            Step::None(Subject::Topup(topup)) => {
                names.topups.insert(topup.id);
            }
            Step::OrderTopup { before, .. } | Step::SuspendTopup { before, .. } => {
                names.topups.insert(before.id);
            }
            Step::MoveTopup { before, to } => {
                names.topups.insert(before.id);
                if *to == TopupStatus::Confirmed {
                    names.users.insert(before.user);
                }
            }
            Step::MoveRequest { before, to } => {
                names.requests.insert(before.id);
                if to.status() == RequestStatus::Played {
                    names.users.insert(before.dj);
                }
            }
            Step::OpenWithdrawal(withdrawal) => {
                names.wallets.insert(withdrawal.user);
            }
            Step::MoveWithdrawal { before, .. } => {
                names.withdrawals.insert(before.id);
                names.wallets.insert(before.user);
            }
            Step::ApproveWithdrawal { before, .. } => {
                names.withdrawals.insert(before.id);
                names.wallets.insert(before.user);
                names.users.extend(before.approvals.iter().map(|earlier| earlier.by));
                names.adjusted_since = Some((before.user, self.adjustments_since()));
            }
            Step::Adjust(adjustment) => {
                names.wallets.insert(adjustment.user);
            }
            Step::Profile { user, .. } | Step::Standing { user, .. } => {
                names.users.insert(*user);
                names.wallets.insert(*user);
            }
            Step::ResolveMessage { before, .. } => {
                names.provider_messages.insert(before.id);
            }
        }
    }

    fn name_guards(&self, names: &mut Names) {
        for guard in &self.guards {
            match (guard, &self.step) {
                (Guard::Window(window), Step::OpenWithdrawal(withdrawal)) => {
                    let since = self.origin.at.minus(window.length);
                    let earliest = names.withdrawn_since.map_or(since, |(_, other)| other.min(since));
                    names.withdrawn_since = Some((withdrawal.user, earliest));
                }
                (Guard::OpenRequests(_), Step::OpenRequest(request)) => {
                    names.open_requests = Some((request.requester, request.dj));
                }
                (
                    Guard::NoRecentAdjustment(_),
                    Step::MoveWithdrawal { before, .. }
                    | Step::ApproveWithdrawal { before, .. }
                    | Step::None(Subject::Withdrawal(before)),
                ) => {
                    names.adjusted_since = Some((before.user, self.adjustments_since()));
                }
                (Guard::ActiveOperator, _) => names.operators = true,
                (Guard::Window(_) | Guard::OpenRequests(_) | Guard::NoRecentAdjustment(_), _) => {}
            }
        }
    }

    /// The moment after which an adjustment keeps its operator from judging the wallet's withdrawals.
    pub(crate) fn adjustments_since(&self) -> Timestamp {
        self.origin.at.minus(Adjustment::BARS_JUDGING_FOR)
    }
}
