//! Texts of the subject `display`.

use super::texts;

texts! {
    /// Texts of the subject `display`.
    DisplayTexts;
    display_title(): "Display", "Anzeige";
    code_to_scan(): "QR code of the page where guests request a song", "QR-Code der Seite, auf der Gäste Songs wünschen";
    request_your_song(): "Request your song", "Wünsch dir deinen Song";
    code_in_letters(): "Code", "Code";
    last_played_song(): "Last played", "Zuletzt gespielt";
    next_songs(): "Up next", "Als Nächstes";
    nothing_next(): "Your song could be next.", "Dein Song könnte der nächste sein.";
    expected_wait(): "Wait", "Wartezeit";
    about_minutes(minutes: u32): format!("about {minutes} min"), format!("etwa {minutes} min");
    one_song(): "One song", "Ein Song";
    display_paused(): "Requests are paused", "Wünsche sind pausiert";
    display_paused_advice(): "Keep your song in mind. Requests open again soon.", "Merk dir deinen Song. Es geht bald weiter.";
    display_ended(): "The evening is over", "Der Abend ist vorbei";
    display_ended_advice(): "Thank you for your songs.", "Danke für eure Songs.";
    display_reconnecting(): "Reconnecting", "Verbindung wird wiederhergestellt";
    poster_title(): "Poster", "Aushang";
    poster_line(): "Request a song", "Wünsch dir einen Song";
    poster_scan(): "Scan the code with your phone.", "Scanne den Code mit deinem Handy.";
    poster_or(): "Or open", "Oder öffne";
    poster_sizes(): "Sizes of the poster", "Größen des Aushangs";
    poster_screen(): "Screen", "Bildschirm";
    print_poster(): "Print", "Drucken";
    back_to_booth(): "Back to the booth", "Zurück zum Pult";
}
