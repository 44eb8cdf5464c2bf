//! Running the service: starts, data, upgrades, restores, outages and commands.

automod::dir!(pub(crate) "tests/http/operating");
