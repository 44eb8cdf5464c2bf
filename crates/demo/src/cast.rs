//! The persons and the songs of the evening.

/// The name of the DJ.
pub(crate) const DJ: &str = "DJ Grace";

/// The guests, in the order in which they arrive.
pub(crate) const GUESTS: [&str; 20] = [
    "Mia", "Ben", "Cleo", "Dan", "Ella", "Finn", "Gina", "Hugo", "Ida", "Jon", "Kim", "Leo", "Mona", "Nils",
    "Olga", "Paul", "Rosa", "Sven", "Tara", "Uwe",
];

/// A song: its title, its artist, and the type of the artist, which determines the price.
pub(crate) type Song = (&'static str, &'static str, ArtistType);

/// The type of an artist, as requests name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ArtistType {
    Popular,
    Upcoming,
}

impl ArtistType {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Popular => "popular",
            Self::Upcoming => "upcoming",
        }
    }
}

/// The songs that guests request. Those of upcoming artists are invented.
pub(crate) const SONGS: [Song; 24] = [
    ("Blue Monday", "New Order", ArtistType::Popular),
    ("One More Time", "Daft Punk", ArtistType::Popular),
    ("Dancing Queen", "ABBA", ArtistType::Popular),
    ("I Feel Love", "Donna Summer", ArtistType::Popular),
    ("Heart of Glass", "Blondie", ArtistType::Popular),
    ("Vogue", "Madonna", ArtistType::Popular),
    ("Good Times", "Chic", ArtistType::Popular),
    ("Enjoy the Silence", "Depeche Mode", ArtistType::Popular),
    ("Finally", "CeCe Peniston", ArtistType::Popular),
    ("Le Freak", "Chic", ArtistType::Popular),
    ("Gypsy Woman", "Crystal Waters", ArtistType::Popular),
    ("Show Me Love", "Robin S.", ArtistType::Popular),
    ("Around the World", "Daft Punk", ArtistType::Popular),
    ("Billie Jean", "Michael Jackson", ArtistType::Popular),
    ("Kiss", "Prince", ArtistType::Popular),
    ("September", "Earth, Wind & Fire", ArtistType::Popular),
    ("Murder on the Dancefloor", "Sophie Ellis-Bextor", ArtistType::Popular),
    ("Padam Padam", "Kylie Minogue", ArtistType::Popular),
    ("Night Bus Home", "The Paper Lanterns", ArtistType::Upcoming),
    ("Second Summer", "Lina Okafor", ArtistType::Upcoming),
    ("Tin Roof", "Harbour Kids", ArtistType::Upcoming),
    ("Slow Elevator", "Marta & the Clocks", ArtistType::Upcoming),
    ("Copper Wire", "Ada Lindqvist", ArtistType::Upcoming),
    ("Left on Read", "Small Hours", ArtistType::Upcoming),
];
