//! What a page shows of a withdrawal before it is made.

use super::*;
use crate::address::{AddressPolicy, DestinationRefusal, OptionsTable, PayoutOption};
use crate::ledger::Balance;
use crate::money::Currency;
use crate::withdrawal::{Income, Limit, NewWithdrawal, OpenRefusal, WithdrawalAmount};

/// The command with the policy of the deployment alone.
const LENIENT: OpenWithdrawal = OpenWithdrawal { address_policy: AddressPolicy::Lenient };

/// A withdrawal of this amount.
fn new(minor: i128) -> NewWithdrawal {
    let line = |text| Line::new(text).unwrap();
    let amount = Amount::new(Money::from_minor(minor)).unwrap();
    NewWithdrawal {
        amount: WithdrawalAmount::new(amount, &Currency::new("EUR", 2).unwrap()).unwrap(),
        wallet_address: line("bc1q"),
        currency: line("BTC"),
        network: line("bitcoin"),
    }
}

/// The queries of guest 1 with this balance, of which this much arrived in the last day.
fn queries(balance: Balance, recent: i128, terms: WithdrawalTerms) -> WithdrawalQueries {
    let mut people = MockPeople::new();
    people.expect_profile().with(eq(user(1))).returning(move |id| {
        let (name, email) = (Line::new("Ada").unwrap(), Email::new("ada@example.com").unwrap());
        Ok(Some(Profile { user: User::registered(id, name, email, None, false, now()), balance }))
    });
    let mut wallets = MockWallets::new();
    wallets.expect_income().returning(move |_, _, _| {
        let income = Income { at: now().minus(Duration::hours(1)), amount: Money::from_minor(recent) };
        Ok(vec![income])
    });
    let terms = Terms { withdrawals: terms, ..Terms::default() };
    WithdrawalQueries { env: Doubles { people, wallets, terms, ..Doubles::default() }.env() }
}

#[test]
fn a_preview_refuses_what_the_command_would_refuse_and_changes_nothing() {
    let held = |minor| Balance { available: Money::from_minor(minor), ..Balance::default() };
    let owing = Balance { owed: Money::from_minor(7), ..held(1_000) };
    let most = Amount::new(Money::from_minor(900)).unwrap();
    let limited = || {
        let mut terms = WithdrawalTerms::default();
        terms.limits.max_amount = Some(most);
        terms
    };
    let clearing = || WithdrawalTerms { clearing_time: Some(Duration::DAY), ..WithdrawalTerms::default() };
    let strict = || WithdrawalTerms { requires_verified_email: true, ..WithdrawalTerms::default() };
    let rule = |limit| Some(OpenWithdrawalRefusal::Rule(OpenRefusal::Limit(limit)));
    for (balance, terms, refusal) in [
        (held(1_000), WithdrawalTerms::default(), None),
        (held(999), WithdrawalTerms::default(), Some(OpenWithdrawalRefusal::InsufficientFunds)),
        (owing, WithdrawalTerms::default(), Some(OpenWithdrawalRefusal::WalletOwes(Money::from_minor(7)))),
        (held(1_000), strict(), Some(OpenWithdrawalRefusal::EmailUnverified)),
        (held(1_000), limited(), rule(Limit::Single(most))),
        (held(1_300), clearing(), None),
        (held(1_299), clearing(), rule(Limit::Cleared(Money::from_minor(999)))),
    ] {
        // No double can write.
        let shown = run(queries(balance, 300, terms).preview(&principal(1), LENIENT, new(1_000)));
        match (shown, refusal) {
            (Ok(shown), None) => assert_eq!(shown, new(1_000)),
            (Err(CommandError::Refused(refused)), Some(refusal)) => assert_eq!(refused, refusal),
            (shown, refusal) => panic!("{shown:?}, expected {refusal:?}"),
        }
    }
}

#[test]
fn a_guest_account_has_no_preview() {
    let guest = Principal { role: Role::Guest, ..principal(1) };
    let queries = queries(Balance::default(), 0, WithdrawalTerms::default());
    let shown = run(queries.preview(&guest, LENIENT, new(1_000)));
    assert!(matches!(shown, Err(CommandError::Failed(Failure::Denied(_)))), "{shown:?}");
}

#[test]
fn a_strict_command_refuses_the_wrong_address_of_a_lenient_deployment() {
    let options = || OptionsTable::new(vec![PayoutOption::new("BTC", ["bitcoin"]).unwrap()]).unwrap();
    let terms = || WithdrawalTerms { options: options(), ..WithdrawalTerms::default() };
    let strict = OpenWithdrawal { address_policy: AddressPolicy::Strict };
    let balance = Balance { available: Money::from_minor(1_000), ..Balance::default() };
    let to = |currency, network, address| {
        let line = |text| Line::new(text).unwrap();
        let (currency, network, wallet_address) = (line(currency), line(network), line(address));
        NewWithdrawal { currency, network, wallet_address, ..new(1_000) }
    };
    let typed = || to("btc", "Bitcoin", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4");
    let shown = run(queries(balance, 0, terms()).preview(&principal(1), strict, typed()));
    assert_eq!(shown.unwrap(), to("BTC", "bitcoin", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"));
    for (wrong, part) in [
        (to("BTC", "bitcoin", "this is not an address"), None),
        (to("Euro", "bitcoin", "bc1q"), Some(DestinationRefusal::Currency)),
        (to("BTC", "moon", "bc1q"), Some(DestinationRefusal::Network)),
    ] {
        let shown = run(queries(balance, 0, terms()).preview(&principal(1), strict, wrong.clone()));
        let executor =
            Doubles { terms: Terms { withdrawals: terms(), ..Terms::default() }, ..Doubles::default() }
                .executor();
        let opened = run(executor.run(&context(1), strict, input(wrong))).map(drop);
        for refused in [shown.map(drop), opened] {
            let Err(CommandError::Refused(OpenWithdrawalRefusal::Rule(OpenRefusal::Destination(refusal)))) =
                refused
            else {
                panic!("{refused:?}")
            };
            let is_named =
                part.map_or(matches!(refusal, DestinationRefusal::Address(_)), |part| part == refusal);
            assert!(is_named, "{refusal:?}");
        }
    }
}
