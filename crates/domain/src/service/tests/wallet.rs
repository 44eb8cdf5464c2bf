//! Which top-up a message is about, on doubles of the ports.

use super::*;
use crate::ids::TopupId;
use crate::ports::{MockTopups, MockWallets};
use crate::provider_reference::MessageSubject;
use crate::topup::{Orders, Topup, TopupStatus};

const OPERATION: OperationId = OperationId(0x0193_a5f0_1c2d_7abc_8def_0011_2233_aabb);

fn id() -> TopupId {
    TopupId::new(5).unwrap()
}

fn topup(opening: Option<OperationId>) -> Topup {
    Topup {
        id: id(),
        opening,
        user: user(1),
        amount: Amount::new(Money::from_minor(500)).unwrap(),
        status: TopupStatus::Pending,
        payment_url: None,
        orders: Some(Orders::default()),
        created_at: now(),
        updated_at: now(),
    }
}

fn wallet(topups: MockTopups) -> Wallet {
    let desk = desk(MockLedger::new());
    let (wallets, topups) = (Arc::new(MockWallets::new()), Arc::new(topups));
    Wallet { desk, wallets, topups }
}

#[test]
fn a_message_finds_a_topup_by_its_reference_or_an_older_one_by_its_id() {
    use super::super::messages::{Identified, TellError};
    let by = |reference: &str, id| MessageSubject::Reference { reference: reference.parse().unwrap(), id };
    let uuid = "0193a5f0-1c2d-7abc-8def-00112233aabb";
    let named = |opening: Option<OperationId>, subject| {
        let mut topups = MockTopups::new();
        topups.expect_topup().returning(move |asked| Ok((asked == id()).then(|| topup(opening))));
        topups
            .expect_topup_opened_by()
            .returning(move |asked| Ok((opening == Some(asked)).then(|| topup(opening))));
        let wallet = wallet(topups);
        match run(wallet.topup_named(subject)) {
            Ok(Identified::As(found)) if found == id() => "found",
            Ok(Identified::Contradiction) => "contradiction",
            Err(TellError::NotFound) => "unknown",
            Err(TellError::ReferenceRequired) => "reference required",
            other => panic!("{other:?}"),
        }
    };
    for (subject, of_a_new_one, of_an_old_one) in [
        (by(uuid, None), "found", "unknown"),
        (by(uuid, Some(5)), "found", "unknown"),
        (by(uuid, Some(6)), "contradiction", "unknown"),
        (by("00000000-0000-0000-0000-000000000001", None), "unknown", "unknown"),
        (by("5", None), "unknown", "found"),
        (by("5", Some(6)), "unknown", "contradiction"),
        (by("6", None), "unknown", "unknown"),
        (MessageSubject::Id(5), "reference required", "found"),
        (MessageSubject::Id(6), "unknown", "unknown"),
        (MessageSubject::Id(0), "unknown", "unknown"),
    ] {
        assert_eq!(named(Some(OPERATION), subject), of_a_new_one, "{subject:?}");
        assert_eq!(named(None, subject), of_an_old_one, "{subject:?}");
    }
}
