//! The names of enum variants in stores and on the wire, listed in full: renaming a variant must not change
//! them.

use cuepoint_domain::address::{AddressPolicy, Network};
use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::event::{EventType, Feed};
use cuepoint_domain::gig::{GigStatus, QueueOrder};
use cuepoint_domain::ledger::{EntryKind, PostingAccount};
use cuepoint_domain::music_request::RequestStatus;
use cuepoint_domain::operation::PlanKind;
use cuepoint_domain::ports::IdKind;
use cuepoint_domain::privacy::personal_data::{ActedBy, ExportList};
use cuepoint_domain::provider_message::{Contradiction, MessageSource};
use cuepoint_domain::security_log::SecurityEventKind;
use cuepoint_domain::tip::TipDirection;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_domain::user::challenge::Purpose;
use cuepoint_domain::user::personal_token::TokenScope;
use cuepoint_domain::user::{ArtistType, Role};
use cuepoint_domain::webhook::{AttemptError, DisabledReason};
use cuepoint_domain::withdrawal::WithdrawalStatus;

macro_rules! check_names {
    ($($type:ident: $names:literal;)+) => {$(
        let names: Vec<&str> = $type::all().map($type::name).collect();
        assert_eq!(names.join(" "), $names, stringify!($type));
        assert!($type::all().all(|value| $type::named(value.name()) == Some(value)), stringify!($type));
        assert_eq!($type::named("unknown"), None, stringify!($type));
    )+};
}

#[test]
fn stored_and_wire_names_are_stable() {
    check_names! {
        ActedBy: "self operator service";
        AddressPolicy: "lenient strict";
        ArtistType: "upcoming popular";
        AttemptError: "not_permitted connection_failed timed_out invalid_answer";
        Contradiction: "unknown_reference reference_and_id_differ txid_mismatch amount_mismatch \
            partial_reversal status_contradiction";
        DisabledReason: "gone failing security secret_lost";
        EntityKind: "music_request user withdrawal topup provider_message rating gig tip gig_record \
            adjustment wallet";
        EntryKind: "topup hold release capture earning refund reversal adjustment chargeback tip";
        TokenScope: "events:read gigs:read";
        SecurityEventKind: "registered logged_in login_failed session_ended sessions_ended \
            refresh_token_reused password_changed password_change_failed password_reset_requested \
            password_reset email_verified phone_verified email_change_requested email_changed \
            email_restored code_refused data_exported data_erased personal_token_created \
            personal_token_ended wallet_link_used webhook_endpoint_changed access_denied operator_action";
        EventType: "music_request.created music_request.accepted music_request.rejected music_request.played \
            music_request.cancelled music_request.expired music_request.refunded topup.created topup.confirmed \
            topup.failed topup.reversed withdrawal.created withdrawal.approved withdrawal.rejected \
            withdrawal.cancelled withdrawal.processing withdrawal.broadcast withdrawal.completed \
            withdrawal.failed withdrawal.needs_review adjustment.created gig.opened gig.updated gig.ended \
            tip.created";
        Feed: "own all";
        IdKind: "users music_requests withdrawals topups adjustments sessions webhook_endpoints gigs tips";
        GigStatus: "open paused ended";
        MessageSource: "topups payouts";
        Network: "bitcoin litecoin dogecoin ethereum arbitrum optimism base polygon bsc avalanche tron solana \
            xrp stellar ton";
        ExportList: "sessions personal_tokens networks challenges requests_made requests_received ratings gigs tips withdrawals topups wallet_entries \
            operations provider_messages blocks blocked_by security_events webhook_endpoints";
        PlanKind: "none open_request move_request open_withdrawal move_withdrawal approve_withdrawal \
            open_topup order_topup move_topup reverse_topup suspend_topup settle_suspense adjust profile \
            suspend restore role resolve_message rate_request open_gig change_gig end_gig tip";
        PostingAccount: "platform_commission outside_topups outside_payouts outside_adjustments \
            outside_suspense";
        Purpose: "email phone password email_change email_restore email_restore_repeat wallet_link";
        QueueOrder: "rounds arrival";
        RequestStatus: "pending accepted rejected cancelled expired played refunded";
        Role: "guest member operator auditor";
        TipDirection: "given received";
        TopupStatus: "pending confirmed failed reversed";
        WithdrawalStatus: "pending approved processing broadcast completed cancelled rejected failed \
            needs_review";
    }
}

#[test]
fn network_names_ignore_letter_case_but_roles_and_statuses_do_not() {
    assert_eq!(Network::named("TRON"), Some(Network::Tron));
    assert_eq!((Role::named("Operator"), RequestStatus::named("PLAYED")), (None, None));
}

#[test]
fn unknown_stored_names_round_trip() {
    for name in ["frozen", "unknown"] {
        assert_eq!(Role::stored(name).map(Role::name), Some(name));
        assert_eq!(EntryKind::stored(name).map(EntryKind::name), Some(name));
        assert_eq!(PostingAccount::stored(name).map(PostingAccount::name), Some(name));
    }
    assert_eq!(Role::stored("on hold"), None);
}
