//! Texts of the subject `report`.

use super::texts;

texts! {
    /// Texts of the subject `report`.
    ReportTexts;
    past_gigs(): "Past evenings", "Vergangene Abende";
    no_past_gigs(): "You had no evening yet.", "Du hattest noch keinen Abend.";
    earned_by_evening(): "Earned by evening, oldest first", "Verdient je Abend, älteste zuerst";
    column_evening(): "Evening", "Abend";
    column_date(): "Opened", "Eröffnet";
    column_requests(): "Requests", "Wünsche";
    column_played(): "Played", "Gespielt";
    column_guests(): "Guests", "Gäste";
    column_earned(): "Earned", "Verdient";
    column_tips(): "Tips", "Trinkgeld";
    column_stars(): "Stars", "Sterne";
    column_song(): "Song", "Song";
    column_artist(): "Artist", "Interpret";
    column_from(): "From", "Ab";
    report_opened(): "Opened", "Eröffnet";
    report_ended(): "ended", "beendet";
    report_still_open(): "still open", "noch offen";
    report_money(): "Money", "Geld";
    gross(): "Fees of played songs", "Preise gespielter Songs";
    commission(): "Commission", "Provision";
    net_earned(): "Earned", "Verdient";
    refunded_fees(): "Refunded", "Erstattet";
    tips_before_commission(): "Tips, before the commission", "Trinkgeld, vor der Provision";
    guests_with_requests(): "Guests", "Gäste";
    mean_wait(): "Mean wait", "Mittlere Wartezeit";
    mean_rating(count: &i64): format!("Stars ({count})"), format!("Sterne ({count})");
    whole_minutes(minutes: i64): format!("{minutes} min"), format!("{minutes} min");
    requests_by_status(): "Requests by status", "Wünsche nach Status";
    requests_by_quarter(): "Requests by quarter of an hour", "Wünsche je Viertelstunde";
    earned_by_quarter(): "Earned by quarter of an hour", "Verdient je Viertelstunde";
    scale_to(value: &str): format!("at most {value}"), format!("höchstens {value}");
    quarters_as_table(): "By quarter of an hour, as a table", "Nach Viertelstunden, als Tabelle";
    top_songs(): "Most requested songs", "Meistgewünschte Songs";
    download_csv(): "Download the requests as CSV", "Wünsche als CSV herunterladen";
    csv_note(): "Without the names of guests.", "Ohne die Namen der Gäste.";
    status_played(): "Played", "Gespielt";
    status_refunded(): "Refunded", "Erstattet";
    status_accepted(): "Accepted", "Angenommen";
    status_pending(): "New", "Neu";
    status_rejected(): "Rejected", "Abgelehnt";
    status_expired(): "Expired", "Abgelaufen";
    status_cancelled(): "Cancelled", "Zurückgezogen";
}
