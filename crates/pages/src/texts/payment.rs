//! Texts of the page of a payment, and of the payment page of the sandbox.

use super::texts;

texts! {
    /// Texts of the page of a payment, and of the payment page of the sandbox.
    PaymentTexts;
    payment(): "Payment", "Zahlung";
    preparing_title(): "Preparing the payment", "Die Zahlung wird vorbereitet";
    preparing_advice(): "This takes a few seconds.", "Das dauert ein paar Sekunden.";
    preparing_late(): "This takes longer than usual. You can wait, or begin another payment.", "Das dauert länger als sonst. Du kannst warten oder eine andere Zahlung beginnen.";
    pay_title(): "One step to your song", "Ein Schritt zu deinem Song";
    pay_title_tip(): "One step to your tip", "Ein Schritt zu deinem Trinkgeld";
    pay_title_wallet(): "Top up your wallet", "Guthaben aufladen";
    pay(amount: &str): format!("Pay {amount}"), format!("{amount} zahlen");
    wallet_share(share: &str, rest: &str): format!("{share} from your wallet, {rest} to pay"), format!("{share} aus deinem Guthaben, {rest} zu zahlen");
    pay_advice(host: &str): format!("You pay at {host}, and come back here."), format!("Du zahlst bei {host} und kommst hierher zurück.");
    open_payment_page_again(): "Open the payment page again", "Zahlungsseite noch einmal öffnen";
    waiting_title(): "Waiting for the confirmation", "Warten auf die Bestätigung";
    waiting_advice(): "You can leave this page: the money will be in your wallet.", "Du kannst diese Seite verlassen: Das Geld kommt in dein Guthaben.";
    confirmed_title(): "The money has arrived", "Das Geld ist da";
    confirmed_with_draft(): "Your request is ready to be sent.", "Dein Wunsch kann gesendet werden.";
    send_draft(amount: &str): format!("Send the request for {amount}"), format!("Wunsch für {amount} senden");
    send_draft_for(amount: &str): format!("{amount} are held until the song is played."), format!("{amount} werden reserviert, bis der Song gespielt wird.");
    confirmed_with_tip(): "Your tip is ready to be given.", "Dein Trinkgeld kann gegeben werden.";
    tip(): "Tip", "Trinkgeld";
    give_tip_of(amount: &str): format!("Tip {amount}"), format!("{amount} Trinkgeld geben");
    phone_balance_is(amount: &str): format!("{amount} are in the wallet of this phone from before the login."), format!("{amount} sind im Guthaben dieses Telefons von vor der Anmeldung.");
    balance_is(amount: &str): format!("{amount} are in your wallet."), format!("In deinem Guthaben sind {amount}.");
    draft_not_sent(): "Your request was not sent.", "Dein Wunsch wurde nicht gesendet.";
    tip_not_given(): "Your tip was not given.", "Dein Trinkgeld wurde nicht gegeben.";
    draft_money(): "The money stays in your wallet for another song. The operator can return it.", "Das Geld bleibt für einen anderen Song in deinem Guthaben. Der Betreiber kann es zurückzahlen.";
    draft_unpaid(): "The payment is not confirmed yet", "Die Zahlung ist noch nicht bestätigt";
    to_the_payment(): "To the payment", "Zur Zahlung";
    discard_draft(): "Discard it", "Verwerfen";
    to_the_gig(): "To the gig", "Zum Auftritt";
    to_the_wallet(): "To the wallet", "Zum Guthaben";
    failed_title(): "The payment did not succeed", "Die Zahlung hat nicht geklappt";
    failed_advice(): "Nothing was paid into your wallet.", "Es kam kein Geld in dein Guthaben.";
    reversed_title(): "The payment was taken back", "Die Zahlung wurde zurückgeholt";
    reversed_advice(): "The payer or the bank took the money back, so it left your wallet. A missing part is owed.", "Der Zahler oder die Bank hat das Geld zurückgeholt. Es hat dein Guthaben verlassen, ein fehlender Teil ist offen.";
    unknown_title(): "The payment is being processed", "Die Zahlung wird bearbeitet";
    another_payment(): "Pay again", "Noch einmal zahlen";
    stranger_arrived(): "The payment has arrived", "Die Zahlung ist angekommen";
    stranger_waiting(): "The payment is on its way", "Die Zahlung ist unterwegs";
    stranger_advice(): "Go back to the window in which you scanned the code. Your request goes on there.", "Geh zurück zu dem Fenster, in dem du den Code gescannt hast. Dort geht es mit deinem Wunsch weiter.";
    stranger_failed_advice(): "Go back to the window in which you scanned the code, and pay again there.", "Geh zurück zu dem Fenster, in dem du den Code gescannt hast, und zahl dort noch einmal.";
    sandbox_title(): "Test payment", "Testzahlung";
    sandbox_warning(): "This is a test page. No real money moves.", "Dies ist eine Testseite. Es bewegt sich kein echtes Geld.";
    sandbox_advice(): "Choose how the payment ends.", "Wähle, wie die Zahlung ausgeht.";
    sandbox_pay(): "Pay", "Zahlen";
    sandbox_refuse(): "Refuse", "Ablehnen";
    sandbox_later(): "Later", "Später";
    sandbox_later_hint(): "“Later” goes back without a confirmation.", "„Später“ geht ohne Bestätigung zurück.";
    sandbox_over(): "This payment is already over.", "Diese Zahlung ist schon abgeschlossen.";
}
