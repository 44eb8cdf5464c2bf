//! Texts of the start page, and of the pages of logins and registrations.

use super::texts;

texts! {
    /// Texts of the start page, and of the pages of logins and registrations.
    FrontTexts;
    code(): "Code of the DJ", "Code des DJs";
    code_hint(): "Six letters and digits, on the poster or the screen", "Sechs Buchstaben und Ziffern, auf dem Plakat oder der Anzeige";
    open_code(): "Open", "Öffnen";
    start_title(): "Song requests for DJs", "Musikwünsche für DJs";
    slogan(): "Hear your song tonight.", "Hör heute deinen Song.";
    slogan_more(): "Send the DJ a paid request. You pay only when it is played.", "Schick dem DJ einen bezahlten Wunsch. Du zahlst nur, wenn er gespielt wird.";
    back_to(): "Back to", "Zurück zu";
    gigs_nearby(): "Gigs nearby", "Auftritte in der Nähe";
    find_nearby(): "Find gigs near me", "Auftritte in meiner Nähe finden";
    nearby_privacy(): "Your browser asks for your position. It is used once, to about a kilometre, and not stored.", "Dein Browser fragt nach deinem Standort. Er wird einmal und auf etwa einen Kilometer genau benutzt und nicht gespeichert.";
    nearby_none(): "No open gig is near you at the moment.", "In deiner Nähe ist gerade kein offener Abend.";
    kilometres(distance: &str): format!("{distance} km"), format!("{distance} km");
    how_it_works(): "How it works", "So geht es";
    step_scan(): "Scan the code", "Code scannen";
    step_scan_more(): "It is on the poster and on the screen. You need no app and no account.", "Er steht auf dem Plakat und auf der Anzeige. Du brauchst keine App und kein Konto.";
    step_request(): "Request a song", "Song wünschen";
    step_request_more(): "Title, artist, price. You see your place in the queue.", "Titel, Interpret, Preis. Du siehst deinen Platz in der Liste.";
    step_hear(): "Hear it, then pay", "Hören, dann zahlen";
    step_hear_more(): "The money is held until the song is played. If it is not, all of it returns.", "Das Geld ist reserviert, bis der Song läuft. Läuft er nicht, kommt alles zurück.";
    for_djs(): "You are a DJ?", "Du bist DJ?";
    for_djs_more(): "Open your evening, hang up the poster, and take requests that pay.", "Eröffne deinen Abend, häng das Plakat auf, und nimm Wünsche an, die sich lohnen.";
    register_as_dj(): "Register as a DJ", "Als DJ registrieren";
    no_operator(): "This service has no operator yet.", "Dieser Dienst hat noch keinen Betreiber.";
    no_operator_more(): "The terminal in which the service was started shows a code. With this code, the first operator begins here.", "Das Terminal, in dem der Dienst gestartet wurde, zeigt einen Code. Mit diesem Code beginnt hier der erste Betreiber.";
    begin_as_operator(): "Begin as the operator", "Als Betreiber beginnen";
    operator_by_command(): "Run this command on this machine to add one. With SQLite, stop the service first.", "Lege ihn mit diesem Befehl auf diesem Rechner an. Bei SQLite halte den Dienst vorher an.";
    email(): "E-mail address", "E-Mail-Adresse";
    password(): "Password", "Passwort";
    new_password(): "New password", "Neues Passwort";
    password_hint(): "At least 8 characters", "Mindestens 8 Zeichen";
    name(): "Name", "Name";
    guest_money_stays(amount: &str):
        format!("The {amount} of the wallet on this phone stay in a wallet of their own. You can spend them first."),
        format!("Die {amount} des Guthabens auf diesem Telefon bleiben ein eigenes Guthaben. Du kannst sie zuerst ausgeben.");
    unknown_key(): "This browser has the key of a wallet that is not known here. If the wallet was saved, log in with its e-mail address. Otherwise the browser keeps the key in case the wallet comes back. The operator can help.", "Dieser Browser hat den Schlüssel eines Guthabens, das hier nicht bekannt ist. Wenn es gesichert wurde, melde dich mit der E-Mail-Adresse an. Sonst behält der Browser den Schlüssel, falls das Guthaben wiederkommt. Der Betreiber kann helfen.";
    forgot_password(): "Forgot the password?", "Passwort vergessen?";
    no_account_yet(): "No account yet?", "Noch kein Konto?";
    account_already(): "You have an account?", "Du hast ein Konto?";
    register(): "Register", "Registrieren";
    register_title(): "Create an account", "Konto anlegen";
    register_dj_title(): "Create a DJ account", "DJ-Konto anlegen";
    you_are(): "You are", "Du bist";
    a_guest(): "A guest", "Gast";
    a_guest_more(): "You request songs", "Du wünschst Songs";
    a_dj(): "A DJ", "DJ";
    a_dj_more(): "You take requests", "Du nimmst Wünsche an";
    dj_name_hint(): "Guests see it on your page and on the poster.", "Gäste sehen ihn auf deiner Seite und auf dem Plakat.";
    claim_title(): "Save your wallet", "Guthaben sichern";
    claim_advice(): "Add an e-mail address and a password. Your money and your requests stay as they are.", "Füge eine E-Mail-Adresse und ein Passwort hinzu. Dein Geld und deine Wünsche bleiben, wie sie sind.";
    claim_ends_others(): "Afterwards, other browsers with this wallet need this address and password.", "Andere Browser mit diesem Guthaben brauchen danach diese Adresse und dieses Passwort.";
    claim(): "Save", "Sichern";
    forgot_title(): "Set a new password", "Neues Passwort setzen";
    forgot_advice(): "Enter the address of your account. You get a message with a link.", "Gib die Adresse deines Kontos ein. Du bekommst eine Nachricht mit einem Link.";
    send_link(): "Send the link", "Link senden";
    link_sent(): "If this address has an account, the message is on its way.", "Wenn diese Adresse ein Konto hat, ist die Nachricht unterwegs.";
    no_email_here(): "This service sends no e-mail. Ask the operator for a new password.", "Dieser Dienst sendet keine E-Mails. Frag den Betreiber nach einem neuen Passwort.";
    reset_title(): "Choose a new password", "Neues Passwort wählen";
    token(): "Code of the message", "Code aus der Nachricht";
    token_hint(): "The long code at the end of the link", "Der lange Code am Ende des Links";
    set_password(): "Set the password", "Passwort setzen";
    reset_ends_sessions(): "All sessions end. You log in again with the new password.", "Alle Sitzungen enden. Du meldest dich mit dem neuen Passwort wieder an.";
    verify_email_title(): "Confirm your e-mail address", "E-Mail-Adresse bestätigen";
    verify_phone_title(): "Confirm your phone number", "Telefonnummer bestätigen";
    code_sent_to(): "A code of six digits was sent to", "Ein Code aus sechs Ziffern ging an";
    code_not_sent_yet(): "A code of six digits is sent to", "Ein Code aus sechs Ziffern geht an";
    six_digits(): "Code of six digits", "Code aus sechs Ziffern";
    confirm(): "Confirm", "Bestätigen";
    send_code(): "Send the code", "Code senden";
    send_code_again(): "Send a new code", "Neuen Code senden";
    operator_title(): "Become the first operator", "Erster Betreiber werden";
    operator_advice(): "The operator decides on payouts, suspensions and corrections. The code is in the terminal in which the service was started. It works once.", "Der Betreiber entscheidet über Auszahlungen, Sperren und Korrekturen. Der Code steht im Terminal, in dem der Dienst gestartet wurde. Er gilt einmal.";
    terminal_code(): "Code from the terminal", "Code aus dem Terminal";
}
