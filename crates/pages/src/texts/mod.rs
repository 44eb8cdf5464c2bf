//! The texts of pages, in English and German.
//!
//! Each subject has a trait. A line of `texts!` declares one text in both languages, so that a missing text does not
//! compile, and an unused argument is reported by the compiler.

// A translation that forgets an argument does not compile.
#![deny(unused_variables)]

mod account;
mod booth;
mod display;
mod done;
mod errors;
mod frame;
mod front;
mod guest;
mod payment;
mod refusals;
mod report;
mod wallet;

pub use account::AccountTexts;
pub use booth::BoothTexts;
pub use display::DisplayTexts;
pub use done::DoneTexts;
pub use errors::ErrorTexts;
pub use frame::FrameTexts;
pub use front::FrontTexts;
pub use guest::GuestTexts;
pub use payment::PaymentTexts;
pub use refusals::RefusalTexts;
pub use report::ReportTexts;
pub use wallet::WalletTexts;

use std::borrow::Cow;

/// A text in one language.
pub type Text = Cow<'static, str>;

/// All texts of one language.
pub trait Texts:
    FrameTexts
    + ErrorTexts
    + RefusalTexts
    + GuestTexts
    + PaymentTexts
    + FrontTexts
    + WalletTexts
    + AccountTexts
    + BoothTexts
    + DisplayTexts
    + DoneTexts
    + ReportTexts
    + Sync
{
}

/// The English texts.
#[derive(Clone, Copy, Debug)]
pub struct English;

/// The German texts.
#[derive(Clone, Copy, Debug)]
pub struct German;

impl Texts for English {}
impl Texts for German {}

/// Declares the texts of a subject: the name with its arguments, the English text, the German text.
macro_rules! texts {
    (
        $(#[$doc:meta])*
        $name:ident;
        $($text:ident($($argument:ident: $type:ty),*): $english:expr, $german:expr;)*
    ) => {
        $(#[$doc])*
        pub trait $name {
            $(
                #[doc = stringify!($english)]
                #[must_use]
                fn $text(&self $(, $argument: $type)*) -> $crate::texts::Text;
            )*
        }

        impl $name for $crate::texts::English {
            $(fn $text(&self $(, $argument: $type)*) -> $crate::texts::Text { ($english).into() })*
        }

        impl $name for $crate::texts::German {
            $(fn $text(&self $(, $argument: $type)*) -> $crate::texts::Text { ($german).into() })*
        }
    };
}

pub(crate) use texts;
