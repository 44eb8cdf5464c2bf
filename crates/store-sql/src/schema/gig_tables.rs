//! Gigs with their tips, the codes of DJs, and the dedications of requests.

use cuepoint_domain::gig::QueueOrder;
use serde::{Deserialize, Serialize};

use super::text;
use crate::sql_types::{BigInt, Bool, Double, MoneySum, Nullable, SmallInt, Text, UtcTime};
use crate::table::{own, own_and, table};

table! {
    /// A gig.
    gigs(id): StoredGig {
        id [Key]: BigInt,
        dj_id: BigInt,
        code: Text,
        title [Moves]: Text,
        venue [Moves]: Nullable<Text>,
        city [Moves]: Nullable<Text>,
        latitude [Moves]: Nullable<Double>,
        longitude [Moves]: Nullable<Double>,
        message [Moves]: Nullable<Text>,
        queue_order [Moves]: Named<QueueOrder>,
        max_open_per_guest [Moves]: SmallInt,
        members_only [Moves]: Bool,
        opened_at: UtcTime,
        ended_at [Moves]: Nullable<UtcTime>,
        settled [Moves]: Bool omitted "whether the service has closed all requests",
        asks_kind [Moves]: Bool,
    }
    counter Reserved gig_ids;
    mentions own("dj_id = {id}");
}

table! {
    /// The assignment of a code to a DJ.
    gig_codes(code): StoredCode {
        code: Text,
        dj_id: BigInt,
        created_at: UtcTime omitted "the first gig with the code has the time",
    }
    mentions own("dj_id = {id}");
}

table! {
    /// The dedication of a music request.
    request_messages(request_id): StoredDedication {
        request_id: BigInt,
        message: Text,
        created_at: UtcTime omitted "the time of the request",
    }
    mentions own_and(
        "request_id IN (SELECT id FROM music_requests WHERE requester_id = {id})",
        &[(
            "request_id IN (SELECT id FROM music_requests WHERE dj_id = {id})",
            "the text of another user",
        )],
    );
}

table! {
    /// A tip.
    #[derive(Serialize, Deserialize)]
    tips(id): StoredTip {
        id [Key]: BigInt,
        guest_id: BigInt,
        dj_id: BigInt,
        gig_id: BigInt,
        amount: MoneySum,
        commission: MoneySum,
        #[serde(with = "text::micros")]
        created_at: UtcTime,
    }
    counter Reserved tip_ids;
    mentions own("{id} IN (guest_id, dj_id)");
}

/// The record of a gig inside a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredGigRecord {
    pub id: i64,
    pub dj_id: i64,
    pub code: String,
    pub status: String,
}
