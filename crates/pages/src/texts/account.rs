//! Texts of the account.

use super::texts;

texts! {
    /// Texts of the account.
    AccountTexts;
    profile(): "Profile", "Profil";
    save(): "Save", "Speichern";
    email_verified(): "Confirmed", "Bestätigt";
    email_unverified(): "Not confirmed yet", "Noch nicht bestätigt";
    confirm_now(): "Confirm it now", "Jetzt bestätigen";
    change_email(): "Change the address", "Adresse ändern";
    new_email(): "New e-mail address", "Neue E-Mail-Adresse";
    new_email_hint(): "The new address gets a code. The old one can undo the change for some days.", "Die neue Adresse bekommt einen Code. Die alte kann die Änderung einige Tage lang rückgängig machen.";
    enter_email_code(): "Enter the code that the new address received.", "Gib den Code ein, den die neue Adresse bekommen hat.";
    email_locked(): "The address was changed recently. It can be changed again", "Die Adresse wurde vor Kurzem geändert. Sie kann wieder geändert werden:";
    phone(): "Phone number", "Telefonnummer";
    phone_hint(): "With its country, such as +4930123456", "Mit dem Land, zum Beispiel +4930123456";
    become_dj(): "You want to take requests?", "Du willst Wünsche annehmen?";
    become_dj_more(): "Your account gets a booth, a code and prices. It stays a DJ account.", "Dein Konto bekommt ein Pult, einen Code und Preise. Es bleibt ein DJ-Konto.";
    become_dj_button(): "Become a DJ", "DJ werden";
    change_password(): "Change the password", "Passwort ändern";
    present_password(): "Present password", "Jetziges Passwort";
    change_ends_sessions(): "All other sessions end.", "Alle anderen Sitzungen enden.";
    sessions(): "Sessions", "Sitzungen";
    this_session(): "This session", "Diese Sitzung";
    unknown_client(): "Unknown program", "Unbekanntes Programm";
    began(): "Began", "Begonnen";
    last_used(): "last used", "zuletzt benutzt";
    end_session(): "End", "Beenden";
    end_all_sessions(): "End all sessions", "Alle Sitzungen beenden";
    your_data(): "Your data", "Deine Daten";
    export_advice(): "A file with everything that this service stores about you.", "Eine Datei mit allem, was dieser Dienst über dich speichert.";
    export_data(): "Export", "Exportieren";
    erase_account(): "Erase the account", "Konto löschen";
    erase_advice(): "Your name, your address and your sessions are removed for ever. Booked amounts stay in the ledger, without your name. The wallet must be empty.", "Dein Name, deine Adresse und deine Sitzungen werden für immer entfernt. Gebuchte Beträge bleiben ohne deinen Namen im Hauptbuch. Das Guthaben muss leer sein.";
    erase_guest_advice(): "Your name and this session are removed for ever. The wallet must be empty.", "Dein Name und diese Sitzung werden für immer entfernt. Das Guthaben muss leer sein.";
    erase_button(): "Erase for ever", "Für immer löschen";
    erase_outdated(): "The account has changed meanwhile. Please try again.", "Das Konto hat sich inzwischen geändert. Bitte versuche es noch einmal.";
    erase_money_left(): "There is money in the wallet. Spend it or pay it out first.", "Im Guthaben ist noch Geld. Gib es zuerst aus, oder lass es auszahlen.";
    erase_guest_money_left(): "There is money in the wallet. Spend it, tip it, save the wallet with an e-mail address, or ask the operator.", "Im Guthaben ist noch Geld. Gib es aus, gib Trinkgeld, sichere das Guthaben mit einer E-Mail-Adresse, oder frag den Betreiber.";
    erase_last_operator(): "You are the last operator.", "Du bist der letzte Betreiber.";
    erase_topup_pending(): "A payment is on its way. Wait until it has arrived or failed.", "Eine Zahlung ist unterwegs. Warte, bis sie angekommen oder fehlgeschlagen ist.";
    erase_restorable(): "The e-mail address was changed recently. Erase the account when the change is final.", "Die E-Mail-Adresse wurde vor Kurzem geändert. Lösche das Konto, wenn die Änderung endgültig ist.";
    password_again_title(): "Please confirm that it is you", "Bitte bestätige, dass du es bist";
    password_again_advice(): "This step asks for your password once more. It is valid for five minutes.", "Dieser Schritt fragt noch einmal nach deinem Passwort. Das gilt fünf Minuten lang.";
}
