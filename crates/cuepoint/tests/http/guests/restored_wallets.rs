//! Guest wallets after a restore of yesterday's backup: by an app, and by the link that was used since.

use serde_json::json;

use crate::guests::guest_wallet_keys::{has_40, secret_of};
use crate::guests::wallet_links::{MONEY, USED, link, opened, opens_nothing, payer, press};
use crate::harness::{Browser, Restored, SHARED_KEY, Store, leads_to, operator_keys};

on_one_store!(
    an_app_reaches_its_guest_wallet_after_a_restore_by_a_wallet_link_alone,
    a_restore_ends_a_wallet_link_and_revives_the_cookie_that_its_use_ended,
);

const OPERATOR: &str = "operator@example.com";

/// The configuration of servers that have this operator and accept each other's tokens.
fn keys() -> Vec<(&'static str, &'static str)> {
    [&operator_keys(OPERATOR)[..], &[SHARED_KEY]].concat()
}

fn an_app_reaches_its_guest_wallet_after_a_restore_by_a_wallet_link_alone(store: Store) {
    let (restored, (guest, reference)) = Restored::between(store, &keys(), payer, |server, (guest, _)| {
        let guest = guest.moved_to(&server.client());
        guest.topup("2");
        assert_eq!(guest.wallet().0, "42.00");
    });
    assert!(restored.said.contains(", 0 cookies of guest accounts kept"), "{}", restored.said);
    let client = restored.server.client();
    let refused = guest.moved_to(&client).get("/wallet");
    assert_eq!(refused.status, 401, "{refused}");
    let refresh = json!({"refresh_token": guest.refresh_token});
    client.post("/auth/refresh", &refresh).refused(401, "invalid_refresh_token");

    let operator = client.login(OPERATOR);
    let used = operator.get(&format!("/operator/users/{}/wallet-link", guest.id)).data(200);
    assert_eq!(used["last_used_at"], json!(null), "no session of the account is left: {used}");
    let browser = opened(&restored.server, &link(&operator, guest.id, &reference));
    assert!(has_40(&browser), "yesterday's money");
}

/// A browser that a link gave the wallet, and a second link, which a browser uses after the backup.
fn a_restore_ends_a_wallet_link_and_revives_the_cookie_that_its_use_ended(store: Store) {
    let (restored, (guest, reference, second, [lost, found])) = Restored::between(
        store,
        &keys(),
        |server| {
            let operator = server.client().login(OPERATOR);
            let (guest, reference) = payer(server);
            let lost = opened(server, &link(&operator, guest.id, &reference));
            let second = link(&operator, guest.id, &reference);
            (guest, reference, second, [lost, Browser::new(&server.client())])
        },
        |server, (_, _, second, browsers)| {
            let [lost, found] = browsers.each_ref().map(|browser| browser.at(&server.client()));
            assert_eq!(leads_to(&press(&found, second)), "/wallet?done=wallet-opened");
            assert!(has_40(&found));
            assert_eq!(leads_to(&lost.get("/wallet")), "/login?next=%2Fwallet");
        },
    );
    // The operator reads that there is a cookie whose end may be lost.
    assert!(restored.said.contains(", 1 cookies of guest accounts kept"), "{}", restored.said);
    let client = restored.server.client();
    let [lost, found] = [lost, found].map(|browser| browser.at(&client));
    opens_nothing(&restored.server, &second, USED);
    assert!(has_40(&lost), "the cookie that the use of the link had ended");
    let unknown = secret_of(&found);
    assert_eq!(leads_to(&found.get("/wallet")), "/login?next=%2Fwallet");
    assert_eq!(secret_of(&found), unknown, "it may belong to a database that comes back");

    // The guide says to repeat the link.
    let again = link(&client.login(OPERATOR), guest.id, &reference);
    assert_eq!(leads_to(&press(&found, &again)), "/wallet?done=wallet-opened");
    assert!(found.get("/wallet").text.contains(MONEY));
    assert_eq!(leads_to(&lost.get("/wallet")), "/login?next=%2Fwallet");
}
