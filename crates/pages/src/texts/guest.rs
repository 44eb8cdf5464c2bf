//! Texts of the page of a gig for its guests.

use super::texts;

texts! {
    /// Texts of the page of a gig for its guests.
    GuestTexts;
    request_a_song(): "Request a song", "Wünsch dir einen Song";
    status_open(): "Taking requests", "Nimmt Wünsche an";
    status_paused(): "Paused", "Pause";
    status_ended(): "Ended", "Beendet";
    price(): "Price", "Preis";
    price_upcoming(): "Upcoming artists", "Newcomer";
    wait(): "Wait", "Wartezeit";
    minutes(minutes: u32): format!("{minutes} min"), format!("{minutes} min");
    in_the_queue(): "In the queue", "In der Liste";
    rating(mean: &str, count: i64):
        if count == 1 { format!("{mean} of 5, one rating") } else { format!("{mean} of 5, {count} ratings") },
        if count == 1 { format!("{mean} von 5, eine Bewertung") } else { format!("{mean} von 5, {count} Bewertungen") };
    request_another(): "Request another song", "Noch einen Song wünschen";
    song_title(): "Song title", "Songtitel";
    artist_name(): "Artist", "Interpret";
    kind_of_song(): "Kind of song", "Art des Songs";
    popular_song(): "Popular song", "Bekannter Song";
    upcoming_artist(): "Upcoming artist", "Newcomer";
    your_offer(): "Your offer", "Dein Angebot";
    the_price(): "The price", "Der Preis";
    about_place(position: u32): format!("about {}", ordinal(position)), format!("etwa Platz {position}");
    in_round(round: u32): format!("round {round}"), format!("Runde {round}");
    add_dedication(): "Add a dedication", "Widmung hinzufügen";
    dedication(): "Dedication", "Widmung";
    dedication_hint(): "The DJ alone reads it. At most 140 characters.", "Nur der DJ liest sie. Höchstens 140 Zeichen.";
    your_name(): "Your name", "Dein Name";
    your_name_hint(): "The DJ sees it with your request.", "Der DJ sieht ihn bei deinem Wunsch.";
    have_an_account(): "You have an account?", "Du hast ein Konto?";
    spend_guest_wallet(amount: &str):
        format!("Spend the {amount} of the earlier wallet on this phone first"),
        format!("Zuerst die {amount} des früheren Guthabens auf diesem Telefon ausgeben");
    send_request(): "Request this song", "Song wünschen";
    request_for(amount: &str): format!("Request for {amount}"), format!("Für {amount} wünschen");
    choose_another(): "Choose another song", "Anderen Song wählen";
    paid_when_played():
        "You pay only when the song is played. Not played? The money stays here as credit.",
        "Du zahlst nur, wenn der Song gespielt wird. Nicht gespielt? Dann bleibt das Geld hier als Guthaben.";
    in_your_wallet(amount: &str): format!("{amount} in your wallet"), format!("{amount} in deinem Guthaben");
    price_now(price: &str): format!("The price is now {price}."), format!("Der Preis ist jetzt {price}.");
    price_raised_question(): "Request it at this price?", "Zu diesem Preis wünschen?";
    played_at(): "Played", "Gespielt";
    accepted_already(): "The DJ has already accepted this song.", "Der DJ hat diesen Song schon angenommen.";
    requested_already(): "You have an open request for this song.", "Du hast für diesen Song schon einen offenen Wunsch.";
    again_question(): "Request it again?", "Noch einmal wünschen?";
    your_requests(): "Your requests", "Deine Wünsche";
    up_next(): "Up next", "Als Nächstes";
    up_next_empty(): "Nothing is accepted yet. Your song could be the first.", "Noch ist nichts angenommen. Dein Song könnte der erste sein.";
    last_played(): "Last played", "Zuletzt gespielt";
    me_too(): "Me too", "Ich auch";
    state_pending(): "Waiting for the DJ", "Wartet auf den DJ";
    state_accepted(): "Accepted", "Angenommen";
    state_played(): "Played", "Gespielt";
    state_returned(): "Returned", "Erstattet";
    state_other(): "In progress", "In Bearbeitung";
    held(amount: &str): format!("{amount} held"), format!("{amount} reserviert");
    paid(amount: &str): format!("{amount} paid"), format!("{amount} bezahlt");
    returned(amount: &str): format!("{amount} returned to your wallet."), format!("{amount} sind wieder in deinem Guthaben.");
    returns_soon(amount: &str):
        format!("{amount} comes back to your wallet in a moment."),
        format!("{amount} kommen gleich in dein Guthaben zurück.");
    rejected(): "The DJ does not play this song tonight.", "Der DJ spielt diesen Song heute nicht.";
    displaced(): "The queue was full, and a request with a price took its place.", "Die Liste war voll, und ein Wunsch mit Preis hat den Platz bekommen.";
    rejected_by_end(): "The gig ended before this song.", "Der Abend ging vor diesem Song zu Ende.";
    cancelled(): "You cancelled this request.", "Du hast diesen Wunsch zurückgezogen.";
    expired(): "The DJ did not get to this song in time.", "Der DJ kam nicht rechtzeitig zu diesem Song.";
    refunded(): "The operator refunded this request.", "Der Betreiber hat diesen Wunsch erstattet.";
    answered_until(): "The DJ answers until", "Der DJ antwortet bis";
    at_risk(): "May not be reached", "Kommt vielleicht nicht mehr dran";
    ends(): "This request ends", "Dieser Wunsch endet";
    before_this(rounds: u32, fees: u32, earlier: u32):
        before("Before yours", &[(rounds, "of earlier rounds", "of an earlier round"), (fees, "with a higher price", "with a higher price"), (earlier, "requested earlier", "requested earlier")], ["song", "songs"]),
        before("Vor deinem", &[(rounds, "aus früheren Runden", "aus einer früheren Runde"), (fees, "mit höherem Preis", "mit höherem Preis"), (earlier, "früher gewünscht", "früher gewünscht")], ["Song", "Songs"]);
    comes_first(): "What comes first?", "Was kommt zuerst?";
    rule_of_rounds():
        "In each round, every guest has one song. Within a round, the higher price comes first, then the earlier request. If you join later, you start in the current round.",
        "In jeder Runde hat jeder Gast einen Song. In einer Runde kommt der höhere Preis zuerst, dann der frühere Wunsch. Wenn du später dazukommst, beginnst du in der aktuellen Runde.";
    rule_of_arrival():
        "The song that was requested earlier comes first.",
        "Der Song, der früher gewünscht wurde, kommt zuerst.";
    money_returns(): "Your money then returns in full.", "Du bekommst dann alles zurück.";
    cancel_request(): "Cancel this request", "Wunsch zurückziehen";
    how_was_it(): "How was it?", "Wie war es?";
    stars(number: u8):
        if number == 1 { "1 star".to_owned() } else { format!("{number} stars") },
        if number == 1 { "1 Stern".to_owned() } else { format!("{number} Sterne") };
    your_stars(): "Your rating", "Deine Bewertung";
    tip_the_dj(): "Tip the DJ", "Trinkgeld geben";
    tip_is_final(): "A tip goes to the DJ at once and cannot be taken back.", "Ein Trinkgeld geht sofort an den DJ und ist endgültig.";
    other_amount(): "Other amount", "Anderer Betrag";
    give_tip(): "Tip", "Geben";
    save_wallet():
        "Save this wallet with an e-mail address. Without it, the money is on this phone alone.",
        "Sichere dieses Guthaben mit einer E-Mail-Adresse. Ohne sie ist das Geld nur auf diesem Telefon.";
    save_wallet_button(): "Save the wallet", "Guthaben sichern";
    paused_title(): "The DJ takes a break from requests", "Der DJ macht gerade Wunschpause";
    paused_advice(): "This page reopens as soon as the DJ goes on. Requests that you sent before stay in the queue.", "Diese Seite öffnet sich wieder, sobald es weitergeht. Wünsche, die du vorher gesendet hast, bleiben in der Liste.";
    ended_title(): "This gig is over", "Dieser Abend ist vorbei";
    ended_advice(): "Money for songs that were not played comes back to your wallet.", "Das Geld für nicht gespielte Songs kommt in dein Guthaben zurück.";
    offline_title(): "No gig at the moment", "Gerade kein Auftritt";
    offline_advice(): "The DJ takes requests here again at the next gig. The code stays the same.", "Beim nächsten Auftritt nimmt der DJ hier wieder Wünsche an. Der Code bleibt gleich.";
    queue_full_title(): "The queue is full", "Die Liste ist voll";
    queue_full_advice(): "Try again after the next song.", "Versuche es nach dem nächsten Song noch einmal.";
    no_more_requests_title(): "No more requests tonight", "Heute keine Wünsche mehr";
    no_more_requests_advice():
        "This evening has reached its limit of requests.",
        "Für diesen Abend ist die Höchstzahl an Wünschen erreicht.";
    no_more_requests_of_guests_advice():
        "The last requests of this evening are for members who have verified their address or phone, or have paid before.",
        "Die letzten Wünsche dieses Abends sind für Mitglieder, die Adresse oder Telefonnummer bestätigt oder schon einmal bezahlt haben.";
    too_many_open_title(): "Your requests come first", "Erst sind deine Wünsche dran";
    too_many_open_advice(most: u32):
        if most == 1 { "A guest has one open request at a time. Wait for your song, or cancel it.".to_owned() }
        else { format!("A guest has at most {most} open requests at a time. Wait for one of your songs, or cancel one.") },
        if most == 1 { "Ein Gast hat höchstens einen offenen Wunsch. Warte auf deinen Song, oder zieh ihn zurück.".to_owned() }
        else { format!("Ein Gast hat höchstens {most} offene Wünsche. Warte auf einen deiner Songs, oder zieh einen zurück.") };
    blocked_title(): "This DJ takes no requests from you", "Dieser DJ nimmt keine Wünsche von dir an";
    blocked_advice(): "Money for your open requests comes back to your wallet.", "Das Geld deiner offenen Wünsche kommt in dein Guthaben zurück.";
    members_only_title(): "For guests with an account", "Für Gäste mit Konto";
    members_only_advice(): "Tonight the DJ takes requests from accounts with an e-mail address.", "Heute nimmt der DJ Wünsche von Konten mit E-Mail-Adresse an.";
    own_gig_title(): "This is your own page", "Das ist deine eigene Seite";
    own_gig_advice(): "Your guests request songs here. You find their requests in the booth.", "Hier wünschen sich deine Gäste Songs. Die Wünsche findest du am Pult.";
    to_the_booth(): "To the booth", "Zum Pult";
    create_account(): "Create an account", "Konto anlegen";
    you_typed(): "Your song was not sent:", "Dein Song wurde nicht gesendet:";
    look_again(): "Look again", "Noch einmal nachsehen";
    unknown_code_title(): "No DJ has this code", "Diesen Code gibt es nicht";
    unknown_code_advice(): "Compare it with the code on the poster. It has six letters and digits.", "Vergleiche ihn mit dem Code auf dem Plakat. Er hat sechs Buchstaben und Ziffern.";
}

/// The numbers of songs that come first, each with its reason, under a title. The first number names the songs.
fn before(title: &str, reasons: &[(u32, &str, &str)], [song, songs]: [&str; 2]) -> String {
    let given: Vec<_> = reasons.iter().filter(|(number, ..)| *number > 0).collect();
    let words = given.iter().enumerate().map(|(place, (number, many, one))| {
        let reason = if *number == 1 { one } else { many };
        match (place, number) {
            (0, 1) => format!("1 {song} {reason}"),
            (0, number) => format!("{number} {songs} {reason}"),
            (_, number) => format!("{number} {reason}"),
        }
    });
    format!("{title}: {}.", words.collect::<Vec<_>>().join(", "))
}

/// The English ordinal number, such as "2nd".
fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_places_are_ordinal_numbers() {
        let ordinals = [1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 101, 111, 112].map(ordinal);
        let expected = [
            "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "23rd", "101st", "111th",
            "112th",
        ];
        assert_eq!(ordinals, expected);
    }
}
