//! Rows as lines of COPY's text format.

use std::fmt::Write;

use bigdecimal::BigDecimal;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::rows::{
    EntryRow, KeyRow, MusicRequestRow, NewEventRow, NewPostingRow, NewUserRow, OperationRow, ReceiptText,
    TopupRow, UserRow, WalletRow, WithdrawalRow,
};

/// A row that COPY can write.
pub(super) trait Copied {
    /// Where to.
    const TABLE: &'static str;
    /// What a line holds, in its order.
    const COLUMNS: &'static [&'static str];

    /// Adds the row's line.
    fn line(&self, to: &mut String);
}

/// Says which columns of which table a row fills; the rest, such as an identity, is filled by the table.
macro_rules! copied {
    ($($row:ty => $table:ident ($($column:ident $(in $part:ident)?),+ $(,)?);)+) => {$(
        impl Copied for $row {
            const TABLE: &'static str = stringify!($table);
            const COLUMNS: &'static [&'static str] = &[$(stringify!($column)),+];

            fn line(&self, to: &mut String) {
                $(
                    self.$($part.)?$column.field(to);
                    to.push('\t');
                )+
                to.pop();
                to.push('\n');
            }
        }
    )+};
}

copied! {
    NewUserRow => users (
        id in user, name in user, email in user, email_verified in user, phone in user, phone_verified in user,
        role in user, is_dj in user, online in user, fee_upcoming_artist in user, fee_popular_song in user,
        played in user, rating_stars in user, rating_count in user, city in user, state in user, country in user,
        latitude in user, longitude in user, radius in user, created_at in user, suspended_at in user,
        standing_at in user, erased_at in user, email_folded, password_hash,
    );
    UserRow => users (
        id, name, email, email_verified, phone, phone_verified, role, is_dj, online, fee_upcoming_artist,
        fee_popular_song, played, rating_stars, rating_count, city, state, country, latitude, longitude, radius,
        created_at, suspended_at, standing_at, erased_at,
    );
    WalletRow => wallets (user_id, available, held, owed, seq, last_at, head);
    MusicRequestRow => music_requests (
        id, requester_id, dj_id, song_title, artist_name, artist_type, music_url, fee, status, expires_at,
        changed_at, commission, created_at,
    );
    WithdrawalRow => withdrawals (
        id, user_id, amount, wallet_address, currency, network, status, txid, created_at, updated_at, attempts,
        retry_at, reference, approved_by, approved_at, second_approved_by, second_approved_at,
    );
    TopupRow => topups (
        id, user_id, amount, status, payment_url, created_at, updated_at, reference, attempts, order_at,
        suspense_operation in suspense, suspense_at in suspense, settled_operation in suspense,
        settled_at in suspense, settled_by in suspense, settled_reason in suspense,
    );
    OperationRow => operations (id, kind, actor_user_id, reason, at, receipt, posting_rules);
    KeyRow => idempotency_keys (scope, fingerprint, operation_id, at);
    EntryRow => ledger_entries (
        wallet_id, seq, operation_id, kind, reference_kind, reference_id, available_change, held_change, owed_change,
        available_after, held_after, owed_after, at, previous, hash,
    );
    NewPostingRow => postings (operation_id, account, amount, at);
    NewEventRow => security_events (kind, user_id, actor_id, session_id, address, agent, detail, at);
}

/// A value in a line.
trait Field {
    /// Adds it as the text format writes it.
    fn field(&self, to: &mut String);
}

/// Writing into a string does not fail.
macro_rules! printed {
    ($($type:ty),+) => {$(
        impl Field for $type {
            fn field(&self, to: &mut String) {
                let _ = write!(to, "{self}");
            }
        }
    )+};
}

printed!(i16, i32, i64, f64, bool, Uuid);

impl Field for String {
    fn field(&self, to: &mut String) {
        escape(self, to);
    }
}

impl Field for BigDecimal {
    fn field(&self, to: &mut String) {
        to.push_str(&self.to_plain_string());
    }
}

impl Field for OffsetDateTime {
    fn field(&self, to: &mut String) {
        let (year, month, day) = self.to_calendar_date();
        let (hour, minute, second, micros) = self.to_hms_micro();
        let month = u8::from(month);
        let _ = write!(to, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}+00");
    }
}

impl Field for Vec<u8> {
    fn field(&self, to: &mut String) {
        // The backslash that begins hexadecimal digits is itself escaped.
        to.push_str(r"\\x");
        for byte in self {
            let _ = write!(to, "{byte:02x}");
        }
    }
}

impl Field for ReceiptText {
    fn field(&self, to: &mut String) {
        escape(self.as_str(), to);
    }
}

impl<T: Field> Field for Option<T> {
    fn field(&self, to: &mut String) {
        match self {
            Some(value) => value.field(to),
            None => to.push_str(r"\N"),
        }
    }
}

/// Adds a text, with a backslash before what ends a column or a line.
fn escape(text: &str, to: &mut String) {
    for character in text.chars() {
        match character {
            '\\' => to.push_str(r"\\"),
            '\t' => to.push_str(r"\t"),
            '\n' => to.push_str(r"\n"),
            '\r' => to.push_str(r"\r"),
            other => to.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_column_is_escaped() {
        let mut line = String::new();
        for text in ["a\tb", "c\\d\n", "é"] {
            text.to_owned().field(&mut line);
        }
        assert_eq!(line, r"a\tbc\\d\né");
    }

    #[test]
    fn a_moment_keeps_its_microseconds() {
        let mut line = String::new();
        (OffsetDateTime::UNIX_EPOCH + time::Duration::microseconds(1)).field(&mut line);
        Some(vec![0_u8, 255]).field(&mut line);
        None::<i64>.field(&mut line);
        assert_eq!(line, r"1970-01-01 00:00:00.000001+00\\x00ff\N");
    }
}
