//! Texts beside fields with errors.

use super::texts;

texts! {
    /// Texts beside fields with errors.
    FieldTexts;
    field_required(): "This field is empty.", "Dieses Feld ist leer.";
    too_long(most: usize):
        format!("At most {most} characters."),
        format!("Höchstens {most} Zeichen.");
    too_short(least: usize):
        format!("At least {least} characters."),
        format!("Mindestens {least} Zeichen.");
    control_character(): "One line of text, without special characters.", "Eine Zeile Text, ohne Sonderzeichen.";
    malformed(): "This does not have the expected form.", "Das hat nicht die erwartete Form.";
    not_an_amount(): "An amount such as 12.50.", "Ein Betrag wie 12,50.";
    too_many_decimals(most: u8):
        if most == 0 { "An amount without decimals.".to_owned() } else { format!("At most {most} digits after the point.") },
        if most == 0 { "Ein Betrag ohne Nachkommastellen.".to_owned() } else { format!("Höchstens {most} Stellen nach dem Komma.") };
    amount_too_large(): "This amount is too large.", "Dieser Betrag ist zu groß.";
    amount_too_small(least: &str): format!("At least {least}."), format!("Mindestens {least}.");
    amount_above_limit(most: &str): format!("At most {most}."), format!("Höchstens {most}.");
    balance_too_small(available: &str):
        format!("You have {available} available."),
        format!("Du hast {available} verfügbar.");
    wallet_owes(owed: &str):
        format!("Your wallet owes {owed}. Pay that in first."),
        format!("Dein Guthaben ist {owed} im Minus. Zahle das zuerst ein.");
    choose_one(): "Choose one of the options.", "Wähle eine der Möglichkeiten.";
    no_payments(): "Payments are not possible here at the moment.", "Zahlungen sind hier gerade nicht möglich.";
    payment_refused(): "The payment provider refused this payment.", "Der Zahlungsdienst hat diese Zahlung abgelehnt.";
    email_taken(): "Another account has this address.", "Ein anderes Konto hat diese Adresse.";
    password_known(): "This password is known from data leaks. Choose another one.", "Dieses Passwort ist aus Datenlecks bekannt. Wähle ein anderes.";
    wrong_credentials(): "The address or the password is wrong.", "Die Adresse oder das Passwort ist falsch.";
    wrong_password(): "The password is wrong.", "Das Passwort ist falsch.";
    suspended(): "This account is suspended. Ask the operator.", "Dieses Konto ist gesperrt. Frag den Betreiber.";
    invalid_code(): "This code is wrong or has expired.", "Dieser Code ist falsch oder abgelaufen.";
}
