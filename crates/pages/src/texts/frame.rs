//! Texts of the frame that all pages share.

use super::texts;

texts! {
    /// Texts of the frame that all pages share.
    FrameTexts;
    skip_to_content(): "Skip to the content", "Zum Inhalt springen";
    start_page(): "Start page", "Startseite";
    navigation(): "Navigation", "Navigation";
    wallet(): "Wallet", "Guthaben";
    account(): "Account", "Konto";
    booth(): "Booth", "Pult";
    log_in(): "Log in", "Anmelden";
    log_out(): "Log out", "Abmelden";
    refresh(): "Refresh", "Aktualisieren";
    about_this_site(): "About this site", "Über diese Seite";
    errors_found(count: usize):
        if count == 1 { "Please check this field:".to_owned() } else { format!("Please check {count} fields:") },
        if count == 1 { "Bitte prüfe dieses Feld:".to_owned() } else { format!("Bitte prüfe {count} Felder:") };
    optional(): "optional", "freiwillig";
    free(): "free", "kostenlos";
    this_minute(): "this minute", "in dieser Minute";
    minutes_ago(minutes: u64): format!("{minutes} min ago"), format!("vor {minutes} min");
    in_minutes(minutes: u64): format!("in {minutes} min"), format!("in {minutes} min");
    month(number: u8):
        match number {
            1 => "Jan", 2 => "Feb", 3 => "Mar", 4 => "Apr", 5 => "May", 6 => "Jun", 7 => "Jul", 8 => "Aug",
            9 => "Sep", 10 => "Oct", 11 => "Nov", _ => "Dec",
        },
        match number {
            1 => "Jan.", 2 => "Feb.", 3 => "März", 4 => "Apr.", 5 => "Mai", 6 => "Juni", 7 => "Juli", 8 => "Aug.",
            9 => "Sept.", 10 => "Okt.", 11 => "Nov.", _ => "Dez.",
        };
    day_of_month(day: u8, month: &str): format!("{day} {month}"), format!("{day}. {month}");
    page_of(page: u64, pages: u64): format!("Page {page} of {pages}"), format!("Seite {page} von {pages}");
    newer(): "Newer", "Neuere";
    older(): "Older", "Ältere";
    outdated(): "This card has changed", "Diese Karte hat sich geändert";
    back(): "Back", "Zurück";
    cancel(): "Cancel", "Abbrechen";
}
