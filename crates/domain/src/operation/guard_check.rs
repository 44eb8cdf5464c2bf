//! The checks of a plan's guards on the locked book.

use crate::entity_ref::EntityKind;
use crate::operation::expectations::present;
use crate::operation::{Book, Changes, Guard, Plan, Rejection};
use crate::user::leaves_an_operator;
use crate::withdrawal::{Clearing, Limit};

impl Guard {
    /// Checks the invariant for a plan that would make these changes.
    pub(super) fn check(&self, book: &Book, plan: &Plan, changes: &Changes) -> Result<(), Rejection> {
        let at = plan.metadata.at;
        let rejection = match *self {
            Self::Present(user) => return present(book, user).map(drop),
            Self::Active(user) => {
                let stored = book.get(user).filter(|user| user.is_present());
                let is_active = stored.is_some_and(|user| user.suspended_at.is_none());
                (!is_active).then_some(Rejection::Inactive)
            }
            Self::NoDebt(of) => {
                let wallet = book.wallets.get(&of).ok_or(Rejection::Missing(EntityKind::Wallet))?;
                let owed = wallet.balance.owed;
                (!owed.is_zero()).then_some(Rejection::WalletOwes { owed })
            }
            Self::Window { of, amount, window } => {
                let is_admitted = window.admits(amount, at, book.withdrawals_of(of));
                (!is_admitted).then_some(Rejection::LimitExceeded(Limit::Rolling(window)))
            }
            Self::Cleared { of, amount, time } => {
                let wallet = book.wallets.get(&of).ok_or(Rejection::Missing(EntityKind::Wallet))?;
                let available = wallet.balance.available;
                let clearing = Clearing::of(available, time, at, book.income_of(of)).amount;
                let cleared = available.checked_sub(clearing).ok_or(Rejection::OutOfRange)?;
                // An amount above the balance is refused for lack of funds.
                let is_clearing = amount.money() > cleared && amount.money() <= available;
                is_clearing.then_some(Rejection::LimitExceeded(Limit::Cleared(cleared)))
            }
            Self::GuestTopup { of, amount, limits } => {
                let wallet = book.wallets.get(&of).ok_or(Rejection::Missing(EntityKind::Wallet))?;
                let exceeded = limits.exceeded(amount, wallet.balance, book.topups_of(of), at);
                exceeded.map(Rejection::GuestTopupLimit)
            }
            Self::VerifiedEmail(of) => {
                (!present(book, of)?.email_verified).then_some(Rejection::EmailUnverified)
            }
            Self::OpenRequests { guest, dj, most } => {
                let open = book.open_requests(guest, dj, at);
                let is_full = usize::try_from(most).is_ok_and(|most| open >= most);
                is_full.then_some(Rejection::TooManyOpen(most))
            }
            Self::QueueRoom { gig, limits, by_guest } => {
                let stored = book.get(gig).ok_or(Rejection::Missing(EntityKind::Gig))?;
                let size = book.queue_size(gig).without(changes.displaced_request());
                let ended = stored.ended_at.map(|_| Rejection::Stale);
                ended.or_else(|| limits.refusal(size, by_guest).map(Rejection::NoRoom))
            }
            Self::NoRecentAdjustment { by, of } => {
                let has_adjusted = book.has_adjusted(by, of, plan.adjustments_since());
                has_adjusted.then_some(Rejection::RecentAdjustment)
            }
            Self::ActiveOperator => {
                let changed = changes.user.as_ref().and_then(|after| Some((book.get(after.id)?, after)));
                let dismisses = |(before, after)| !leaves_an_operator(before, after, book.all());
                changed.is_some_and(dismisses).then_some(Rejection::LastOperator)
            }
            Self::NotEnded { gig, current } => {
                let gig = book.get(gig).ok_or(Rejection::Missing(EntityKind::Gig))?;
                gig.ended_at.map(|_| Rejection::GigEnded(current))
            }
            Self::NoGigEndedSince { dj, made_at, current } => {
                let has_ended = book.last_gig_end(dj).is_some_and(|end| made_at < end);
                has_ended.then_some(Rejection::GigEnded(current))
            }
            Self::NoOpenGig(dj) => book.open_gig(dj).map(|gig| Rejection::GigOpen(gig.id)),
        };
        rejection.map_or(Ok(()), Err)
    }
}
