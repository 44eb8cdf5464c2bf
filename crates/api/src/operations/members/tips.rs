//! Tips that the caller gives and receives.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::{TipDj, Tipped};
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::money::{Amount, Currency};
use cuepoint_domain::tip::{Tip, TipDirection};

use crate::call::{self, ApiCall};
use crate::command_call::CommandCall;
use crate::declaration::{created, object, operations, page};
use crate::endpoint::{authenticated, command};
use crate::operations::boards::counted;
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use crate::wire::kinds;
use cuepoint_views::tip::TipView;
use cuepoint_views::view;
use cuepoint_views::wire::money::Number;

operations! {
    /// Tip a DJ
    ///
    /// Pays a tip from the caller's wallet to the DJ with this code, less the platform's commission. The DJ's gig is
    /// open, or ended less than 24 hours ago. A tip is final. If the payment behind it is charged back, the guest
    /// owes the money, and the DJ keeps the tip.
    ///
    /// - 403 `blocked`: the DJ has blocked the caller. 403 `own_account`: the caller is the DJ.
    /// - 404 `not_found`: the code is unknown or replaced, no gig of the DJ is open or ended in the last 24 hours, or
    ///   the DJ was suspended or erased.
    /// - 409 `wallet_owes`: the caller has to pay a debt first. `owed` is its amount.
    /// - 422 for `amount`: it is below `tips.min_amount` (default: no limit).
    /// - 422 `limit_exceeded`: `amount` is above `tips.max_amount` (not set: no limit).
    /// - 422 `insufficient_funds`: `amount` is more than the available balance.
    POST "/api/v1/boards/{code}/tips" "tipDj" {
        tag: Boards,
        run: command(tip),
        answers: created::<TipData>("The tip, and the caller's balance after it."),
        body: object::<TipBody>(),
        fails: &[
            Code::Blocked,
            Code::OwnAccount,
            Code::WalletOwes,
            Code::LimitExceeded,
            Code::InsufficientFunds,
        ],
    }

    /// List the caller's tips
    ///
    /// The tips that the caller gave, or those that the caller received, newest first.
    GET "/api/v1/tips" "listTips" {
        tag: Boards,
        run: authenticated(Action::TipDj, list),
        answers: page::<TipView>("A page of the caller's tips, newest first."),
        filters: TipFilters::DECLARED,
    }
}

filters! {
    /// The filters of the caller's tips.
    struct TipFilters {
        required {
            /// Side of the caller.
            direction: TipDirection = filters::TIP_DIRECTION,
        }
    }
}

body! {
    /// A tip to give.
    pub struct TipBody as "NewTip", example: {"amount": 5.00} {
        /// Amount in major units of the wallet's currency.
        amount: Amount = required(kinds::AMOUNT),
    }
}

view! {
    /// A tip and the balance after it.
    pub struct TipData as TipData of (tip: &Tip, balance: Balance, currency: &Currency) {
        /// The tip.
        tip: TipView = TipView::new(tip, currency),
        /// Available balance of the caller after the tip, in major units.
        #[decimal(example = 45.00)]
        new_balance: Number = Number::money(currency, balance.available),
    }
}

async fn tip(call: CommandCall<TipDj>) -> Result<Done<ApiResponse>, ApiError> {
    let read_input = || call.body().map(|TipBody { amount }| amount);
    let give = async |code| call.run(TipDj { code }, read_input).await;
    counted(&call, Some(call.principal()), give).await?.try_map(|Tipped { tip, balance }| {
        ApiResponse::new("Tip given.", TipData::new(&tip, balance, call.currency()))
    })
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let TipFilters { direction } = call.filters()?;
    let paging = call.paging();
    let rows = call.use_cases().tips.list(&principal, direction, paging.request()).await?;
    call::page("Tips.", &paging, &rows, |tip| TipView::new(tip, call.currency()))
}
