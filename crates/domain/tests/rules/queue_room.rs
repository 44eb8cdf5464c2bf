//! The limits of the requests in a gig, and the request that gives way when its queue is full.

use cuepoint_domain::gig::{AssignedCode, DjCode};
use cuepoint_domain::ids::{GigId, OperationId, RequestId};
use cuepoint_domain::music_request::{
    Addressee, Agreement, GigRequestTerms, MusicRequest, NewRequest, QueueLimits, QueueRefusal, QueueSize,
    RequestState, RequestTerms,
};
use cuepoint_domain::operation::{Actor, Changes, Entity, Plan, PlanKind, Rejection, Verdict, apply, plans};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{ArtistType, Standing};

use crate::support::{DJ, GUEST, Ledger, OPERATOR, at, line, money, new_gig, request, terms, user};

const LIMITS: QueueLimits = QueueLimits { most_open: 300, most_made: 20_000 };

#[test]
fn guests_get_two_thirds_of_a_queue_and_none_of_the_last_tenth_of_its_requests() {
    let full_for_guests = Some(QueueRefusal::FullForGuests(200));
    let made_for_guests = Some(QueueRefusal::TooManyMadeForGuests(18_000));
    let (full, all_made) = (Some(QueueRefusal::Full(300)), Some(QueueRefusal::TooManyMade(20_000)));
    // The numbers of open requests, of open requests of guests, and of all requests; then the refusals for a member and for
    // a guest.
    for (open, open_of_guests, made, member, guest) in [
        (0, 0, 0, None, None),
        (299, 199, 17_999, None, None),
        (299, 200, 17_999, None, full_for_guests),
        (300, 0, 17_999, full, full),
        (300, 200, 17_999, full, full),
        (299, 199, 18_000, None, made_for_guests),
        (300, 200, 18_000, full, made_for_guests),
        (299, 200, 19_999, None, made_for_guests),
        (0, 0, 20_000, all_made, all_made),
        (300, 200, 20_001, all_made, all_made),
    ] {
        let size = QueueSize { open, open_of_guests, made };
        assert_eq!((LIMITS.refusal(size, false), LIMITS.refusal(size, true)), (member, guest), "{size:?}");
    }
    let smallest = QueueLimits { most_open: 1, most_made: 1 };
    assert_eq!((smallest.most_open_of_guests(), smallest.most_made_for_guests()), (1, 1));
}

/// A request with this number in a gig, made at this second.
fn made(number: i64, counts_as_guest: bool, seconds: i64, state: RequestState, fee: i128) -> MusicRequest {
    MusicRequest {
        id: RequestId::new(number).unwrap(),
        gig: GigId::new(1),
        counts_as_guest,
        state,
        created_at: at(seconds),
        ..request(fee)
    }
}

fn pending() -> RequestState {
    RequestState::Pending { answer_by: at(100) }
}

#[test]
fn free_pending_requests_of_guests_give_way_first_the_newest_before_older_ones() {
    let accepted = RequestState::Accepted { at: at(5), play_by: at(100) };
    let requests = [
        made(1, true, 3, pending(), 0),
        made(2, false, 9, pending(), 0),
        made(3, true, 4, pending(), 0),
        made(4, true, 4, pending(), 0),
        made(5, false, 2, pending(), 0),
        made(6, true, 8, pending(), 1),
        made(7, true, 8, accepted, 0),
        made(8, true, 8, RequestState::Pending { answer_by: at(50) }, 0),
        MusicRequest { gig: None, ..made(9, true, 8, pending(), 0) },
    ];
    let displaceable = MusicRequest::displaceable(requests, at(50));
    assert_eq!(displaceable.iter().map(|request| request.id.get()).collect::<Vec<_>>(), [4, 3, 1, 2, 5]);
    let many = (1..=100).map(|number| made(number, false, number, pending(), 0));
    let displaceable = MusicRequest::displaceable(many, at(50));
    assert_eq!(displaceable.len(), MusicRequest::MOST_DISPLACEABLE);
    assert_eq!(displaceable[0].id.get(), 100);
}

/// A ledger with the open gig 1 of the DJ, and free pending requests of the operator's account in it.
fn queue(waiting: &[MusicRequest], available: i128) -> Ledger {
    let mut ledger = Ledger::new(0, available);
    let code = AssignedCode { code: DjCode::new("K7TW3M").unwrap(), dj: user(DJ), at: at(0) };
    let new = new_gig();
    let plan = plans::open_gig(ledger.metadata(at(1)), GigId::new(1).unwrap(), code, true, new).unwrap();
    ledger.apply(&plan).unwrap();
    waiting.iter().for_each(|request| ledger.book.put(request.clone()));
    let of_guests = waiting.iter().filter(|request| request.counts_as_guest).count();
    let [open, open_of_guests] = [waiting.len(), of_guests].map(|count| u64::try_from(count).unwrap());
    let size = QueueSize { open, open_of_guests, made: open };
    ledger.book.put_queue_size(GigId::new(1).unwrap(), size);
    ledger
}

fn waiting(number: i64, counts_as_guest: bool) -> MusicRequest {
    MusicRequest { requester: user(OPERATOR), ..made(number, counts_as_guest, 5, pending(), 0) }
}

/// A queue of three places, of which guests have two.
fn of_three() -> RequestTerms {
    RequestTerms { most_open_per_gig: 3, ..terms(0) }
}

/// The plan of request 50 with this fee, which displaces a waiting request if necessary.
fn offered(ledger: &mut Ledger, standing: Standing, fee: i128, now: Timestamp) -> Plan {
    let example = request(0);
    let new = NewRequest {
        dj: user(DJ),
        song_title: line("Regret"),
        artist_name: example.artist_name,
        artist_type: ArtistType::Popular,
        music_url: Some(example.music_url),
        fee: Some(Agreement::Exactly(money(fee))),
        message: None,
    };
    let dj = ledger.book.get(user(DJ)).cloned();
    let gig = GigRequestTerms { id: GigId::new(1).unwrap(), most_open_per_guest: 9, members_only: false };
    let to = Addressee { gig: Some(gig), guest: standing, ..Addressee::of(dj.as_ref()) };
    let (metadata, id) = (ledger.metadata(now), RequestId::new(50).unwrap());
    let plan = plans::open_request(metadata, id, user(GUEST), to, new, &of_three()).unwrap();
    let open: Vec<MusicRequest> = ledger.book.all::<MusicRequest>().cloned().collect();
    plans::displacing(plan, OperationId(999), open)
}

fn changes(ledger: &mut Ledger, plan: &Plan) -> Result<Changes, Rejection> {
    match apply(&mut ledger.book, plan)? {
        Verdict::Fresh(_, changes) => Ok(*changes),
        Verdict::Replayed(receipt) => panic!("replayed: {receipt:?}"),
    }
}

#[test]
fn a_paid_request_displaces_one_free_request_only_if_the_queue_is_full_for_it() {
    let (full, for_guests) = (QueueRefusal::Full(3), QueueRefusal::FullForGuests(2));
    let (member, guest) = (Standing::Proven, Standing::Unproven);
    let of = |number, is_guest| waiting(number, is_guest);
    for (waiting, standing, fee, expected) in [
        (vec![of(1, true), of(2, false)], member, 500, Ok(None)),
        (vec![of(1, true), of(2, false), of(3, false)], member, 500, Ok(Some(1))),
        (vec![of(1, false), of(2, false), of(3, false)], member, 500, Ok(Some(3))),
        (vec![of(1, true), of(2, true)], guest, 500, Ok(Some(2))),
        (vec![of(1, true), of(2, true)], member, 500, Ok(None)),
        (vec![of(1, true), of(2, false), of(3, false)], guest, 500, Ok(Some(1))),
        (vec![of(1, false), of(2, false), of(3, false)], guest, 500, Ok(Some(3))),
        (vec![of(1, true), of(2, true)], guest, 0, Err(for_guests)),
        (vec![of(1, true), of(2, true), of(3, false)], member, 0, Err(full)),
    ] {
        let case = format!("{waiting:?} {standing:?} {fee}");
        let mut ledger = queue(&waiting, 500);
        let before = ledger.book.queue_size(GigId::new(1).unwrap());
        let plan = offered(&mut ledger, standing, fee, at(20));
        let displaced = changes(&mut ledger, &plan)
            .map(|changes| changes.displaced_request().map(|request| request.id.get()));
        assert_eq!(displaced, expected.map_err(Rejection::NoRoom), "{case}");
        let after = ledger.book.queue_size(GigId::new(1).unwrap());
        let grows = u64::from(expected == Ok(None));
        assert_eq!(after.open, before.open + grows, "{case}");
        assert_eq!(after.made, before.made + u64::from(expected.is_ok()), "{case}");
    }
}

#[test]
fn a_displacement_is_an_operation_of_the_service_and_its_request_says_so() {
    let mut ledger = queue(&[waiting(1, true), waiting(2, true), waiting(3, false)], 500);
    let plan = offered(&mut ledger, Standing::Proven, 500, at(20));
    let changes = changes(&mut ledger, &plan).unwrap();
    let [rejection, opening] = changes.operations().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!((rejection.id, rejection.kind), (OperationId(999), PlanKind::MoveRequest));
    assert_eq!((rejection.actor, opening.kind), (Actor::System, PlanKind::OpenRequest));
    assert_eq!(rejection.reason.as_ref().map(|reason| reason.as_str()), Some("displaced"));
    let displaced = ledger.book.get(RequestId::new(2).unwrap()).unwrap();
    assert_eq!(displaced.state, RequestState::Rejected { at: at(20), displaced: true });
    assert!(displaced.was_displaced());
    assert_eq!(rejection.receipt.outcome.entity, Entity::MusicRequest(displaced.clone()));
    assert_eq!(changes.entries.len(), 1, "only the fee of the new request moves");
}

#[test]
fn a_request_without_funds_displaces_no_other() {
    let mut ledger = queue(&[waiting(1, true), waiting(2, true), waiting(3, false)], 499);
    let before = ledger.book.clone();
    let plan = offered(&mut ledger, Standing::Proven, 500, at(20));
    let refused = changes(&mut ledger, &plan).map(drop);
    assert_eq!(refused, Err(Rejection::InsufficientFunds { available: money(499) }));
    assert_eq!(ledger.book, before);
}

#[test]
fn a_plan_displaces_the_next_request_if_the_first_has_moved_and_is_stale_if_all_have() {
    let accepted = |ledger: &mut Ledger, number| {
        let request = waiting(number, false);
        let state = RequestState::Accepted { at: at(15), play_by: at(900) };
        ledger.book.put(MusicRequest { state, ..request });
    };
    let mut ledger = queue(&[waiting(1, false), waiting(2, false), waiting(3, false)], 500);
    let plan = offered(&mut ledger, Standing::Proven, 500, at(20));
    let mut later = ledger.clone();
    accepted(&mut ledger, 3);
    let displaced = changes(&mut ledger, &plan).unwrap();
    assert_eq!(displaced.displaced_request().map(|request| request.id.get()), Some(2));
    (1..4).for_each(|number| accepted(&mut later, number));
    assert_eq!(changes(&mut later, &plan).map(drop), Err(Rejection::Stale));
}
