//! What was acknowledged, beside what the service shows at the end.

use std::collections::BTreeSet;

use crate::failovers::load::{Diary, Kind, Load};
use crate::harness::{Person, Server, cents, run};

/// What each person of a load had before it, in cents.
const BEFORE: i64 = 10_000;

/// Operations that were compared.
#[derive(Default)]
pub(crate) struct Comparison {
    pub(crate) acknowledged: usize,
    /// Acknowledged, and not there.
    pub(crate) lost: usize,
    /// There, and neither acknowledged nor given up: a second effect of some key.
    pub(crate) doubled: usize,
    /// Wallets that hold something else than their top-ups and withdrawals leave.
    pub(crate) wrong_wallets: Vec<String>,
    /// The output of the ledger audit if the ledger is inconsistent.
    pub(crate) inconsistent: Option<String>,
}

/// Compares each client's diary with what a new server on this database shows, and audits the ledger.
pub(crate) fn compare(url: &str, load: &Load, diaries: &[Diary]) -> Comparison {
    let server = Server::reaching(url, &[]);
    let mut found = Comparison::default();
    for (payer, diary) in load.people().iter().zip(diaries) {
        let person = payer.at[0].at(&server.client());
        compare_person(&person, payer.first_topup, diary, &mut found);
    }
    let (status, printed) = run(&["ledger", "verify"], Some(url), &[]);
    found.inconsistent = (status.code() != Some(0)).then_some(printed);
    found
}

fn compare_person(person: &Person, first_topup: i64, diary: &Diary, found: &mut Comparison) {
    let (mut topups, withdrawals) = (ids(person, "/wallet/topups"), ids(person, "/withdrawals"));
    topups.retain(|id| *id != first_topup);
    for (kind, there) in [(Kind::TopUp, &topups), (Kind::Withdrawal, &withdrawals)] {
        let acknowledged = diary.acknowledged.get(&kind).map_or(&[][..], Vec::as_slice);
        let recorded: BTreeSet<i64> = acknowledged.iter().copied().collect();
        let shown: BTreeSet<i64> = there.iter().copied().collect();
        found.acknowledged += acknowledged.len();
        // One id for two keys is a lost operation too.
        found.lost += recorded.difference(&shown).count() + acknowledged.len() - recorded.len();
        let open = diary.given_up.get(&kind).copied().unwrap_or_default();
        found.doubled += shown.difference(&recorded).count().saturating_sub(open);
    }
    let (available, held) = person.wallet();
    let (paid_in, withdrawn) = (200 * topups.len() as i64, 100 * withdrawals.len() as i64);
    if (cents(&available), cents(&held)) != (BEFORE + paid_in - withdrawn, withdrawn) {
        found.wrong_wallets.push(format!(
            "person {} has {available} and {held} after {} top-ups and {} withdrawals",
            person.id,
            topups.len(),
            withdrawals.len()
        ));
    }
}

/// The ids of a whole list, newest first.
pub(crate) fn ids(person: &Person, list: &str) -> Vec<i64> {
    let mut found = Vec::new();
    for number in 1.. {
        let page = person.get(&format!("{list}?per_page=100&page={number}")).data(200);
        found.extend(page["data"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()));
        if page["next_page_url"].is_null() {
            assert_eq!(page["total"], found.len());
            break;
        }
    }
    found
}
