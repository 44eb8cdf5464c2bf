//! Texts of the subject `booth`.

use super::texts;

texts! {
    /// Texts of the subject `booth`.
    BoothTexts;
    open_gig_title(): "Open your evening", "Eröffne deinen Abend";
    open_gig_lead():
        "Guests scan your code, request a song and pay. You decide what you play. Money moves only for songs that you played.",
        "Gäste scannen deinen Code, wünschen einen Song und zahlen. Du entscheidest, was du spielst. Geld fließt nur für gespielte Songs.";
    as_last_time(): "The form has the values of your last evening.", "Das Formular hat die Werte deines letzten Abends.";
    open_gig(): "Open the evening", "Abend eröffnen";
    past_gigs_link(): "Past evenings", "Vergangene Abende";
    last_report_link(): "Report on your last evening", "Bericht über deinen letzten Abend";
    poster_link(): "Poster", "Aushang";
    display_link(): "Display", "Anzeige";
    withdrawals_link(): "Wallet and withdrawals", "Guthaben und Auszahlungen";
    gig_title(): "Title", "Titel";
    gig_title_hint(): "Guests see it above the form.", "Gäste sehen ihn über dem Formular.";
    gig_venue(): "Venue", "Ort";
    gig_city(): "City", "Stadt";
    gig_place(): "Place", "Ort";
    gig_place_hint():
        "With a position, guests find you under \"Gigs nearby\".",
        "Mit einer Position finden dich Gäste unter „Gigs in der Nähe“.";
    gig_latitude(): "Latitude", "Breitengrad";
    gig_longitude(): "Longitude", "Längengrad";
    use_position(): "Use my position", "Meine Position verwenden";
    position_refused(): "The browser did not tell the position.", "Der Browser hat die Position nicht mitgeteilt.";
    gig_message(): "Message to the guests", "Nachricht an die Gäste";
    price_of_song(): "Price of a song", "Preis eines Songs";
    price_new_artist(): "Price for upcoming artists", "Preis für Newcomer";
    queue_order(): "Order of the queue", "Reihenfolge der Liste";
    order_rounds(): "In rounds", "In Runden";
    order_rounds_hint():
        "One song for each guest in a round. Within a round the higher fee comes first.",
        "Ein Song für jeden Gast in einer Runde. In einer Runde kommt der höhere Preis zuerst.";
    order_arrival(): "By arrival", "Nach Eingang";
    order_arrival_hint(): "The earlier request comes first.", "Der frühere Wunsch kommt zuerst.";
    most_per_guest(): "Open requests for each guest", "Offene Wünsche je Gast";
    most_per_guest_hint(): "From 1 to 100.", "Von 1 bis 100.";
    asks_kind(): "Guests say whether their song is popular or by an upcoming artist. Each kind has its own price", "Gäste geben an, ob ihr Song bekannt ist oder von einem Newcomer. Beides hat seinen eigenen Preis";
    members_only(): "Only guests with a login can request", "Nur Gäste mit Anmeldung können sich etwas wünschen";
    new_code(): "Use a new code. Posters with the old one no longer work", "Neuen Code verwenden. Aushänge mit dem alten gelten nicht mehr";
    save_settings(): "Save", "Speichern";

    connection_live(): "live", "live";
    connection_without_script(): "Refresh to see new requests", "Aktualisieren, um neue Wünsche zu sehen";
    reconnecting_since(): "reconnecting since {time}", "Verbindung gestört seit {time}";
    one_tap_unsent(): "1 tap unsent", "1 Eingabe nicht gesendet";
    taps_unsent(): "{n} taps unsent", "{n} Eingaben nicht gesendet";
    log_in_for_one_tap(): "Log in to send 1 tap", "Melde dich an, um 1 Eingabe zu senden";
    log_in_for_taps(): "Log in to send {n} taps", "Melde dich an, um {n} Eingaben zu senden";
    log_in_again(): "Log in again", "Melde dich wieder an";
    one_new_request(): "1 new request", "1 neuer Wunsch";
    many_new_requests(): "{n} new requests", "{n} neue Wünsche";
    tap_sending(): "Sending", "Wird gesendet";
    tap_unsent(): "Not sent yet", "Noch nicht gesendet";
    will_play(): "Played", "Gespielt";
    will_reject(): "Rejected", "Abgelehnt";
    will_end(): "The evening ends after the taps before it.", "Der Abend endet nach den Eingaben davor.";
    undo_tap(): "Undo", "Rückgängig";
    dropped_taps_of_others(): "Taps of another user that were not sent: {n}.", "Nicht gesendete Eingaben eines anderen Nutzers: {n}.";
    dropped_old_taps(): "Taps older than 12 hours that were not sent: {n}.", "Nicht gesendete Eingaben, die älter als 12 Stunden sind: {n}.";
    close_message(): "Close", "Schließen";

    new_requests(): "New", "Neu";
    accepted_songs(): "Accepted", "Angenommen";
    earned_tonight(): "Earned tonight", "Heute verdient";
    people_waiting(): "Guests waiting", "Gäste warten";
    tips_tonight(): "Tips", "Trinkgeld";
    no_new_requests(): "No new requests", "Keine neuen Wünsche";
    no_new_requests_hint(): "Show your guests the code:", "Zeig deinen Gästen den Code:";
    no_accepted_requests(): "Nothing accepted yet", "Noch nichts angenommen";
    no_accepted_requests_hint(): "Accepted songs appear on the display.", "Angenommene Songs erscheinen auf der Anzeige.";
    last_songs(): "Last played", "Zuletzt gespielt";
    gig_is_open(): "Open for requests", "Offen für Wünsche";
    gig_is_paused(): "Paused", "Pausiert";
    pause_gig(): "Pause", "Pausieren";
    pause_advice(): "During a pause, guests see \"paused\" and cannot request.", "In einer Pause sehen Gäste „pausiert“ und können sich nichts wünschen.";
    resume_gig(): "Resume", "Fortsetzen";
    resume_advice(): "Guests see \"paused\". Open requests stay.", "Gäste sehen „pausiert“. Offene Wünsche bleiben.";

    erased_guest(): "Erased guest", "Gelöschter Gast";
    round_number(round: u32): format!("Round {round}"), format!("Runde {round}");
    place_in_queue(): "Place", "Platz";
    requested_at(): "requested", "gewünscht";
    request_ends(): "ends", "endet";
    may_expire(): "May expire before its turn", "Kann vor dem Platz ablaufen";
    same_song_requests(count: usize): format!("{count} requests for this song"), format!("{count} Wünsche für diesen Song");
    song_was_played(): "This song was played", "Dieser Song wurde gespielt";
    accept_request(): "Accept", "Annehmen";
    accept_all(count: usize): format!("Accept all {count}"), format!("Alle {count} annehmen");
    accept_first(count: usize): format!("Accept the first {count}"), format!("Die ersten {count} annehmen");
    reject_request(): "Reject", "Ablehnen";
    mark_played(): "Played", "Gespielt";
    played_all(count: usize): format!("Played for all {count}"), format!("Für alle {count} gespielt");
    played_first(count: usize): format!("Played for the first {count}"), format!("Für die ersten {count} gespielt");
    more_actions(): "More", "Mehr";
    played_or_reject(): "Played or reject", "Gespielt oder ablehnen";
    block_guest(): "Block this guest", "Diesen Gast sperren";
    block_advice(open: usize, returned: &str):
        if open == 1 { format!("1 open request is rejected, {returned} is returned.") } else { format!("{open} open requests are rejected, {returned} is returned.") },
        if open == 1 { format!("1 offener Wunsch wird abgelehnt, {returned} geht zurück.") } else { format!("{open} offene Wünsche werden abgelehnt, {returned} gehen zurück.") };

    blocked_guests(): "Blocked guests", "Gesperrte Gäste";
    blocked_guests_advice():
        "They cannot request songs from you, or tip you.",
        "Sie können sich bei dir nichts wünschen und dir kein Trinkgeld geben.";
    no_blocked_guests(): "You block nobody.", "Du sperrst niemanden.";
    blocked_since(): "blocked", "gesperrt";
    unblock_guest(): "Unblock", "Sperre aufheben";
    gig_settings(): "Settings of the evening", "Einstellungen des Abends";
    reject_guests_title(): "Reject requests of guests", "Wünsche von Gästen ablehnen";
    reject_guests_advice():
        "Rejects the new requests of guests without a login, and of members who have verified neither an address nor a phone and have never paid. Their money is returned.",
        "Lehnt neue Wünsche von Gästen ohne Anmeldung ab und von Mitgliedern, die weder Adresse noch Telefonnummer bestätigt und noch nie bezahlt haben. Ihr Geld geht zurück.";
    younger_than(): "Requested within the last", "Gewünscht in den letzten";
    recent_requests(minutes: u16, count: usize, sum: &str):
        if count == 1 { format!("{minutes} minutes: 1 request, {sum}") } else { format!("{minutes} minutes: {count} requests, {sum}") },
        if count == 1 { format!("{minutes} Minuten: 1 Wunsch, {sum}") } else { format!("{minutes} Minuten: {count} Wünsche, {sum}") };
    no_requests_of_guest_accounts(): "Guests have no new requests.", "Gäste haben keine neuen Wünsche.";
    reject_guests(): "Reject them", "Ablehnen";
    end_gig(): "End the evening", "Abend beenden";
    end_advice(open: u64, returned: &str, kept: &str):
        match open {
            0 => format!("No request is open. {kept} stays yours."),
            1 => format!("1 open request is rejected, {returned} is returned. {kept} stays yours."),
            _ => format!("{open} open requests are rejected, {returned} is returned. {kept} stays yours."),
        },
        match open {
            0 => format!("Kein Wunsch ist offen. {kept} bleiben dir."),
            1 => format!("1 offener Wunsch wird abgelehnt, {returned} gehen zurück. {kept} bleiben dir."),
            _ => format!("{open} offene Wünsche werden abgelehnt, {returned} gehen zurück. {kept} bleiben dir."),
        };
    unplayed_at_end():
        "You have accepted these songs. Their money is returned:",
        "Diese Songs hast du angenommen. Ihr Geld geht zurück:";
    more_unplayed(count: usize): format!("and {count} more"), format!("und {count} weitere");
    keys_title(): "Keys", "Tasten";
    keys_intro(): "For the selected card:", "Für die ausgewählte Karte:";
    key_accept(): "accept", "annehmen";
    key_reject(): "reject", "ablehnen";
    key_played(): "played", "gespielt";
    key_undo(): "undo", "rückgängig";
    key_arrows(): "select a card", "Karte auswählen";
    key_help(): "show or hide the keys", "Tasten zeigen oder verbergen";

    did_accept(): "Accepted.", "Angenommen.";
    did_play(earned: &str): format!("Played. {earned} is yours."), format!("Gespielt. {earned} gehören dir.");
    did_reject(returned: &str): format!("Rejected. {returned} was returned."), format!("Abgelehnt. {returned} gingen zurück.");
    did_block(rejected: usize, returned: &str):
        format!("The guest is blocked. Rejected requests: {rejected}. Returned: {returned}."),
        format!("Der Gast ist gesperrt. Abgelehnte Wünsche: {rejected}. Zurückgegeben: {returned}.");
    rejects_guests(matching: usize):
        format!("Requests of guests being rejected: {matching}."),
        format!("Wünsche von Gästen werden abgelehnt: {matching}.");
    did_pause(): "Paused. Guests see \"paused\".", "Pausiert. Gäste sehen „pausiert“.";
    did_resume(): "Open for requests again.", "Wieder offen für Wünsche.";
    did_open(): "Your evening is open.", "Dein Abend ist eröffnet.";
    did_change(): "Saved.", "Gespeichert.";
    did_end(): "The evening has ended.", "Der Abend ist beendet.";
    request_gone(): "This request is no longer open.", "Dieser Wunsch ist nicht mehr offen.";
    late_expired(at: &str, fee: &str):
        format!("Expired at {at}, {fee} goes back to the guest."),
        format!("Um {at} abgelaufen, {fee} gehen an den Gast zurück.");
    late_cancelled(at: &str, fee: &str):
        format!("Cancelled by the guest at {at}, {fee} returned."),
        format!("Um {at} vom Gast zurückgezogen, {fee} gingen zurück.");
    late_rejected(at: &str, fee: &str):
        format!("Already rejected at {at}, {fee} returned to the guest."),
        format!("Schon um {at} abgelehnt, {fee} gingen an den Gast zurück.");
    late_played(at: &str): format!("Already played at {at}."), format!("Schon um {at} gespielt.");
}
