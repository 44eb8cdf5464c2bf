//! Withdrawals of all users, for operators.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::{
    JudgeWithdrawal, Judgement, SendWithdrawal, SendingStep, Withdrawn,
};
use cuepoint_domain::application::queries::ReviewedWithdrawal;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::{UserId, WithdrawalId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal::{WaitingFor, WithdrawalStatus};

use crate::call::{self, ApiCall};
use crate::command_call::CommandCall;
use crate::declaration::{json, ok, operations, page};
use crate::endpoint::{authenticated, command};
use crate::operations::staff::reason::{ReasonBody, reason};
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use crate::wire::kinds;
use cuepoint_views::operator_withdrawal::OperatorWithdrawalView;
use cuepoint_views::user_names::UserNames;
use cuepoint_views::view;
use cuepoint_views::wire::money::Number;
use cuepoint_views::wire::names;
use cuepoint_views::wire::time::WireTimestamp;

operations! {
    /// List withdrawals of all users
    ///
    /// For operators and auditors. The newest withdrawal comes first. The list also shows current facts for an
    /// approval: `owed`, `sum_24h`, `approvals_needed` and `login_changed_at`.
    GET "/api/v1/operator/withdrawals" "listOperatorWithdrawals" {
        tag: OperatorWithdrawals,
        run: authenticated(Action::ReadWithdrawals, list),
        answers: page::<OperatorWithdrawalDetailsView>("A page of withdrawals, newest first."),
        filters: WithdrawalFilters::DECLARED,
        fails: &[Code::ValidationFailed],
    }

    /// Show a withdrawal of any user
    ///
    /// For operators and auditors. The fields are those of `listOperatorWithdrawals`.
    GET "/api/v1/operator/withdrawals/{id}" "getOperatorWithdrawal" {
        tag: OperatorWithdrawals,
        run: authenticated(Action::ReadWithdrawals, show),
        answers: ok::<OperatorWithdrawalDetailsView>("The withdrawal."),
    }

    /// Approve a withdrawal
    ///
    /// For operators. Approves a pending withdrawal, or gives the first of two approvals. The approval depends on
    /// the owner's total within 24 hours: the amount of this withdrawal, and of all others that the owner created
    /// less than 24 hours before or after it. Cancelled, rejected and failed ones do not count. A total above
    /// `withdrawals.second_approval_above` (not set: never) needs the approvals of two operators.
    ///
    /// The first of two approvals returns 200 with the status `pending` and the operator in `approvals`. A
    /// repetition by the same operator changes nothing. An earlier approval counts only if that user has been an
    /// operator without interruption since then, and is neither suspended, erased nor a recent adjuster. Otherwise
    /// it is removed from the list, and the new approval is the first. The service computes the total at each
    /// approval, with the settings of that time.
    ///
    /// - 403 `own_account`: the operator owns the withdrawal.
    /// - 403 `recent_adjustment`: the operator adjusted the owner's wallet within the last 30 days.
    /// - 409 `wallet_owes`: the owner owes money.
    /// - 409 `invalid_transition`: the withdrawal is not pending.
    ///
    /// The answer has no names and no current facts.
    POST "/api/v1/operator/withdrawals/{id}/approve" "approveWithdrawal" {
        tag: OperatorWithdrawals,
        run: command(approve),
        answers: ok::<OperatorWithdrawalView>("The withdrawal, approved or waiting for a second approval.")
            .showing(&[("status", "approved")]),
        body: json::<ReasonBody>(),
        fails: &[Code::OwnAccount, Code::RecentAdjustment, Code::InvalidTransition, Code::WalletOwes],
    }

    /// Reject a withdrawal
    ///
    /// For operators. Rejects a pending or approved withdrawal of another user, and releases its amount. Returns
    /// 403 `own_account` and `recent_adjustment` as `approveWithdrawal` does.
    POST "/api/v1/operator/withdrawals/{id}/reject" "rejectWithdrawal" {
        tag: OperatorWithdrawals,
        run: command(reject),
        answers: ok::<OperatorWithdrawalView>("The rejected withdrawal.")
            .showing(&[("status", "rejected")]),
        body: json::<ReasonBody>(),
        fails: &[Code::OwnAccount, Code::RecentAdjustment, Code::InvalidTransition],
    }

    /// Start processing a withdrawal
    ///
    /// For operators. Claims an approved withdrawal for a payout by hand. Call this before you send the money.
    /// Until then, the owner can cancel the withdrawal. While the owner owes money, the request returns 409
    /// `wallet_owes`.
    POST "/api/v1/operator/withdrawals/{id}/process" "processWithdrawal" {
        tag: OperatorWithdrawals,
        run: command(process),
        answers: ok::<OperatorWithdrawalView>("The withdrawal in processing.")
            .showing(&[("status", "processing")]),
        body: json::<ReasonBody>(),
        fails: &[Code::InvalidTransition, Code::WalletOwes],
    }

    /// Record the transaction of a withdrawal
    ///
    /// For operators. The withdrawal was sent to its network in this transaction. Another transaction than the
    /// recorded one returns 409 `invalid_transition`, except while the withdrawal is in review.
    POST "/api/v1/operator/withdrawals/{id}/broadcast" "broadcastWithdrawal" {
        tag: OperatorWithdrawals,
        run: command(broadcast),
        answers: ok::<OperatorWithdrawalView>("The broadcast withdrawal.")
            .showing(&[("status", "broadcast"), ("txid", "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b")]),
        body: json::<WithdrawalBroadcastBody>(),
        fails: &[Code::InvalidTransition],
    }

    /// Complete a withdrawal
    ///
    /// For operators. The payout has arrived, and the held amount is paid out. Another transaction than the
    /// recorded one returns 409 `invalid_transition`, except while the withdrawal is in review.
    POST "/api/v1/operator/withdrawals/{id}/complete" "completeWithdrawal" {
        tag: OperatorWithdrawals,
        run: command(complete),
        answers: ok::<OperatorWithdrawalView>("The completed withdrawal.")
            .showing(&[("status", "completed"), ("txid", "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b")]),
        body: json::<WithdrawalCompletionBody>(),
        fails: &[Code::InvalidTransition],
    }

    /// Mark a withdrawal as failed
    ///
    /// For operators. The payout of another user's withdrawal has not happened, and the amount is released. A
    /// withdrawal in processing can fail only if nothing was sent to the payout provider. A payout order can be in
    /// flight for 15 seconds after a withdrawal entered review, so make sure that the payout provider does not know
    /// the reference. Returns 403 `own_account` and `recent_adjustment` as `approveWithdrawal` does.
    POST "/api/v1/operator/withdrawals/{id}/fail" "failWithdrawal" {
        tag: OperatorWithdrawals,
        run: command(fail),
        answers: ok::<OperatorWithdrawalView>("The failed withdrawal.")
            .showing(&[("status", "failed")]),
        body: json::<ReasonBody>(),
        fails: &[Code::OwnAccount, Code::RecentAdjustment, Code::InvalidTransition],
    }

    /// Mark a withdrawal for review
    ///
    /// For operators. It is unknown whether the payout happened. The amount stays held until an operator records
    /// the outcome.
    POST "/api/v1/operator/withdrawals/{id}/review" "reviewWithdrawal" {
        tag: OperatorWithdrawals,
        run: command(review),
        answers: ok::<OperatorWithdrawalView>("The withdrawal in review.")
            .showing(&[("status", "needs_review")]),
        body: json::<ReasonBody>(),
        fails: &[Code::InvalidTransition],
    }
}

body! {
    /// The transaction of a withdrawal.
    pub struct WithdrawalBroadcastBody as "WithdrawalBroadcast", example: {"txid": "4a5e1e4b", "reason": "Sent by hand."} {
        /// Id of the transaction on the network.
        txid: Line = required(kinds::LINE),
        /// Reason, stored with the operator and the time.
        reason: Line = required(kinds::LINE),
    }
}

body! {
    /// The completion of a withdrawal.
    pub struct WithdrawalCompletionBody as "WithdrawalCompletion", example: {"txid": "4a5e1e4b", "reason": "Six confirmations."} {
        /// Id of the transaction on the network; the known one by default, and required if none is known.
        txid: Option<Line> = optional(kinds::LINE),
        /// Reason, stored with the operator and the time.
        reason: Line = required(kinds::LINE),
    }
}

filters! {
    /// The filters of withdrawals of all users.
    struct WithdrawalFilters {
        /// Only withdrawals with this status.
        status: WithdrawalStatus = filters::WITHDRAWAL_STATUS,
    }
}

view! {
    /// A withdrawal, with current facts for its approval.
    pub struct OperatorWithdrawalDetailsView as OperatorWithdrawalDetails of (
        reviewed: &ReviewedWithdrawal,
        names: &UserNames,
        currency: &Currency,
    ) {
        let ReviewedWithdrawal { withdrawal, review, approvals_needed } = reviewed;
        /// The withdrawal.
        #[serde(flatten)]
        withdrawal: OperatorWithdrawalView = OperatorWithdrawalView::new(withdrawal, currency),
        /// What has to happen before a pending or approved withdrawal can go on: `debt` while the owner owes money,
        /// otherwise null.
        #[schema(value_type = Option<names::WaitingFor>)]
        waiting_for: Option<&'static str> = withdrawal.waiting_for(review.owed).map(WaitingFor::name),
        /// Debt of the owner, in major units of the wallet's currency.
        #[decimal(example = 0.00)]
        owed: Number = Number::money(currency, review.owed),
        /// Total of the owner within 24 hours, as `approveWithdrawal` defines it.
        #[decimal(example = 25.00)]
        sum_24h: Number = Number::money(currency, review.sum_24h),
        /// Number of approvals that a pending withdrawal needs, including those in `approvals`; otherwise 0.
        #[schema(minimum = 0, maximum = 2, example = 2)]
        approvals_needed: usize = *approvals_needed,
        /// Time of the last change of the owner's e-mail address or reset of the password; null if there was none.
        /// For 48 hours after it, no withdrawal is approved automatically.
        #[timestamp_or_null(example = "2026-01-31T20:15:00.000000Z")]
        login_changed_at: Option<WireTimestamp> = review.login_changed_at.map(WireTimestamp),
        /// Name of the owner; null for an erased user.
        #[schema(example = "Ada")]
        user_name: Option<String> = names.of(withdrawal.user),
        /// Names of the operators in `approvals`, in the same order; null for an erased user.
        #[schema(example = json!(["Grace"]))]
        approval_names: Vec<Option<String>> =
            withdrawal.approvals.iter().map(|approval| names.of(approval.by)).collect(),
    }
}

impl OperatorWithdrawalDetailsView {
    /// The users whose names it shows.
    pub fn users(reviewed: &ReviewedWithdrawal) -> impl Iterator<Item = UserId> {
        let approvals = reviewed.withdrawal.approvals.iter();
        approvals.map(|approval| approval.by).chain([reviewed.withdrawal.user])
    }
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let WithdrawalFilters { status } = call.filters()?;
    let paging = call.paging();
    let rows = call.use_cases().withdrawals.list_all(&principal, status, paging.request()).await?;
    let names =
        call.names(&principal, rows.rows.iter().flat_map(OperatorWithdrawalDetailsView::users)).await?;
    call::page("Withdrawals.", &paging, &rows, |reviewed| {
        OperatorWithdrawalDetailsView::new(reviewed, &names, call.currency())
    })
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let id = call.id(WithdrawalId::new)?;
    let reviewed = call.use_cases().withdrawals.of_any_user(&principal, id).await?;
    let names = call.names(&principal, OperatorWithdrawalDetailsView::users(&reviewed)).await?;
    ApiResponse::new("Withdrawal.", OperatorWithdrawalDetailsView::new(&reviewed, &names, call.currency()))
}

async fn approve(call: CommandCall<JudgeWithdrawal>) -> Result<Done<ApiResponse>, ApiError> {
    judge(&call, Judgement::Approve).await
}

async fn reject(call: CommandCall<JudgeWithdrawal>) -> Result<Done<ApiResponse>, ApiError> {
    judge(&call, Judgement::Reject).await
}

async fn fail(call: CommandCall<JudgeWithdrawal>) -> Result<Done<ApiResponse>, ApiError> {
    judge(&call, Judgement::Fail).await
}

async fn judge(
    call: &CommandCall<JudgeWithdrawal>,
    judgement: Judgement,
) -> Result<Done<ApiResponse>, ApiError> {
    let command = JudgeWithdrawal { id: call.id(WithdrawalId::new)?, judgement };
    updated(call, call.run(command, || reason(call)).await?)
}

async fn process(call: CommandCall<SendWithdrawal>) -> Result<Done<ApiResponse>, ApiError> {
    send(&call, || Ok((SendingStep::Process, reason(&call)?))).await
}

async fn broadcast(call: CommandCall<SendWithdrawal>) -> Result<Done<ApiResponse>, ApiError> {
    let read_input = || {
        call.body().map(|WithdrawalBroadcastBody { txid, reason }| (SendingStep::Broadcast { txid }, reason))
    };
    send(&call, read_input).await
}

async fn complete(call: CommandCall<SendWithdrawal>) -> Result<Done<ApiResponse>, ApiError> {
    let read_input = || {
        call.body().map(|WithdrawalCompletionBody { txid, reason }| (SendingStep::Complete { txid }, reason))
    };
    send(&call, read_input).await
}

async fn review(call: CommandCall<SendWithdrawal>) -> Result<Done<ApiResponse>, ApiError> {
    send(&call, || Ok((SendingStep::Review, reason(&call)?))).await
}

async fn send(
    call: &CommandCall<SendWithdrawal>,
    read_input: impl FnOnce() -> Result<(SendingStep, Line), ApiError>,
) -> Result<Done<ApiResponse>, ApiError> {
    let command = SendWithdrawal { id: call.id(WithdrawalId::new)? };
    updated(call, call.run(command, read_input).await?)
}

/// The answer to a change of a withdrawal's status. It has no present facts and names: a repeated request gets the
/// same answer.
fn updated(call: &ApiCall, done: Done<Withdrawn>) -> Result<Done<ApiResponse>, ApiError> {
    done.try_map(|Withdrawn { withdrawal, .. }| {
        ApiResponse::new("Withdrawal updated.", OperatorWithdrawalView::new(&withdrawal, call.currency()))
    })
}
