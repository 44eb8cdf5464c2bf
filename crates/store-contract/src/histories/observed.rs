//! Translates values of the domain into those of the model, for comparison.

use cuepoint_domain::authorization::DenialReason;
use cuepoint_domain::gig::GigRefusal;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::money::Amount;
use cuepoint_domain::music_request::{self, OpenRefusal, QueueRefusal};
use cuepoint_domain::operation::{Entity, Outcome, Receipt, Rejection};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::tip::TipRefusal;
use cuepoint_domain::topup::{GuestTopupLimit, ReversalRefusal, SuspenseRefusal, Topup, TopupStatus};
use cuepoint_domain::user::{ProfileRefusal, User};
use cuepoint_domain::withdrawal::{self, Limit};

use crate::harness::refusal::Refusal;
use crate::harness::scenario::{Refused, at, line};
use crate::histories::model::{Balances, Dj, Seen, TXIDS};

/// A balance.
pub(crate) fn balances(balance: Balance) -> Balances {
    (balance.available.minor(), balance.held.minor(), balance.owed.minor())
}

/// A DJ's profile.
pub(crate) fn dj(user: &User) -> Option<Dj> {
    user.dj.as_ref().map(|dj| Dj {
        online: dj.online,
        upcoming: dj.fee_upcoming_artist.minor(),
        popular: dj.fee_popular_song.minor(),
        played: dj.played,
        stars: dj.rating.stars,
        ratings: dj.rating.count,
    })
}

/// Whole seconds since the start of the fixture's time.
pub(crate) fn seconds(moment: Timestamp) -> i64 {
    (moment.unix_micros() - at(0).unix_micros()) / 1_000_000
}

/// The domain's move of a request.
pub(crate) fn request_move(to: &str) -> music_request::Move {
    use music_request::Move;
    Move::ALL.iter().copied().find(|one| one.to().name() == to).unwrap()
}

/// The domain's move of a withdrawal, by this user.
pub(crate) fn withdrawal_move(
    to: &str,
    by: UserId,
    second_above: Option<Amount>,
    txid: bool,
) -> withdrawal::Move {
    use withdrawal::Move;
    match to {
        "approved" => Move::Approve { by: Some(by), second_above },
        "rejected" => Move::Reject { by },
        "cancelled" => Move::Cancel,
        "processing" => Move::Process,
        "broadcast" => Move::Broadcast { txid: line(TXIDS[0]) },
        "completed" => Move::Complete { txid: txid.then(|| line(TXIDS[0])) },
        "failed" => Move::Fail,
        "needs_review" => Move::Review,
        other => panic!("no status: {other}"),
    }
}

/// The answer to a command.
pub(crate) fn outcome_of(answer: Result<Receipt, Refused>) -> Result<Seen, Refusal> {
    match answer {
        Ok(receipt) => Ok(seen(receipt.outcome)),
        Err(refused) => Err(refusal(refused)),
    }
}

fn seen(outcome: Outcome) -> Seen {
    let balance = || balances(outcome.balance.unwrap());
    match outcome.entity {
        Entity::MusicRequest(request) => Seen::Request {
            status: request.state.status().name(),
            fee: request.fee.minor(),
            since: seconds(request.updated_at()),
        },
        Entity::Withdrawal(withdrawal) => Seen::Withdrawal {
            status: withdrawal.state.status().name(),
            txid: withdrawal.state.txid().map(|txid| txid.as_str().to_owned()),
            approvals: withdrawal.approvals.len(),
            balances: balance(),
        },
        Entity::Rating(rating) => {
            Seen::Rating { stars: rating.stars.get().into(), since: seconds(rating.rated_at) }
        }
        Entity::GigRecord(record) => Seen::Gig { status: record.status.name() },
        Entity::Tip(tip) => {
            let (cents, commission) = (tip.amount.money().minor(), tip.commission.minor());
            Seen::Tip { cents, commission, balances: balance() }
        }
        Entity::Gig(gig) => panic!("a receipt has the texts of a gig: {gig:?}"),
        Entity::Topup(topup) => Seen::Topup { status: topup_status(&topup) },
        Entity::User(user) => Seen::Profile { dj: dj(&user), balances: balance() },
        Entity::Adjustment(_) => Seen::Adjustment { balances: balance() },
        Entity::ProviderMessage(message) => panic!("no history is about a message: {message:?}"),
    }
}

/// The status of a top-up; that of a failed one includes its money in suspense.
pub(crate) fn topup_status(topup: &Topup) -> &'static str {
    match &topup.suspense {
        None => topup.status.name(),
        Some(suspense) if suspense.settlement.is_none() => "suspended",
        Some(_) => "settled",
    }
}

fn refusal(refused: Refused) -> Refusal {
    match refused {
        Refused::Open(OpenRefusal::Oneself | OpenRefusal::NoSuchDj) => Refusal::NoSuchDj,
        Refused::Open(OpenRefusal::FeeBelowPrice(price)) => Refusal::FeeBelowPrice(price.minor()),
        Refused::Open(OpenRefusal::DjOffline) => Refusal::DjOffline,
        Refused::Denied(DenialReason::MembersOnly) => Refusal::ClaimRequired,
        Refused::Rejected(Rejection::GuestTopupLimit(limit)) => Refusal::GuestLimit(match limit {
            GuestTopupLimit::InWallet(_) => "in wallet",
            GuestTopupLimit::Per24h(_) => "per 24h",
        }),
        Refused::Rejected(Rejection::RecentAdjustment) => Refusal::RecentAdjustment,
        Refused::Rejected(Rejection::TooManyOpen(most)) => Refusal::TooManyOpen(most),
        Refused::Rejected(Rejection::NoRoom(refusal)) => Refusal::NoRoom(match refusal {
            QueueRefusal::TooManyMade(_) => "all made",
            QueueRefusal::TooManyMadeForGuests(_) => "all made for guests",
            QueueRefusal::Full(_) => "full",
            QueueRefusal::FullForGuests(_) => "full for guests",
        }),
        Refused::Rejected(Rejection::GigOpen(_)) => Refusal::GigOpen,
        Refused::Rejected(Rejection::GigEnded(current)) => {
            refusal(Refused::Request(music_request::MoveRefusal::gig_ended(current)))
        }
        Refused::Gig(GigRefusal::Ended) => Refusal::GigEnded,
        Refused::Tip(TipRefusal::Oneself) => Refusal::OwnTip,
        Refused::Rejected(Rejection::Inactive) => Refusal::Inactive,
        Refused::Request(music_request::MoveRefusal::InvalidTransition { current, allowed }) => {
            let allowed = allowed.into_iter().map(music_request::RequestStatus::name).collect();
            Refusal::Transition { current: current.name(), allowed }
        }
        Refused::Withdrawal(withdrawal::MoveRefusal::InvalidTransition { current, allowed }) => {
            let allowed = allowed.into_iter().map(withdrawal::WithdrawalStatus::name).collect();
            Refusal::Transition { current: current.name(), allowed }
        }
        Refused::Reversal(ReversalRefusal { current, allowed }) => {
            let allowed = allowed.into_iter().map(TopupStatus::name).collect();
            Refusal::Transition { current: current.name(), allowed }
        }
        Refused::Suspense(SuspenseRefusal::AlreadySettled) => Refusal::AlreadySettled,
        Refused::Withdrawal(withdrawal::MoveRefusal::TxidMissing) => Refusal::TxidMissing,
        Refused::Rejected(Rejection::InsufficientFunds { available }) => {
            Refusal::Funds { available: available.minor() }
        }
        Refused::Rejected(Rejection::WalletOwes { owed }) => Refusal::Owes { owed: owed.minor() },
        Refused::Rejected(Rejection::Profile(ProfileRefusal::NotADj)) => Refusal::NotADj,
        Refused::Limit(limit) | Refused::Rejected(Rejection::LimitExceeded(limit)) => {
            Refusal::Limit(window(limit))
        }
        other => panic!("not reached by any history: {other:?}"),
    }
}

fn window(limit: Limit) -> &'static str {
    match limit {
        Limit::Single(_) => "single",
        Limit::Rolling(window) if window.length.whole_hours() == 24 => "24h",
        Limit::Rolling(_) => "30d",
        Limit::Cleared(_) => "cleared",
    }
}

/// A short name of an answer.
pub(crate) fn name(answer: &Result<Seen, Refusal>) -> String {
    match answer {
        Ok(Seen::Request { status, .. }) => format!("request {status}"),
        Ok(Seen::Rating { stars, .. }) => format!("{stars} stars"),
        Ok(Seen::Gig { status }) => format!("gig {status}"),
        Ok(Seen::Tip { .. }) => "tip".to_owned(),
        Ok(Seen::Withdrawal { status: "pending", approvals: 1, .. }) => "withdrawal approved once".to_owned(),
        Ok(Seen::Withdrawal { status: "approved", approvals: 2, .. }) => {
            "withdrawal approved twice".to_owned()
        }
        Ok(Seen::Withdrawal { status, .. }) => format!("withdrawal {status}"),
        Ok(Seen::Topup { status }) => format!("topup {status}"),
        Ok(Seen::Adjustment { .. }) => "adjustment".to_owned(),
        Ok(Seen::Profile { .. }) => "profile".to_owned(),
        Err(Refusal::FeeBelowPrice(_)) => "fee below price".to_owned(),
        Err(Refusal::Funds { .. }) => "funds".to_owned(),
        Err(Refusal::Owes { .. }) => "wallet owes".to_owned(),
        Err(Refusal::Limit(limit)) => format!("limit {limit}"),
        Err(Refusal::GuestLimit(limit)) => format!("guest limit {limit}"),
        Err(Refusal::ClaimRequired) => "claim required".to_owned(),
        Err(Refusal::Transition { .. }) => "transition".to_owned(),
        Err(Refusal::NoSuchDj) => "no such dj".to_owned(),
        Err(Refusal::DjOffline) => "dj offline".to_owned(),
        Err(Refusal::TooManyOpen(_)) => "too many open".to_owned(),
        Err(Refusal::NoRoom(why)) => format!("no room: {why}"),
        Err(Refusal::GigOpen) => "another gig is open".to_owned(),
        Err(Refusal::GigEnded) => "gig has ended".to_owned(),
        Err(Refusal::NotADj) => "not a dj".to_owned(),
        Err(Refusal::OwnTip) => "own tip".to_owned(),
        Err(Refusal::Inactive) => "inactive".to_owned(),
        Err(Refusal::RecentAdjustment) => "recent adjustment".to_owned(),
        Err(Refusal::TxidMissing) => "txid missing".to_owned(),
        Err(Refusal::AlreadySettled) => "already settled".to_owned(),
    }
}

/// Answers that the histories must have reached, as evidence that they cover all of the tables.
pub(crate) const EVERYTHING: &[&str] = &[
    "request pending",
    "request accepted",
    "request rejected",
    "request cancelled",
    "request expired",
    "request played",
    "request refunded",
    "1 stars",
    "5 stars",
    "gig open",
    "gig paused",
    "gig ended",
    "another gig is open",
    "gig has ended",
    "tip",
    "own tip",
    "inactive",
    "withdrawal pending",
    "withdrawal approved once",
    "withdrawal approved twice",
    "withdrawal approved",
    "withdrawal processing",
    "withdrawal broadcast",
    "withdrawal completed",
    "withdrawal cancelled",
    "withdrawal rejected",
    "withdrawal failed",
    "withdrawal needs_review",
    "topup pending",
    "topup confirmed",
    "topup failed",
    "topup reversed",
    "topup suspended",
    "topup settled",
    "already settled",
    "erasure: done",
    "erasure: money left",
    "erasure: topup pending",
    "erasure of a guest account: done",
    "claim: done",
    "claim: address taken",
    "claim: no guest account",
    "claim required",
    "guest account deleted",
    "guest account kept",
    "guest limit in wallet",
    "guest limit per 24h",
    "topup claimed",
    "topup given up",
    "order answered: page",
    "order answered: taken",
    "order answered: refused",
    "order answered: silent",
    "adjustment",
    "profile",
    "no such dj",
    "fee below price",
    "dj offline",
    "too many open",
    "no room: all made",
    "no room: all made for guests",
    "no room: full",
    "no room: full for guests",
    "a request displaced a guest's",
    "a request displaced a member's",
    "not a dj",
    "funds",
    "wallet owes",
    "limit single",
    "limit 24h",
    "limit 30d",
    "limit cleared",
    "recent adjustment",
    "txid missing",
    "transition",
    "payout update moved",
    "payout update known",
    "payout update for operator",
    "payout update txid_mismatch",
    "payout update status_contradiction",
    "topup update moved",
    "topup update known",
    "topup update amount_mismatch",
    "topup update partial_reversal",
    "topup update status_contradiction",
    "owed",
    "paid back",
    "replayed",
    "key reused",
    "lost answer",
    "lost answer at a crash",
    "reopened",
];
