//! The page of a payment, and the payment page of the sandbox.

use cuepoint_domain::ids::OperationId;
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::text::PaymentUrl;
use cuepoint_pages::forms::Keys;
use cuepoint_pages::frame::{Frame, Live, Viewer};
use cuepoint_pages::guest::Closed;
use cuepoint_pages::language::Language;
use cuepoint_pages::payment::{
    DraftPurpose, DraftView, PaymentPage, PaymentPart, PaymentState, SandboxPage, StrangerPaymentPage,
    StrangerPaymentPart, StrangerState,
};

use super::{Sample, guest, now, people, site};

fn amount() -> Amount {
    Amount::new(Money::from_minor(1_250)).expect("an amount")
}

pub const REFERENCE: ProviderReference =
    ProviderReference::Operation(OperationId(0x0198_c0de_0000_7000_8000_0000_0000_0001));

pub fn pages(language: Language) -> Vec<Sample> {
    let site = site();
    let url = PaymentUrl::new("https://pay.example.com/session/1").expect("an address");
    let fee = Money::from_minor(1_250);
    let draft = DraftView::Request { song_title: "September", artist_name: "Earth, Wind & Fire", fee };
    let tip = DraftView::Tip { dj: Some("Nightowl"), amount: fee };
    let (late, over) = (DraftPurpose::Request, Closed::Ended);
    let states = [
        ("preparing", PaymentState::Preparing { is_late: false }),
        ("late", PaymentState::Preparing { is_late: true }),
        ("payable", PaymentState::Payable(&url)),
        ("payable-tip", PaymentState::Payable(&url)),
        ("wallet-share", PaymentState::Payable(&url)),
        ("waiting", PaymentState::Waiting(Some(&url))),
        ("draft", PaymentState::ConfirmedWithDraft(draft)),
        ("tip", PaymentState::ConfirmedWithDraft(tip)),
        ("too-late", PaymentState::ConfirmedTooLate { what: late, why: over }),
        ("confirmed", PaymentState::Confirmed { available: Money::from_minor(1_980) }),
        ("failed", PaymentState::Failed),
        ("reversed", PaymentState::Reversed),
        ("unknown", PaymentState::Unknown),
    ];
    let user = people::guest();
    let frame = Frame { viewer: Some(Viewer::of(&user)), ..Frame::new(&site, language, now()) };
    let small = Amount::new(Money::from_minor(730)).expect("an amount");
    let page = |(name, state)| {
        let part = PaymentPart {
            frame: &frame,
            reference: REFERENCE,
            amount: if name == "wallet-share" { small } else { amount() },
            state,
            draft_key: "x8Ta3nZ2e5Xd7Pm9Nu4Fv6-request",
            pays_for: Some(if name == "tip" || name == "payable-tip" { tip } else { draft }),
            gig: Some(guest::code()),
            is_of_kept_guest: false,
            keys: Keys::new("6rY2mQ0xS1uVb8Zp3kLw9A"),
            live: Live { path: "/topups/1/live", stream: None },
        };
        Sample::new(format!("payment-{name}"), PaymentPage { frame: &frame, part }.render())
    };
    let mut pages: Vec<Sample> = states.into_iter().map(page).collect();
    let stranger = Frame::new(&site, language, now());
    for (name, state) in [
        ("arrived", StrangerState::Arrived),
        ("waiting", StrangerState::Waiting),
        ("failed", StrangerState::Failed),
    ] {
        let live = Live { path: "/topups/1/live", stream: None };
        let part = StrangerPaymentPart { frame: &stranger, state, gig: Some(guest::code()), live };
        let page = StrangerPaymentPage { frame: &stranger, part };
        pages.push(Sample::new(format!("payment-stranger-{name}"), page.render()));
    }
    for (name, is_open) in [("open", true), ("over", false)] {
        let page = SandboxPage { frame: &frame, reference: REFERENCE, amount: amount(), is_open };
        pages.push(Sample::new(format!("payment-sandbox-{name}"), page.render()));
    }
    pages
}
