//! The examples of each network in `docs/payout-addresses.md`, tested.

use cuepoint_domain::address::{AddressError, Network};

/// The text between backquotes.
fn examples(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_documented_address_examples_are_correct() {
    let document = include_str!("../../../../../docs/payout-addresses.md");
    let table = document.split("<!-- destinations -->\n").nth(1).unwrap();
    let mut described = Vec::new();
    for row in table.lines().skip(2) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, names, taken, refused, _] = cells[..] else { panic!("{row}") };
        for name in names.split(", ") {
            let network = Network::named(name).unwrap();
            let (taken, refused) = (examples(taken), examples(refused));
            assert!(!taken.is_empty() && !refused.is_empty(), "{row}");
            for address in taken {
                assert_eq!(network.canonical(address).as_deref(), Ok(address), "{name}");
            }
            for address in refused {
                let judged = network.canonical(address);
                let meant =
                    [AddressError::Ownerless, AddressError::AnyoneCanSpend, AddressError::OtherNetwork];
                assert!(meant.iter().any(|error| judged == Err(*error)), "{address} on {name}: {judged:?}");
            }
            described.push(network);
        }
    }
    assert_eq!(described, Network::all().collect::<Vec<_>>());
}
