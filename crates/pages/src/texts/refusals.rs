//! Texts of refused values, which stand beside their fields.

use super::texts;

texts! {
    /// Texts of refused values, which stand beside their fields.
    RefusalTexts;
    fill_in(): "Please fill in this field.", "Bitte fülle dieses Feld aus.";
    too_long(most: usize): format!("At most {most} characters."), format!("Höchstens {most} Zeichen.");
    too_short(least: usize): format!("At least {least} characters."), format!("Mindestens {least} Zeichen.");
    line_breaks(): "Only one line of plain text.", "Nur eine Zeile einfacher Text.";
    not_this_form(): "This does not look right. Please check it.", "Das sieht nicht richtig aus. Bitte prüfe es.";
    not_an_email(): "This is not an e-mail address.", "Das ist keine E-Mail-Adresse.";
    not_a_phone(): "Write the number with its country, such as +4930123456.", "Schreib die Nummer mit dem Land, zum Beispiel +4930123456.";
    not_an_amount(): "Write an amount, such as 12.50.", "Schreib einen Betrag, zum Beispiel 12,50.";
    decimals(most: u8):
        if most == 0 { "Only a whole amount.".to_owned() } else { format!("At most {most} decimals, and no other separators.") },
        if most == 0 { "Nur ein ganzer Betrag.".to_owned() } else { format!("Höchstens {most} Nachkommastellen und keine weiteren Trennzeichen.") };
    amount_too_large(): "This amount is too large.", "Dieser Betrag ist zu groß.";
    number_between(least: u8, most: u8): format!("A number from {least} to {most}."), format!("Eine Zahl von {least} bis {most}.");
    amount_above_zero(): "The amount must be above zero.", "Der Betrag muss größer als null sein.";
    at_least(amount: &str): format!("At least {amount}."), format!("Mindestens {amount}.");
    at_most(amount: &str): format!("At most {amount}."), format!("Höchstens {amount}.");
    at_most_per_hours(amount: &str, hours: i64):
        if hours > 48 { format!("At most {amount} within {} days.", hours.div_euclid(24)) } else { format!("At most {amount} within {hours} hours.") },
        if hours > 48 { format!("Höchstens {amount} in {} Tagen.", hours.div_euclid(24)) } else { format!("Höchstens {amount} in {hours} Stunden.") };
    at_most_cleared(amount: &str):
        format!("At most {amount} now. The rest arrived recently and can be paid out later."),
        format!("Jetzt höchstens {amount}. Der Rest kam vor Kurzem und kann später ausgezahlt werden.");
    at_most_in_wallet(amount: &str):
        format!("At most {amount} more without an account."),
        format!("Ohne Konto höchstens noch {amount}.");
    not_enough_money(): "There is not enough money in the wallet.", "Im Guthaben ist nicht genug Geld.";
    wallet_owes(): "The wallet owes money. Top it up first.", "Im Guthaben ist ein Betrag offen. Lade es zuerst auf.";
    no_payments(): "Payments are not possible here at the moment.", "Zahlungen sind hier gerade nicht möglich.";
    payment_refused(): "The payment provider refused this payment.", "Der Zahlungsdienst hat diese Zahlung abgelehnt.";
    email_taken(): "This address has an account already. Log in instead.", "Diese Adresse hat schon ein Konto. Melde dich stattdessen an.";
    breached_password(): "This password is known from a data breach. Choose another one.", "Dieses Passwort ist aus einem Datenleck bekannt. Wähle ein anderes.";
    wrong_password(): "The password is wrong.", "Das Passwort ist falsch.";
    wrong_credentials(): "The address or the password is wrong.", "Die Adresse oder das Passwort ist falsch.";
    account_suspended(): "This account is suspended. The operator can tell you why.", "Dieses Konto ist gesperrt. Der Betreiber kann dir sagen, warum.";
    wrong_code(): "The code is wrong or too old.", "Der Code ist falsch oder zu alt.";
    codes_not_offered(): "Codes cannot be sent to this address here.", "An diese Adresse können hier keine Codes gesendet werden.";
    too_many_codes(): "Too many codes were sent. Try again later.", "Es wurden zu viele Codes gesendet. Versuche es später noch einmal.";
    wrong_token(): "The link is used up or too old. Ask for a new one.", "Der Link ist verbraucht oder zu alt. Fordere einen neuen an.";
    same_address(): "This is your address already.", "Das ist schon deine Adresse.";
    payout_currency(): "This currency is not offered.", "Diese Währung wird nicht angeboten.";
    payout_network(): "This currency is not paid out on this network.", "Diese Währung wird in diesem Netz nicht ausgezahlt.";
    address_malformed(): "This is not an address: a character is wrong or missing.", "Das ist keine Adresse: Ein Zeichen ist falsch oder fehlt.";
    address_other_network(): "This address belongs to another network.", "Diese Adresse gehört zu einem anderen Netz.";
    address_test_network(): "This address belongs to a test network.", "Diese Adresse gehört zu einem Testnetz.";
    address_ownerless(): "Nobody holds the key of this address. The money would be lost.", "Niemand hat den Schlüssel dieser Adresse. Das Geld wäre verloren.";
    address_anyone(): "Anybody can spend from this address.", "Von dieser Adresse kann jeder ausgeben.";
    tip_to_oneself(): "You cannot tip yourself.", "Du kannst dir selbst kein Trinkgeld geben.";
    blocked_by_dj(): "This DJ takes nothing from you.", "Dieser DJ nimmt nichts von dir an.";
}
