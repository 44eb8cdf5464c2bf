//! Texts of error pages.

use super::texts;

texts! {
    /// Texts of error pages: what happened, whether money moved, and what to do.
    ErrorTexts;
    nothing_moved(): "No money has moved.", "Es wurde kein Geld bewegt.";
    maybe_moved():
        "We do not know yet whether the change was made. Your wallet shows it. Reload this page to send the form again: the change is made once.",
        "Wir wissen noch nicht, ob die Änderung erfolgt ist. Dein Guthaben zeigt es. Lade diese Seite neu, um das Formular noch einmal zu senden: Die Änderung erfolgt nur einmal.";
    try_again(): "Try again", "Noch einmal versuchen";
    to_start_page(): "Go to the start page", "Zur Startseite";
    not_found_title(): "This page does not exist", "Diese Seite gibt es nicht";
    not_found_advice():
        "Check the address, or enter the code of the DJ on the start page.",
        "Prüfe die Adresse, oder gib den Code des DJs auf der Startseite ein.";
    not_allowed_title(): "You cannot open this page", "Du kannst diese Seite nicht öffnen";
    not_allowed_advice():
        "Log in with the account that this page belongs to.",
        "Melde dich mit dem Konto an, zu dem diese Seite gehört.";
    suspended_title(): "This account is suspended", "Dieses Konto ist gesperrt";
    suspended_advice():
        "The operator can tell you why. Somebody else can log in here.",
        "Der Betreiber kann dir sagen, warum. Jemand anderes kann sich hier anmelden.";
    log_in_as_another(): "Log in with another account", "Mit einem anderen Konto anmelden";
    foreign_form_title(): "This form came from another site", "Dieses Formular kam von einer anderen Seite";
    foreign_form_advice():
        "For your safety, nothing was sent. Open the page here, and send the form again.",
        "Zu deiner Sicherheit wurde nichts gesendet. Öffne die Seite hier, und sende das Formular noch einmal.";
    no_form_title(): "The form did not arrive", "Das Formular ist nicht angekommen";
    no_form_advice():
        "The connection was too slow, or a part is missing. Go back, and send the form again.",
        "Die Verbindung war zu langsam, oder ein Teil fehlt. Geh zurück, und sende das Formular noch einmal.";
    outdated_title(): "This has changed meanwhile", "Das hat sich inzwischen geändert";
    outdated_advice():
        "Go back to see how it stands now.",
        "Geh zurück, um den jetzigen Stand zu sehen.";
    too_large_title(): "The form is too large", "Das Formular ist zu groß";
    too_large_advice(): "Shorten the texts, and send the form again.", "Kürze die Texte, und sende das Formular noch einmal.";
    too_many_title(): "Too many attempts", "Zu viele Versuche";
    too_many_advice(): "Wait a minute, then try again.", "Warte eine Minute, und versuche es dann noch einmal.";
    unavailable_title(): "The service does not answer at the moment", "Der Dienst antwortet gerade nicht";
    unavailable_advice(): "Wait a few seconds, then try again.", "Warte ein paar Sekunden, und versuche es dann noch einmal.";
    broken_title(): "Something went wrong on our side", "Bei uns ist etwas schiefgegangen";
    broken_advice(): "The operator finds this event under the number below.", "Der Betreiber findet den Vorfall unter der Nummer unten.";
    incident(): "Number of the event", "Nummer des Vorfalls";
}
