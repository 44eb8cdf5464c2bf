//! The submission of withdrawals to the payout provider, and the effects of its updates in any order.

use crate::support::{GUEST, amount, at, line, user};
use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::provider_message::Contradiction;
use cuepoint_domain::withdrawal::{
    Move, NextSend, PayoutTerms, PayoutUpdate, PayoutUpdateDecision, Withdrawal, WithdrawalState,
    WithdrawalStatus, decide, decide_update, next_send,
};
use time::Duration;

fn withdrawal(state: WithdrawalState) -> Withdrawal {
    Withdrawal {
        id: WithdrawalId::new(1).unwrap(),
        opening: None,
        user: user(GUEST),
        amount: amount(1_000),
        wallet_address: line("bc1qexample"),
        currency: line("BTC"),
        network: line("bitcoin"),
        state,
        approvals: Vec::new(),
        created_at: at(0),
        updated_at: at(0),
    }
}

fn sent(attempts: u32, retry_at: Option<i64>) -> WithdrawalState {
    WithdrawalState::Processing { attempts, retry_at: retry_at.map(at) }
}

/// Every state; a withdrawal being sent is listed without and with an answer.
fn states() -> Vec<WithdrawalState> {
    let others = WithdrawalStatus::all().flat_map(|status| {
        [None, Some(line("known"))].map(|txid| WithdrawalState::stored(status, txid, 0, None))
    });
    others.flatten().chain([sent(1, Some(60))]).collect()
}

#[test]
fn a_due_payout_is_sent_until_its_attempts_run_out_and_then_needs_review() {
    let terms = PayoutTerms { max_attempts: 3, retry_after: Duration::seconds(60) };
    let send = Some(Move::Send { now: at(100), again_at: at(160) });
    for (state, expected) in [
        (WithdrawalState::Approved, send.clone()),
        (sent(1, Some(100)), send.clone()),
        (sent(2, Some(1)), send),
        (sent(1, Some(101)), None),
        (sent(3, Some(100)), Some(Move::Review)),
        (sent(9, Some(100)), Some(Move::Review)),
        (sent(3, Some(101)), None),
        (sent(1, None), None),
        (sent(0, None), None),
    ] {
        assert_eq!(next_send(&withdrawal(state.clone()), &terms, at(100)), expected, "{state:?}");
    }
    for state in states() {
        let waits = state.next_send().is_some();
        let status = state.status();
        assert_eq!(waits, state == WithdrawalState::Approved || state == sent(1, Some(60)), "{status:?}");
        assert_eq!(next_send(&withdrawal(state), &terms, at(100)).is_some(), waits, "{status:?}");
    }
}

#[test]
fn payouts_that_were_never_sent_come_before_retries() {
    let mut waiting = [NextSend::At(at(2)), NextSend::AtOnce, NextSend::At(at(1))];
    waiting.sort();
    assert_eq!(waiting, [NextSend::AtOnce, NextSend::At(at(1)), NextSend::At(at(2))]);
    assert!(NextSend::AtOnce.is_due(at(0)) && NextSend::At(at(1)).is_due(at(1)));
    assert!(!NextSend::At(at(2)).is_due(at(1)));
}

#[test]
fn every_update_in_every_state_has_the_expected_outcome() {
    let (known, given) = (line("known"), line("given"));
    let updates = [
        PayoutUpdate::Accepted,
        PayoutUpdate::Broadcast { txid: given.clone() },
        PayoutUpdate::Broadcast { txid: known.clone() },
        PayoutUpdate::Completed { txid: given },
        PayoutUpdate::Completed { txid: known.clone() },
        PayoutUpdate::Refused,
    ];
    // For accepted, broadcast and completed as another and as the known transaction, refused: `=` known, `o`
    // for an operator, `!` excluded by the status, `t` another transaction, otherwise the move.
    let table: [(WithdrawalState, &str); 15] = [
        (WithdrawalState::Pending, "! ! ! ! ! !"),
        (WithdrawalState::Approved, "! ! ! ! ! !"),
        (sent(0, None), "= broadcast broadcast broadcast broadcast refused"),
        (sent(1, None), "= broadcast broadcast broadcast broadcast refused"),
        (sent(1, Some(60)), "accepted broadcast broadcast broadcast broadcast refused"),
        // An earlier submission may have got through.
        (sent(2, None), "= broadcast broadcast broadcast broadcast review"),
        (sent(3, Some(60)), "accepted broadcast broadcast broadcast broadcast review"),
        (WithdrawalState::Broadcast { txid: known.clone() }, "= t = t complete review"),
        (WithdrawalState::Completed { txid: known.clone() }, "= t = t = !"),
        (WithdrawalState::Cancelled, "! ! ! ! ! !"),
        (WithdrawalState::Rejected, "! ! ! ! ! !"),
        (WithdrawalState::Failed { txid: None }, "= ! ! ! ! ="),
        (WithdrawalState::Failed { txid: Some(known.clone()) }, "= ! ! ! ! ="),
        (WithdrawalState::NeedsReview { txid: None }, "o o o o o o"),
        (WithdrawalState::NeedsReview { txid: Some(known) }, "o t o t o o"),
    ];
    for (state, cells) in table {
        assert_eq!(cells.split(' ').count(), updates.len());
        for (update, cell) in updates.iter().zip(cells.split(' ')) {
            let txid = || update.txid().unwrap().clone();
            let expected = match cell {
                "=" => PayoutUpdateDecision::Known,
                "o" => PayoutUpdateDecision::ForOperator,
                "!" => PayoutUpdateDecision::Contradiction(Contradiction::StatusContradiction),
                "t" => PayoutUpdateDecision::Contradiction(Contradiction::TxidMismatch),
                "accepted" => PayoutUpdateDecision::Move(Move::Accepted),
                "broadcast" => PayoutUpdateDecision::Move(Move::Broadcast { txid: txid() }),
                "complete" => PayoutUpdateDecision::Move(Move::Complete { txid: Some(txid()) }),
                "refused" => PayoutUpdateDecision::Move(Move::Refused),
                "review" => PayoutUpdateDecision::Move(Move::Review),
                other => panic!("no cell: {other}"),
            };
            assert_eq!(
                decide_update(&withdrawal(state.clone()), update),
                expected,
                "{update:?} in {state:?}"
            );
            if let PayoutUpdateDecision::Move(to) = expected {
                assert!(decide(&withdrawal(state.clone()), to).is_ok(), "{update:?} in {state:?}");
            }
        }
    }
}
