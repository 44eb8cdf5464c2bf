//! The hash of a wallet entry depends on the stored name of its kind: a new name on the wire must not change it.

use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::ids::{OperationId, RequestId, UserId};
use cuepoint_domain::ledger::{Balance, ChainHash, Entry, EntryKind};
use cuepoint_domain::money::Money;
use cuepoint_domain::timestamp::Timestamp;

/// The link of an entry of this kind whose other fields are fixed, in hexadecimal digits.
fn link(kind: EntryKind) -> String {
    let balance = |available, held, owed| Balance {
        available: Money::from_minor(available),
        held: Money::from_minor(held),
        owed: Money::from_minor(owed),
    };
    let entry = Entry {
        wallet: UserId::new(7).unwrap(),
        seq: 2,
        operation: OperationId(9),
        kind,
        reference: EntityRef::MusicRequest(RequestId::new(42).unwrap()),
        change: balance(-1_000, 1_000, 0),
        after: balance(4_000, 1_000, 250),
        at: Timestamp::from_unix_micros(1_700_000_000_000_000),
        previous: ChainHash([7; 32]),
        hash: ChainHash::START,
    };
    entry.link().0.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_hash_of_each_kind_of_entry_is_stable() {
    let links: Vec<_> = EntryKind::all().map(|kind| (kind.name(), link(kind))).collect();
    let links: Vec<_> = links.iter().map(|(name, link)| (*name, link.as_str())).collect();
    assert_eq!(
        links,
        [
            ("topup", "022e91dcfff8656f97eeee7df89779930a9aa3a8f815d798495081e69927757c"),
            ("hold", "a5cf8bf48d80e0b8bcc014e21535c6b08749e72de00f105231a22559a55e67be"),
            ("release", "ad86e9b1dcfa2a3fd51ed2de59cd217a0c4307841a14e5b20f8b7fdf76a9caf9"),
            ("capture", "de3f3c9fcd6d0ca1b99cfd49f106e95bfdd9abd59efffae60c72a9d4e81142e6"),
            ("earning", "ae9d54a258a56177c897a8035bae194fd663821c579588301604a4cd828ad273"),
            ("refund", "cdbe1328f573865efc1c8232615175d2c421b279854604a23c08c8f16b7c7826"),
            ("reversal", "cc4d08e00ff38ccca03e5dd5565e654ea37d706de23e4b3d2c67ec73838a955a"),
            ("adjustment", "50fd30cdf14149f73c88716fc5c305e782b8a9427d13d55c2f2b9e4003eab028"),
            ("chargeback", "bf364f87805d04620c021836ce1bfa0dd5d8c853065d7111d9eb3a0ea691b81e"),
            ("tip", "db03b57f27f501773af717fd55a2d1bedc2f82a3df929c8603e66b2f607c7414"),
        ]
    );
}
