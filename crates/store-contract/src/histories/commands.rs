//! The commands of random histories, and their generators.

mod phrases;

use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;

use crate::histories::model::{LONGEST_SECONDS, TXIDS, Terms};
use phrases::{
    chargebacks, crowd, debt, departure, doubt, evening, four_eyes, full_queue, guest_account, operator,
    order, ratings, silence, unused_account,
};

/// The number of guests, DJs and operators of a history, in this order.
pub(crate) const PEOPLE: usize = 6;
/// The index of the first DJ; the guests precede it.
pub(crate) const FIRST_DJ: usize = 2;
/// The index of the first of the two operators; the DJs precede it.
pub(crate) const OPERATOR: usize = 4;
/// The index of the second operator.
pub(crate) const OTHER_OPERATOR: usize = 5;

/// The departing user: the one to be erased next.
pub(crate) const DEPARTING: usize = usize::MAX;
/// The newest guest account; older ones follow it.
pub(crate) const GUEST_ACCOUNT: usize = 100;
/// The maximum number of guest accounts of a history.
pub(crate) const GUEST_ACCOUNTS: usize = 8;

/// The number of newest entities of a kind that a command picks from.
const NEWEST: usize = 3;

/// Status updates of the payout provider.
const PAYOUT_UPDATES: [&str; 4] = ["accepted", "broadcast", "completed", "refused"];
/// Status updates of the payment provider, with the excess of the paid amount over the top-up's.
const TOPUP_UPDATES: [(&str, i128); 6] =
    [("confirmed", 0), ("confirmed", 1), ("failed", 0), ("reversed", 0), ("reversed", -1), ("reversed", 1)];

/// A command; `pick` counts from the newest entity of its kind, and without one the command does nothing.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    OpenTopup {
        who: usize,
        cents: i128,
        confirmed: bool,
    },
    /// Opens a top-up and orders it at its provider.
    OrderTopup {
        who: usize,
        cents: i128,
    },
    /// Claims due orders of top-ups.
    TakeUpTopups {
        limit: usize,
    },
    /// Delivers the provider's answer to an order: with a page, without one, a refusal, or none at all.
    AnswerOrder {
        pick: usize,
        reply: &'static str,
    },
    SettleTopup {
        pick: usize,
        confirmed: bool,
    },
    ReverseTopup {
        pick: usize,
    },
    /// Delivers a status update about a top-up whose payment exceeds its amount by this many cents.
    ReceiveTopupUpdate {
        pick: usize,
        update: &'static str,
        excess: i128,
    },
    /// Opens a pending top-up of the departing user, who takes part in no other command.
    OpenDepartingTopup {
        cents: i128,
        ordered: bool,
    },
    /// Erases a user if that is allowed; a new user takes the place of the departing one.
    Erase {
        who: usize,
    },
    /// Creates a guest account.
    CreateGuest,
    /// Claims a guest account, with a new address or with the address of this person.
    Claim {
        who: usize,
        taken: Option<usize>,
    },
    /// Deletes a user if they are an unused guest account.
    DeleteUnused {
        who: usize,
    },
    SettleSuspense {
        pick: usize,
    },
    /// Adjusts a balance by this many cents, or to zero.
    Adjust {
        who: usize,
        cents: Option<i128>,
        by: usize,
    },
    ChangeDj {
        who: usize,
        online: Option<bool>,
        upcoming: Option<i128>,
        popular: Option<i128>,
    },
    /// Suspends or restores a user.
    ChangeSuspension {
        who: usize,
        suspend: bool,
    },
    /// Makes a user an operator or a member.
    ChangeRole {
        who: usize,
        operator: bool,
    },
    OpenRequest {
        guest: usize,
        dj: usize,
        popular: bool,
        offer: Option<i128>,
    },
    MoveRequest {
        pick: usize,
        to: &'static str,
    },
    /// Opens a gig with this limit of open requests of one guest.
    OpenGig {
        dj: usize,
        most: u8,
        popular: Option<i128>,
    },
    /// Changes the limit of a gig, and pauses or continues it.
    ChangeGig {
        pick: usize,
        most: u8,
        accepting: Option<bool>,
    },
    EndGig {
        pick: usize,
    },
    /// Ends the gigs that are due, and rejects the open requests of ended ones.
    ReleaseGigs,
    /// Tips the DJ of a gig.
    Tip {
        who: usize,
        pick: usize,
        cents: i128,
    },
    /// Rates a request, as its guest.
    Rate {
        pick: usize,
        stars: u8,
    },
    Sweep {
        who: usize,
        limit: u32,
    },
    /// Withdraws this many cents, or the whole balance.
    OpenWithdrawal {
        who: usize,
        cents: Option<i128>,
    },
    MoveWithdrawal {
        pick: usize,
        to: &'static str,
        by: usize,
        txid: bool,
    },
    /// Moves a request along one of the edges from its visible status.
    FollowRequest {
        pick: usize,
        edge: usize,
    },
    /// Moves a withdrawal onward, along an edge other than a rejection.
    FollowWithdrawal {
        pick: usize,
        edge: usize,
        by: usize,
        txid: bool,
    },
    /// Sends a withdrawal to the payout provider, as the worker does.
    Send {
        pick: usize,
    },
    /// Delivers a status update of the payout provider, with this transaction if the update names one.
    ReceivePayoutUpdate {
        pick: usize,
        update: &'static str,
        txid: &'static str,
    },
    /// Submits an earlier plan again.
    Retry {
        pick: usize,
    },
    /// Sends another command with the key of an earlier one.
    ReuseKey {
        pick: usize,
        same_body: bool,
    },
    /// Advances the clock by seconds.
    Pass {
        seconds: i64,
    },
    Tidy,
    /// Reopens the store.
    Reopen,
    /// Drops the next command before its answer and sends it again; in between the store may be reopened, so
    /// that two instances process the command concurrently.
    LoseAnswer {
        reopen: bool,
    },
}

impl Command {
    /// The person whom a command may name as a guest account or as the departing user.
    pub(crate) const fn person(&mut self) -> Option<&mut usize> {
        match self {
            Self::OpenTopup { who, .. }
            | Self::OrderTopup { who, .. }
            | Self::Erase { who }
            | Self::Claim { who, .. }
            | Self::DeleteUnused { who }
            | Self::Adjust { who, .. }
            | Self::ChangeDj { who, .. }
            | Self::ChangeSuspension { who, .. }
            | Self::OpenRequest { guest: who, .. }
            | Self::Tip { who, .. }
            | Self::Sweep { who, .. }
            | Self::OpenWithdrawal { who, .. } => Some(who),
            _ => None,
        }
    }
}

/// The terms of a deployment and a sequence of commands, each with or without an idempotency key.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) terms: Terms,
    pub(crate) commands: Vec<(Command, bool)>,
}

/// Generates histories of this many commands.
pub(crate) fn history(steps: usize) -> impl Strategy<Value = History> {
    let single = command().prop_map(|command| vec![command]);
    let phrase = prop_oneof![
        60 => single,
        1 => debt(),
        1 => doubt(),
        2 => order(),
        2 => crowd(),
        1 => silence(),
        1 => four_eyes(),
        1 => chargebacks(),
        1 => departure(),
        1 => ratings(),
        2 => evening(),
        1 => full_queue(),
        2 => guest_account(),
        1 => unused_account(),
    ];
    (terms(), vec((phrase, any::<bool>()), steps)).prop_map(move |(terms, phrases)| {
        let commands =
            phrases.into_iter().flat_map(|(phrase, keyed)| phrase.into_iter().map(move |one| (one, keyed)));
        History { terms, commands: commands.take(steps).collect() }
    })
}

fn terms() -> impl Strategy<Value = Terms> {
    let commission = prop_oneof![select(vec![0, 500, 1_250, 5_000, 5_000, 10_000]), 0..=10_000_i128];
    let most = |likely, cents: std::ops::Range<i128>| option::weighted(likely, cents);
    let auto = select(vec![0, 0, 250]);
    let open = option::weighted(0.3, 1..4_u32);
    let in_gig = select(vec![(300, 20_000), (300, 20_000), (3, 20_000), (2, 6)]);
    let limits = (most(0.3, 300..450), most(0.4, 300..800), most(0.5, 300..900));
    let clearing = option::weighted(0.3, select(vec![60, 3_600, 86_400_i64]));
    let guest_topups = (most(0.3, 1_000..4_000), most(0.5, 1_000..3_000));
    (commission, auto, most(0.5, 50..300), limits, (open, in_gig), clearing, guest_topups).prop_map(
        |(
            commission_bps,
            auto_approve_below,
            second_approval_above,
            limits,
            (most_open_per_dj, in_gig),
            clearing_seconds,
            guest_topups,
        )| {
            let (max_amount, max_per_24h, max_per_30d) = limits;
            Terms {
                commission_bps,
                auto_approve_below,
                second_approval_above,
                max_amount,
                max_per_24h,
                max_per_30d,
                most_open_per_dj,
                in_gig,
                clearing_seconds,
                guest_topups,
            }
        },
    )
}

fn command() -> impl Strategy<Value = Command> {
    let who = || 0..PEOPLE;
    let guest = || GUEST_ACCOUNT..GUEST_ACCOUNT + NEWEST;
    let payer = || prop_oneof![5 => who(), 1 => guest()];
    let dj = || FIRST_DJ..OPERATOR;
    let pick = || 0..NEWEST;
    let any_of_them = || 0..1_000_usize;
    let flag = any::<bool>;
    let price = || prop_oneof![1 => select(vec![0]), 9 => 1..400_i128];
    let answers = vec!["accepted", "rejected", "played", "cancelled", "refunded"];
    let payouts = vec![
        "approved",
        "processing",
        "broadcast",
        "completed",
        "needs_review",
        "failed",
        "rejected",
        "rejected",
        "cancelled",
    ];
    prop_oneof![
        4 => (payer(), 1..4_000_i128, flag())
            .prop_map(|(who, cents, confirmed)| Command::OpenTopup { who, cents, confirmed }),
        3 => (pick(), flag()).prop_map(|(pick, confirmed)| Command::SettleTopup { pick, confirmed }),
        1 => pick().prop_map(|pick| Command::ReverseTopup { pick }),
        2 => (pick(), select(TOPUP_UPDATES.to_vec()))
            .prop_map(|(pick, (update, excess))| Command::ReceiveTopupUpdate { pick, update, excess }),
        1 => prop_oneof![
            (1..4_000_i128, flag()).prop_map(|(cents, ordered)| Command::OpenDepartingTopup { cents, ordered }),
            Just(Command::Erase { who: DEPARTING }),
            guest().prop_map(|who| Command::Erase { who }),
            pick().prop_map(|pick| Command::SettleSuspense { pick }),
        ],
        3 => (payer(), 1..4_000_i128).prop_map(|(who, cents)| Command::OrderTopup { who, cents }),
        4 => (1..3_usize).prop_map(|limit| Command::TakeUpTopups { limit }),
        6 => (pick(), select(vec!["page", "taken", "taken", "refused", "silent", "silent"]))
            .prop_map(|(pick, reply)| Command::AnswerOrder { pick, reply }),
        2 => (payer(), prop_oneof![-600..0_i128, 1..600_i128], operator())
            .prop_map(|(who, cents, by)| Command::Adjust { who, cents: Some(cents), by }),
        2 => (dj(), operator()).prop_map(|(who, by)| Command::Adjust { who, cents: None, by }),
        2 => (prop_oneof![4 => dj(), 1 => payer()], option::of(flag()), option::of(price()), option::of(price()))
            .prop_map(|(who, online, upcoming, popular)| Command::ChangeDj { who, online, upcoming, popular }),
        1 => (payer(), weighted(0.3)).prop_map(|(who, suspend)| Command::ChangeSuspension { who, suspend }),
        1 => (operator(), weighted(0.8)).prop_map(|(who, operator)| Command::ChangeRole { who, operator }),
        10 => (payer(), prop_oneof![9 => dj(), 1 => who()], flag(), option::weighted(0.3, 0..600_i128))
            .prop_map(|(guest, dj, popular, offer)| Command::OpenRequest { guest, dj, popular, offer }),
        18 => (pick(), any_of_them()).prop_map(|(pick, edge)| Command::FollowRequest { pick, edge }),
        6 => (pick(), select(answers)).prop_map(|(pick, to)| Command::MoveRequest { pick, to }),
        4 => (pick(), 1..6_u8).prop_map(|(pick, stars)| Command::Rate { pick, stars }),
        1 => (dj(), 1..4_u8, option::of(price()))
            .prop_map(|(dj, most, popular)| Command::OpenGig { dj, most, popular }),
        1 => (pick(), 1..4_u8, option::of(flag()))
            .prop_map(|(pick, most, accepting)| Command::ChangeGig { pick, most, accepting }),
        1 => pick().prop_map(|pick| Command::EndGig { pick }),
        1 => Just(Command::ReleaseGigs),
        2 => Just(Command::CreateGuest),
        2 => (guest(), option::weighted(0.3, who())).prop_map(|(who, taken)| Command::Claim { who, taken }),
        2 => prop_oneof![4 => guest(), 1 => who(), 1 => Just(DEPARTING)]
            .prop_map(|who| Command::DeleteUnused { who }),
        3 => (payer(), pick(), 1..400_i128).prop_map(|(who, pick, cents)| Command::Tip { who, pick, cents }),
        2 => (payer(), 0..4_u32).prop_map(|(who, limit)| Command::Sweep { who, limit }),
        8 => (payer(), option::weighted(0.9, 1..450_i128))
            .prop_map(|(who, cents)| Command::OpenWithdrawal { who, cents }),
        12 => (pick(), select(payouts), operator(), weighted(0.15))
            .prop_map(|(pick, to, by, txid)| Command::MoveWithdrawal { pick, to, by, txid }),
        16 => (pick(), any_of_them(), operator(), weighted(0.15))
            .prop_map(|(pick, edge, by, txid)| Command::FollowWithdrawal { pick, edge, by, txid }),
        2 => pick().prop_map(|pick| Command::Send { pick }),
        4 => (pick(), select(PAYOUT_UPDATES.to_vec()), select(TXIDS.to_vec()))
            .prop_map(|(pick, update, txid)| Command::ReceivePayoutUpdate { pick, update, txid }),
        2 => any_of_them().prop_map(|pick| Command::Retry { pick }),
        2 => (any_of_them(), flag()).prop_map(|(pick, same_body)| Command::ReuseKey { pick, same_body }),
        3 => select(vec![1, 60, 899, 900, 2_700, 3_600, 86_400, 86_400, 604_800, 2_592_000])
            .prop_map(|seconds| Command::Pass { seconds }),
        1 => select(vec![Command::Tidy, Command::Reopen]),
        5 => weighted(0.3).prop_map(|reopen| Command::LoseAnswer { reopen }),
    ]
}

/// The end of every history: all holds of requests expire, and their fees are released.
pub(crate) fn ending() -> Vec<(Command, bool)> {
    let guests = GUEST_ACCOUNT..GUEST_ACCOUNT + GUEST_ACCOUNTS;
    let sweeps = (0..PEOPLE).chain(guests).map(|who| Command::Sweep { who, limit: 100 });
    // A request in a gig lasts longest, and so does its DJ's gig.
    let over = Command::Pass { seconds: LONGEST_SECONDS };
    std::iter::once(over)
        .chain(sweeps)
        .chain([Command::ReleaseGigs])
        .map(|command| (command, false))
        .collect()
}

/// The beginning of every history: DJs who charge and are online, guests with money, operators, and a guest account.
pub(crate) fn beginning() -> Vec<(Command, bool)> {
    let djs = (FIRST_DJ..OPERATOR).map(|who| {
        let price = i128::try_from(who).unwrap() * 45 + 1;
        let (upcoming, popular) = (Some(price), Some(3 * price));
        Command::ChangeDj { who, online: Some(true), upcoming, popular }
    });
    let guests = (0..FIRST_DJ).map(|who| Command::OpenTopup { who, cents: 3_000, confirmed: true });
    let operators = (OPERATOR..PEOPLE).map(|who| Command::ChangeRole { who, operator: true });
    djs.chain(guests).chain(operators).chain([Command::CreateGuest]).map(|command| (command, false)).collect()
}
