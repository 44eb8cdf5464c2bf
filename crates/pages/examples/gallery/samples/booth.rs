//! Pages of the subject `booth`.

use cuepoint_domain::application::queries::{QueueTotals, QueuedRequest, ShownGig, ShownQueue};
use cuepoint_domain::gig::GigStatus;
use cuepoint_domain::gig::queue::{Place, PlaceReason};
use cuepoint_domain::ids::{GigId, RequestId, UserId};
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::music_request::{MusicRequest, RequestState};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::text::{MusicUrl, ShortMessage};
use cuepoint_domain::user::{ArtistType, Block, DjProfile};
use cuepoint_pages::booth::{BlocksPage, BoothPage, GigForm, OpenPage, QueuePart};
use cuepoint_pages::forms::{FieldState, Keys};
use cuepoint_pages::frame::{Frame, Viewer};
use cuepoint_pages::language::Language;
use time::Duration;

use super::{Sample, boards, hostile, now, people, site};

const KEYS: Keys<'static> = Keys::new("q7Zr1mX0c3Vb5Nk8Ls2Dt4");

/// A request that was made some minutes ago.
pub fn request(number: i64, song: (&str, &str), minutes: i64, state: RequestState) -> MusicRequest {
    MusicRequest {
        id: RequestId::new(number).expect("an id"),
        requester: UserId::new(100 + number.rem_euclid(6)).expect("an id"),
        dj: people::dj().id,
        song_title: boards::line(song.0),
        artist_name: boards::line(song.1),
        artist_type: ArtistType::Popular,
        music_url: MusicUrl::new("https://example.com/song").expect("a URL"),
        fee: Money::from_minor(
            [1_250, 2_500, 1_900][usize::try_from(number.rem_euclid(3)).expect("a number")],
        ),
        gig: Some(boards::gig().id),
        counts_as_guest: number > 4,
        state,
        created_at: now().minus(Duration::minutes(minutes)),
    }
}

/// A queue with the first so many songs, of which the first are accepted.
pub fn queue(songs: usize, accepted: usize, status: GigStatus) -> ShownQueue {
    let names = ["Tom", "Yara", "Mila with the red hat", "Ben", "Aylin", "Jo"];
    let waiting: Vec<QueuedRequest> = (1..)
        .zip(boards::SONGS.iter().cycle().take(songs))
        .map(|(number, song)| {
            let position = u32::try_from(number).expect("a position");
            let is_accepted = usize::try_from(number).expect("a number") <= accepted;
            let state = match is_accepted {
                true => RequestState::Accepted { at: now(), play_by: now().plus(Duration::minutes(140)) },
                false => RequestState::Pending { answer_by: now().plus(Duration::minutes(31 - 4 * number)) },
            };
            let request = request(number, *song, 2 + number * 3, state);
            let place = Place {
                request: request.id,
                position,
                round: Some(1 + position / 4),
                wait_minutes: position * 4,
                reason: PlaceReason::default(),
            };
            QueuedRequest {
                is_at_risk: number == 6,
                guest_name: (number != 5)
                    .then(|| boards::line(names[usize::try_from(number).expect("a number") % 6])),
                message: (number % 3 == 1)
                    .then(|| ShortMessage::new("For Lena, who turns 30 today!").expect("a message")),
                song: if number == 6 { 4 } else { usize::try_from(number).expect("a number") },
                same_song: match number {
                    4 => vec![RequestId::new(6).expect("an id")],
                    6 => vec![RequestId::new(4).expect("an id")],
                    _ => Vec::new(),
                },
                last_played: (number == 2).then(|| now().minus(Duration::minutes(3))),
                request,
                place,
            }
        })
        .collect();
    let fees = waiting.iter().map(|queued| queued.request.fee.minor()).sum();
    let played =
        RequestState::Played { at: now().minus(Duration::minutes(3)), commission: Money::from_minor(125) };
    ShownQueue {
        gig: ShownGig { gig: boards::gig(), status },
        totals: QueueTotals {
            open: u64::try_from(songs).expect("a number"),
            played: 17,
            guests: 21,
            earned: Money::from_minor(21_200),
            held: Money::from_minor(fees),
            tips: Money::from_minor(1_500),
        },
        waiting,
        last_played: vec![request(90, ("One More Time", "Daft Punk"), 40, played)],
    }
}

pub fn pages(language: Language) -> Vec<Sample> {
    let site = site();
    let dj = people::dj();
    let frame = Frame { viewer: Some(Viewer::of(&dj)), ..Frame::new(&site, language, now()) };
    let profile = dj.dj.clone().expect("a profile");
    let usual_price = Amount::new(Money::from_minor(500)).expect("an amount");
    let settings = GigForm::of(Some(&boards::gig().details), &profile, usual_price, &frame);
    let mut hostile_queue = queue(4, 2, GigStatus::Open);
    for queued in &mut hostile_queue.waiting {
        let text = hostile(255);
        (queued.request.song_title, queued.request.artist_name) = (boards::line(&text), boards::line(&text));
        queued.guest_name = Some(boards::line(&text));
        queued.message = Some(ShortMessage::new(&hostile(140)).expect("a message"));
    }
    let queues = [
        ("open", queue(8, 3, GigStatus::Open)),
        ("paused", queue(2, 2, GigStatus::Paused)),
        (
            "empty",
            ShownQueue {
                last_played: Vec::new(),
                totals: QueueTotals::default(),
                ..queue(0, 0, GigStatus::Open)
            },
        ),
        ("hostile", hostile_queue),
    ];
    let mut pages: Vec<Sample> = queues
        .iter()
        .map(|(name, queue)| {
            let part = QueuePart { frame: &frame, queue, keys: KEYS };
            let page = BoothPage { frame: &frame, part: &part, form: &settings };
            Sample::new(format!("booth-{name}"), page.render())
        })
        .collect();
    let first = GigForm::of(None, &DjProfile::default(), usual_price, &frame);
    let wrong = GigForm {
        title: FieldState::refused("", "Please enter a title.".into()),
        latitude: FieldState::refused("91", "Latitudes go from -90 to 90.".into()),
        ..first.clone()
    };
    for (name, form, has_past_gigs) in
        [("first", first, false), ("again", settings.clone(), true), ("wrong", wrong, false)]
    {
        let last = GigId::new(2).expect("an id");
        let page =
            OpenPage { frame: &frame, form: &form, keys: KEYS, last_gig: has_past_gigs.then_some(last) };
        pages.push(Sample::new(format!("booth-open-{name}"), page.render()));
    }
    let block = |(guest, name): (i64, &str)| Block {
        guest: UserId::new(guest).expect("an id"),
        name: boards::line(name),
        at: now().minus(Duration::minutes(guest * guest)),
    };
    let some = Rows { rows: [(4, "Tom"), (40, &hostile(255))].map(block).into(), total: 4 };
    for (name, blocks) in [("some", some), ("none", Rows::none(0))] {
        let page = BlocksPage { frame: &frame, blocks: &blocks, page: PageRequest::new(1, 2) };
        pages.push(Sample::new(format!("booth-blocks-{name}"), page.render()));
    }
    pages
}
