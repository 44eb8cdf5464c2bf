//! Names of enum variants, as used by stores and clients.
//!
//! `strum` derives the names of the variants; [`named_enum`] gives every such enum the same methods.

/// Gives an enum that derives `IntoStaticStr`, `EnumString` and `EnumIter` the methods `all`, `name` and
/// `named`. With `Unknown`, the enum has a disabled variant for names of newer versions, and also the method
/// `stored`.
///
/// `strum` takes the spelling from `#[strum(serialize_all = "snake_case")]`.
macro_rules! named_enum {
    ($type:ident) => {
        impl $type {
            /// Every value, in the order of declaration.
            pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                <Self as ::strum::IntoEnumIterator>::iter()
            }

            /// The name, as used by stores and clients.
            #[must_use]
            pub fn name(self) -> &'static str {
                self.into()
            }

            /// The value of this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                name.parse().ok()
            }
        }
    };
    ($type:ident, Unknown) => {
        impl $type {
            /// Every value that this version knows, in the order of declaration.
            pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                <Self as ::strum::IntoEnumIterator>::iter()
            }

            /// The name, as used by stores and clients.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    Self::Unknown(name) => name.as_str(),
                    known => known.into(),
                }
            }

            /// The value of this name, if this version knows it.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                name.parse().ok()
            }

            /// The value of this name, known or not; `None` for a name that no version writes.
            #[must_use]
            pub fn stored(name: &str) -> Option<Self> {
                Self::named(name).or_else(|| $crate::unknown::UnknownName::stored(name).map(Self::Unknown))
            }
        }
    };
}

/// Gives an enum that derives `EnumMessage` the method `meaning`.
macro_rules! explained_enum {
    ($type:ident) => {
        impl $type {
            /// The doc comment of the value: its meaning to clients. Empty without a comment.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                ::strum::EnumMessage::get_documentation(&self).unwrap_or_default()
            }
        }
    };
}

pub(crate) use {explained_enum, named_enum};
