//! Texts of notices after a form.

use super::texts;

texts! {
    /// Texts of notices after a form. Those of the gig are in [`BoothTexts`](super::BoothTexts).
    DoneTexts;
    done_saved(): "Saved.", "Gespeichert.";
    done_password_changed():
        "The password was changed. All other sessions have ended.",
        "Das Passwort wurde geändert. Alle anderen Sitzungen sind beendet.";
    done_password_set(): "The password was set. Log in with it.", "Das Passwort ist gesetzt. Melde dich damit an.";
    done_password_confirmed():
        "The password is right. Repeat the last step within five minutes.",
        "Das Passwort stimmt. Wiederhole den letzten Schritt innerhalb von fünf Minuten.";
    done_email_changed(): "The e-mail address was changed.", "Die E-Mail-Adresse wurde geändert.";
    done_verified(): "Confirmed. Thank you.", "Bestätigt. Danke.";
    done_session_ended(): "The session has ended.", "Die Sitzung ist beendet.";
    done_sessions_ended(): "All sessions have ended.", "Alle Sitzungen sind beendet.";
    done_logged_out(): "You are logged out.", "Du bist abgemeldet.";
    done_erased(): "The account was erased.", "Das Konto wurde gelöscht.";
    done_wallet_opened(): "The wallet is in this browser now. All its other sessions have ended.", "Das Guthaben ist jetzt in diesem Browser. Alle seine anderen Sitzungen sind beendet.";
    done_claimed():
        "Your wallet is saved. Log in with the address and the password on any phone.",
        "Dein Guthaben ist gesichert. Melde dich auf jedem Telefon mit der Adresse und dem Passwort an.";
    done_became_dj(): "You are a DJ now.", "Du bist jetzt DJ.";
    done_cancelled(): "The request was cancelled.", "Der Wunsch wurde zurückgezogen.";
    done_rated(): "Thank you for the rating.", "Danke für die Bewertung.";
    done_tipped(): "The tip was given. Thank you.", "Das Trinkgeld ist gegeben. Danke.";
    done_draft_discarded():
        "Discarded. Money that has arrived stays in your wallet.",
        "Verworfen. Angekommenes Geld bleibt in deinem Guthaben.";
    done_nothing_waits(): "This waits here no longer.", "Das wartet hier nicht mehr.";
    done_played(): "Marked as played.", "Als gespielt markiert.";
    done_rejected(): "Rejected. The fee was returned.", "Abgelehnt. Der Preis ging zurück.";
    done_blocked():
        "The guest is blocked. Open requests of the guest were rejected.",
        "Der Gast ist gesperrt. Offene Wünsche des Gastes wurden abgelehnt.";
    done_unblocked(): "The guest is no longer blocked.", "Der Gast ist nicht mehr gesperrt.";
    done_rejects_guests():
        "The requests of guests are being rejected.",
        "Die Wünsche von Gästen werden abgelehnt.";
}
