//! Pages and their forms, whatever they are about.

automod::dir!(pub(crate) "tests/http/pages");
