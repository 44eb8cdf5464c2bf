//! The service as its operator has it: starts, data, upgrades, restores, outages and commands.

automod::dir!(pub(crate) "tests/http/operating");
