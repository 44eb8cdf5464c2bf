//! Sequences of commands for cases that random commands seldom reach.

use proptest::prelude::{Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;

use super::{Command, DEPARTING, FIRST_DJ, GUEST_ACCOUNT, OPERATOR, OTHER_OPERATOR, PAYOUT_UPDATES, PEOPLE};
use crate::histories::model::{LONGEST_SECONDS, RATED_WITHIN_SECONDS, RETRY_SECONDS, TXIDS};

/// A top-up that is charged back while its money is held or spent, withdrawals of the debtor, and another top-up that
/// pays the debt.
pub(super) fn chargebacks() -> impl Strategy<Value = Vec<Command>> {
    (0..FIRST_DJ, 1..450_i128).prop_map(|(who, cents)| {
        let top_up = || Command::OpenTopup { who, cents, confirmed: true };
        let spend = [
            Command::OpenWithdrawal { who, cents: None },
            Command::Adjust { who, cents: None, by: OPERATOR },
        ];
        let reverse = || Command::ReverseTopup { pick: 0 };
        let receive = |excess| Command::ReceiveTopupUpdate { pick: 0, update: "reversed", excess };
        let moved = |to| Command::MoveWithdrawal { pick: 0, to, by: OPERATOR, txid: false };
        let withdraw = || Command::OpenWithdrawal { who, cents: Some(1) };
        let beginning = std::iter::once(top_up()).chain(spend);
        beginning
            .chain([receive(-1), reverse(), receive(0), reverse()])
            .chain([withdraw(), moved("approved"), moved("processing"), moved("cancelled")])
            .chain([top_up(), receive(0), reverse()])
            .collect()
    })
}

/// A departing user with a pending top-up whose money arrives too late.
pub(super) fn departure() -> impl Strategy<Value = Vec<Command>> {
    (1..4_000_i128, any::<bool>()).prop_map(|(cents, ordered)| {
        let confirmed = || Command::SettleTopup { pick: 0, confirmed: true };
        let receive = |update| Command::ReceiveTopupUpdate { pick: 0, update, excess: 0 };
        let settle = || Command::SettleSuspense { pick: 0 };
        let open = || Command::OpenDepartingTopup { cents, ordered };
        vec![
            Command::Adjust { who: DEPARTING, cents: None, by: OPERATOR },
            open(),
            confirmed(),
            Command::Erase { who: DEPARTING },
            Command::ReverseTopup { pick: 0 },
            open(),
            Command::Erase { who: DEPARTING },
            Command::Pass { seconds: 604_800 },
            Command::Erase { who: DEPARTING },
            if ordered { confirmed() } else { receive("confirmed") },
            receive("confirmed"),
            receive("reversed"),
            settle(),
            settle(),
        ]
    })
}

/// A top-up that is ordered without an answer until it is given up.
pub(super) fn silence() -> impl Strategy<Value = Vec<Command>> {
    (0..FIRST_DJ, 1..4_000_i128).prop_map(|(who, cents)| {
        let again = || [Command::Pass { seconds: 60 }, Command::TakeUpTopups { limit: 5 }];
        let opening = [Command::OrderTopup { who, cents }];
        opening.into_iter().chain(again()).chain(again()).chain(again()).collect()
    })
}

/// A case that random commands seldom reach: a refund of money that the DJ no longer has, and the next song
/// that pays the debt.
pub(super) fn debt() -> impl Strategy<Value = Vec<Command>> {
    (0..FIRST_DJ, FIRST_DJ..OPERATOR, any::<bool>()).prop_map(|(guest, dj, popular)| {
        let request = || Command::OpenRequest { guest, dj, popular, offer: None };
        let moved = |to| Command::MoveRequest { pick: 0, to };
        vec![
            Command::OpenTopup { who: guest, cents: 2_000, confirmed: true },
            Command::ChangeDj { who: dj, online: Some(true), upcoming: None, popular: None },
            request(),
            moved("played"),
            Command::Adjust { who: dj, cents: None, by: OPERATOR },
            moved("refunded"),
            request(),
            moved("played"),
        ]
    })
}

/// A case that random commands seldom reach: ratings of a played request within seven days and after them.
pub(super) fn ratings() -> impl Strategy<Value = Vec<Command>> {
    (0..FIRST_DJ, FIRST_DJ..OPERATOR, 1..6_u8, 1..6_u8).prop_map(|(guest, dj, first, second)| {
        let rate = |stars| Command::Rate { pick: 0, stars };
        vec![
            Command::OpenTopup { who: guest, cents: 2_000, confirmed: true },
            Command::ChangeDj { who: dj, online: Some(true), upcoming: None, popular: Some(200) },
            Command::OpenRequest { guest, dj, popular: true, offer: None },
            rate(first),
            Command::MoveRequest { pick: 0, to: "played" },
            rate(first),
            rate(second),
            Command::Pass { seconds: RATED_WITHIN_SECONDS - 1 },
            rate(first),
            Command::Pass { seconds: 1 },
            rate(second),
        ]
    })
}

/// A case that random commands seldom reach: requests and tips before and in a gig, which ends by its DJ, by time, or with
/// the suspension of the DJ.
pub(super) fn evening() -> impl Strategy<Value = Vec<Command>> {
    (0..FIRST_DJ, FIRST_DJ..OPERATOR, 1..4_u8, 0..400_i128, 0..5_u8).prop_map(
        |(guest, dj, most, price, end)| {
            let request = |offer| Command::OpenRequest { guest, dj, popular: true, offer };
            let open = || Command::OpenGig { dj, most, popular: Some(price) };
            let mut commands = vec![
                Command::OpenTopup { who: guest, cents: 2_000, confirmed: true },
                request(None),
                open(),
                open(),
                request(Some(price)),
                request(Some(price + 1)),
                Command::MoveRequest { pick: 0, to: "accepted" },
                Command::ChangeGig { pick: 0, most: 3, accepting: Some(false) },
                request(None),
                Command::ChangeGig { pick: 0, most: 3, accepting: Some(true) },
                request(None),
                Command::MoveRequest { pick: 1, to: "played" },
                Command::Tip { who: guest, pick: 0, cents: price + 1 },
                Command::Tip { who: dj, pick: 0, cents: 1 },
            ];
            commands.extend(match end {
                0..3 => vec![Command::EndGig { pick: 0 }],
                3 => vec![Command::Pass { seconds: LONGEST_SECONDS }],
                _ => vec![
                    Command::ChangeSuspension { who: dj, suspend: true },
                    Command::Tip { who: guest, pick: 0, cents: 1 },
                    Command::ReleaseGigs,
                    Command::ChangeSuspension { who: dj, suspend: false },
                ],
            });
            let after_end = Command::ChangeGig { pick: 0, most, accepting: None };
            commands.extend([Command::ReleaseGigs, Command::EndGig { pick: 0 }, after_end, open()]);
            commands
        },
    )
}

/// A guest account that pays for a request and a tip, and can withdraw the rest only after its claim.
pub(super) fn guest_account() -> impl Strategy<Value = Vec<Command>> {
    let end = select(vec!["played", "rejected", "cancelled", "accepted"]);
    (FIRST_DJ..OPERATOR, 1..200_i128, end, 0..FIRST_DJ).prop_map(|(dj, cents, end, taken)| {
        let who = GUEST_ACCOUNT;
        let withdraw = |cents| Command::OpenWithdrawal { who, cents };
        let claim = |taken| Command::Claim { who, taken };
        vec![
            Command::CreateGuest,
            Command::OpenTopup { who, cents: 1_000, confirmed: true },
            withdraw(Some(1)),
            Command::OpenGig { dj, most: 3, popular: Some(cents) },
            Command::OpenRequest { guest: who, dj, popular: true, offer: Some(cents + 1) },
            Command::MoveRequest { pick: 0, to: end },
            Command::Rate { pick: 0, stars: 4 },
            Command::Tip { who, pick: 0, cents },
            Command::OpenTopup { who, cents: 2_000, confirmed: true },
            claim(Some(taken)),
            claim(None),
            claim(None),
            Command::Rate { pick: 0, stars: 5 },
            withdraw(None),
        ]
    })
}

/// A guest account that is deleted once it was unused for more than a day, unless an operation names it.
pub(super) fn unused_account() -> impl Strategy<Value = Vec<Command>> {
    let first = select(vec![
        Command::OpenTopup { who: GUEST_ACCOUNT, cents: 1, confirmed: false },
        Command::ChangeSuspension { who: GUEST_ACCOUNT, suspend: false },
        Command::OpenWithdrawal { who: GUEST_ACCOUNT, cents: Some(1) },
        Command::OpenWithdrawal { who: GUEST_ACCOUNT, cents: Some(1) },
    ]);
    (first, 86_400..86_402_i64).prop_map(|(first, seconds)| {
        let delete = || Command::DeleteUnused { who: GUEST_ACCOUNT };
        vec![Command::CreateGuest, first, delete(), Command::Pass { seconds }, delete(), delete()]
    })
}

/// A case that random commands seldom reach: a payout of unknown outcome that is resolved later.
pub(super) fn doubt() -> impl Strategy<Value = Vec<Command>> {
    (0..OPERATOR, operator(), any::<bool>()).prop_map(|(who, operator, arrived)| {
        let moved = |to, txid| Command::MoveWithdrawal { pick: 0, to, by: operator, txid };
        vec![
            Command::OpenWithdrawal { who, cents: Some(20) },
            moved("approved", false),
            moved("processing", false),
            moved("needs_review", false),
            moved("completed", false),
            moved(if arrived { "completed" } else { "failed" }, true),
        ]
    })
}

/// A case that random commands seldom reach: a payout that is sent once or twice before the provider reports
/// anything.
pub(super) fn order() -> impl Strategy<Value = Vec<Command>> {
    let updates = || (select(PAYOUT_UPDATES.to_vec()), select(TXIDS.to_vec()));
    (0..OPERATOR, any::<bool>(), updates(), updates()).prop_map(|(who, again, first, second)| {
        let moved = |to| Command::MoveWithdrawal { pick: 0, to, by: OPERATOR, txid: false };
        let receive = |(update, txid)| Command::ReceivePayoutUpdate { pick: 0, update, txid };
        let open = Command::OpenWithdrawal { who, cents: Some(20) };
        let mut commands = vec![open, moved("approved"), Command::Send { pick: 0 }];
        if again {
            commands.extend([Command::Pass { seconds: RETRY_SECONDS }, Command::Send { pick: 0 }]);
        }
        commands.extend([moved("failed"), receive(first), receive(second)]);
        commands
    })
}

/// A case that random commands seldom reach: a large withdrawal that both operators approve, with other
/// actions in between, and a second approval by one of them.
pub(super) fn four_eyes() -> impl Strategy<Value = Vec<Command>> {
    (0..FIRST_DJ).prop_flat_map(four_eyes_on)
}

/// The withdrawal is one of this guest.
fn four_eyes_on(who: usize) -> impl Strategy<Value = Vec<Command>> {
    let between = prop_oneof![
        2 => any::<bool>().prop_map(|same| vec![Command::Pass { seconds: i64::from(same) }]),
        1 => operator().prop_map(|who| vec![Command::ChangeSuspension { who, suspend: true }]),
        1 => operator().prop_map(|who| {
            vec![Command::ChangeSuspension { who, suspend: true }, Command::ChangeSuspension { who, suspend: false }]
        }),
        1 => operator().prop_map(|who| vec![Command::ChangeRole { who, operator: false }]),
        1 => operator().prop_map(move |by| vec![Command::Adjust { who, cents: Some(1), by }]),
    ];
    (between, operator()).prop_map(move |(between, last)| {
        let approved = |by| Command::MoveWithdrawal { pick: 0, to: "approved", by, txid: false };
        let change_role = |who| Command::ChangeRole { who, operator: true };
        let mut phrase = vec![
            Command::Pass { seconds: 2_592_000 },
            change_role(OPERATOR),
            change_role(OTHER_OPERATOR),
            Command::OpenTopup { who, cents: 400, confirmed: true },
            Command::OpenWithdrawal { who, cents: Some(299) },
            approved(OPERATOR),
            approved(OPERATOR),
        ];
        phrase.extend(between);
        phrase.extend([approved(OTHER_OPERATOR), approved(last)]);
        phrase
    })
}

/// One of the operators.
pub(super) fn operator() -> impl Strategy<Value = usize> {
    OPERATOR..PEOPLE
}

/// A case that random commands seldom reach: more requests of one guest to one DJ than the limit.
pub(super) fn crowd() -> impl Strategy<Value = Vec<Command>> {
    (0..FIRST_DJ, FIRST_DJ..OPERATOR).prop_map(|(guest, dj)| {
        let request = Command::OpenRequest { guest, dj, popular: false, offer: None };
        vec![request; 4]
    })
}

/// Free requests that fill the queue of a gig, offers that take their places, and more requests than the gig can have.
pub(super) fn full_queue() -> impl Strategy<Value = Vec<Command>> {
    (0..FIRST_DJ, FIRST_DJ..OPERATOR, 1..200_i128).prop_map(|(member, dj, fee)| {
        let request = |guest, offer| Command::OpenRequest { guest, dj, popular: true, offer };
        let (free, offer) = (Some(0), Some(fee));
        let rejected = || Command::MoveRequest { pick: 0, to: "rejected" };
        vec![
            Command::OpenTopup { who: member, cents: 2_000, confirmed: true },
            Command::CreateGuest,
            Command::CreateGuest,
            Command::OpenGig { dj, most: 3, popular: Some(0) },
            request(GUEST_ACCOUNT, free),
            request(GUEST_ACCOUNT + 1, free),
            request(GUEST_ACCOUNT, free),
            request(member, free),
            request(OPERATOR, free),
            request(GUEST_ACCOUNT, offer),
            request(member, offer),
            Command::MoveRequest { pick: 0, to: "accepted" },
            request(member, offer),
            request(1 - member, offer),
            request(1 - member, offer),
            rejected(),
            request(GUEST_ACCOUNT, free),
            rejected(),
            request(GUEST_ACCOUNT, free),
            request(member, free),
            rejected(),
            request(GUEST_ACCOUNT, free),
            request(member, free),
            rejected(),
            request(member, free),
            Command::EndGig { pick: 0 },
        ]
    })
}
