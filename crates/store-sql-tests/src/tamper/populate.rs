//! The rows that are tampered with.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::adjustment::{Adjustment, AdjustmentTerms, Correction};
use cuepoint_domain::money::{BasisPoints, Money};
use cuepoint_domain::music_request::{self, Addressee, MusicRequest, NewRequest, RequestTerms};
use cuepoint_domain::operation::{Entity, Outcome, Plan, plans};
use cuepoint_domain::ports::{Erased, Store};
use cuepoint_domain::text::{Line, MusicUrl};
use cuepoint_domain::topup::Charge;
use cuepoint_domain::user::{ArtistType, DjChange, Field, ProfileChange, Role, User, UserStatusChange};
use cuepoint_domain::withdrawal;

use crate::fixtures::{amount, erase, guest, metadata, now, withdrawal};

/// Fills an empty store.
///
/// Wallet 1 is a guest's, with sixteen entries: top-up 1; holds of requests 1 (pending), 2 (rejected at 4), 3
/// (played at 6) and 4 (played at 8, refunded at 9); withdrawals 1 (pending), 2 (completed at 12) and 3
/// (cancelled at 14); top-up 3, adjustment 1. Wallet 2 is the DJ's: two earnings and a reversal. Wallet 3 is
/// empty, and so are 4 and 5, of operators. Wallet 6 is another guest's: top-up 4 and withdrawals 4 (pending,
/// approved by user 4) and 5 (approved by users 4 and 5). Wallet 7 has a debt: top-up 5, a hold of withdrawal
/// 6, the charge-back of the top-up, and top-up 6, which repays a part. Wallet 8 is an erased user's; the
/// money of top-up 7 is in suspense, and the money of top-up 8 was settled. Wallet 9 has paid a debt with the
/// money of withdrawal 7. Wallet 10 is a guest's: top-up 10, and tip 1 to wallet 11 of a DJ.
pub async fn populate(store: &dyn Store) {
    let guest = guest(store, 100_00).await;
    let dj = dj(store).await;
    crate::fixtures::guest(store, 0).await;
    for moves in [
        &[][..],
        &[music_request::Move::Reject],
        &[music_request::Move::Accept, music_request::Move::Play],
        &[music_request::Move::Play, music_request::Move::Refund],
    ] {
        let mut stored = request(store, guest, &dj).await;
        for to in moves {
            let plan = plans::move_request(metadata(store, dj.id), &stored, *to, &terms()).unwrap();
            let Entity::MusicRequest(moved) = applied(store, plan).await.entity else { panic!("no request") };
            stored = moved;
        }
    }
    let txid = Line::new("f00d").unwrap();
    let completed = [
        withdrawal::Move::Approve { by: Some(dj.id), second_above: None },
        withdrawal::Move::Process,
        withdrawal::Move::Broadcast { txid },
        withdrawal::Move::Complete { txid: None },
    ];
    for moves in [&[][..], &completed, &[withdrawal::Move::Cancel]] {
        let opened = withdrawal(store, guest, 5_00, "T1").await;
        let Entity::Withdrawal(mut stored) = applied(store, opened).await.entity else {
            panic!("no withdrawal")
        };
        for to in moves {
            let plan = plans::move_withdrawal(metadata(store, dj.id), &stored, to.clone()).unwrap();
            let Entity::Withdrawal(moved) = applied(store, plan).await.entity else {
                panic!("no withdrawal")
            };
            stored = moved;
        }
    }
    for confirmed in [false, true] {
        let id = store.next_topup().await.unwrap();
        let charge = Charge::Pending;
        let opened = plans::open_topup(metadata(store, guest), id, guest, amount(20_00), charge);
        let Entity::Topup(topup) = applied(store, opened).await.entity else { panic!("no top-up") };
        if confirmed {
            applied(store, plans::settle_topup(metadata(store, guest), &topup, true)).await;
        }
    }
    let adjustment = Adjustment {
        id: store.next_adjustment().await.unwrap(),
        user: guest,
        correction: Correction::Credit(amount(7_00)),
        reason: Line::new("a gift").unwrap(),
    };
    applied(store, plans::adjust(metadata(store, dj.id), adjustment, &AdjustmentTerms::default()).unwrap())
        .await;
    approvals(store, dj.id).await;
    charged_back(store).await;
    suspended(store, dj.id).await;
    released(store).await;
    tipped(store).await;
}

/// A withdrawal approved by one of two operators, and one approved by both.
async fn approvals(store: &dyn Store, by: UserId) {
    let operators = [guest(store, 0).await, guest(store, 0).await];
    let guest = guest(store, 30_00).await;
    for operator in operators {
        let employ = UserStatusChange::Role(Role::Operator);
        applied(store, plans::change_user_status(metadata(store, by), operator, employ)).await;
    }
    for approvals in [&operators[..1], &operators] {
        let opened = withdrawal(store, guest, 5_00, "T1").await;
        let Entity::Withdrawal(mut stored) = applied(store, opened).await.entity else {
            panic!("no withdrawal")
        };
        for operator in approvals {
            let approve = withdrawal::Move::Approve { by: Some(*operator), second_above: Some(amount(1_00)) };
            let plan = plans::move_withdrawal(metadata(store, *operator), &stored, approve).unwrap();
            let Entity::Withdrawal(moved) = applied(store, plan).await.entity else {
                panic!("no withdrawal")
            };
            stored = moved;
        }
    }
}

/// Wallet 7, with its top-ups and its withdrawal.
async fn charged_back(store: &dyn Store) {
    let guest = guest(store, 0).await;
    let Entity::Topup(topup) = applied(store, crate::fixtures::topup(store, guest, 20_00).await).await.entity
    else {
        panic!("no top-up")
    };
    applied(store, withdrawal(store, guest, 5_00, "T1").await).await;
    applied(store, plans::reverse_topup(metadata(store, guest), &topup).unwrap()).await;
    applied(store, crate::fixtures::topup(store, guest, 3_00).await).await;
}

/// Wallet 8 of an erased user, and the late money of two top-ups.
async fn suspended(store: &dyn Store, operator: UserId) {
    let guest = guest(store, 0).await;
    let mut pending = Vec::new();
    for _ in 0..2 {
        let id = store.next_topup().await.unwrap();
        let opened = plans::open_topup(metadata(store, guest), id, guest, amount(9_00), Charge::Pending);
        applied(store, opened).await;
        pending.push(id);
    }
    assert_eq!(erase(store, guest, now(), now()).await.unwrap(), Erased::Done);
    for (id, settled) in pending.into_iter().zip([false, true]) {
        let topup = store.topup(id).await.unwrap().unwrap();
        let plan = plans::suspend_topup(metadata(store, operator), &topup);
        let Entity::Topup(topup) = applied(store, plan).await.entity else { panic!("no top-up") };
        if settled {
            let reason = Line::new("sent back").unwrap();
            let metadata = metadata(store, operator);
            applied(store, plans::settle_suspense(metadata, &topup, operator, reason).unwrap()).await;
        }
    }
}

/// Wallet 9, whose withdrawal 7 is cancelled: its money pays the debt that the charge-back of top-up 9 left.
async fn released(store: &dyn Store) {
    let guest = guest(store, 0).await;
    let Entity::Topup(topup) = applied(store, crate::fixtures::topup(store, guest, 20_00).await).await.entity
    else {
        panic!("no top-up")
    };
    let opened = withdrawal(store, guest, 5_00, "T1").await;
    let Entity::Withdrawal(held) = applied(store, opened).await.entity else { panic!("no withdrawal") };
    applied(store, plans::reverse_topup(metadata(store, guest), &topup).unwrap()).await;
    let cancel = plans::move_withdrawal(metadata(store, guest), &held, withdrawal::Move::Cancel).unwrap();
    applied(store, cancel).await;
}

/// Wallets 10 and 11, and a tip of 2.00 with a commission of 0.20.
async fn tipped(store: &dyn Store) {
    let (guest, dj) = (guest(store, 5_00).await, crate::fixtures::dj(store).await);
    let gig = crate::fixtures::gig(store, dj).await;
    applied(store, crate::fixtures::tip(store, guest, &gig, 2_00, terms().commission).await).await;
}

async fn applied(store: &dyn Store, plan: Plan) -> Outcome {
    store.apply(plan).await.unwrap().receipt().outcome.clone()
}

fn terms() -> RequestTerms {
    RequestTerms { commission: BasisPoints::new(1_000).unwrap(), ..RequestTerms::default() }
}

/// A DJ with a price of 10.00 a song.
async fn dj(store: &dyn Store) -> User {
    let id = crate::fixtures::dj(store).await;
    let price = Field::Set(Money::from_minor(10_00));
    let dj = DjChange { online: Field::Set(true), fee_popular_song: price, ..DjChange::default() };
    let change = ProfileChange { dj, ..ProfileChange::default() };
    match applied(store, plans::change_profile(metadata(store, id), id, change)).await.entity {
        Entity::User(user) => user,
        other => panic!("no profile: {other:?}"),
    }
}

async fn request(store: &dyn Store, guest: UserId, dj: &User) -> MusicRequest {
    let new = NewRequest {
        dj: dj.id,
        song_title: Line::new("Blue Monday").unwrap(),
        artist_name: Line::new("New Order").unwrap(),
        artist_type: ArtistType::Popular,
        music_url: Some(MusicUrl::new("https://example.com/blue-monday").unwrap()),
        fee: None,
        message: None,
    };
    let id = store.next_request().await.unwrap();
    let to = Addressee::of(Some(dj));
    let plan = plans::open_request(metadata(store, guest), id, guest, to, new, &terms()).unwrap();
    match applied(store, plan).await.entity {
        Entity::MusicRequest(request) => request,
        other => panic!("no request: {other:?}"),
    }
}
