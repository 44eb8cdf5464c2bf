//! The rate of the clock of the service.

use super::*;

#[test]
fn only_tests_on_the_memory_store_have_a_clock_rate_other_than_1() {
    let quick = ("server.clock_rate", "60");
    assert_eq!(Layers::test(&[quick]).settings().unwrap().server.clock_rate.get(), 60);
    let sqlite = ("storage.backend", "sqlite");
    let postgres = [("storage.backend", "postgres"), ("storage.postgres.url", "postgres://db/cuepoint")];
    for refused_layers in [
        Layers::test(&[quick, sqlite]),
        Layers::test(&[&[quick], &postgres[..]].concat()),
        layers(DeploymentEnvironment::Development, &[quick, ("storage.backend", "memory")]),
        layers(DeploymentEnvironment::Production, &[&[quick], PRODUCTION].concat()),
    ] {
        let sentence =
            "server.clock_rate: must be 1 unless CUEPOINT_ENV is test and storage.backend is memory";
        refused(refused_layers.settings(), sentence);
    }
    for rate in ["0", "3601", "0.5"] {
        let sentence = "server.clock_rate: must be a whole number from 1 to 3600";
        refused(Layers::test(&[("server.clock_rate", rate)]).settings(), sentence);
    }
}
