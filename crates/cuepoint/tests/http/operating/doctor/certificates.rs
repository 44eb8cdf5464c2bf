//! The certificates that the doctor checks.

use std::fs;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};
use time::{Duration, OffsetDateTime};

use super::{Deployment, PAYING};

/// Starts a server that shakes hands with a certificate of this authority, for this name and for so many days, and ends
/// with the process. Returns its address as `localhost`.
fn tls_server(authority: &Issuer<'_, KeyPair>, name: &str, days: i64) -> String {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the binary reads the machine's clock")]
    let now = OffsetDateTime::now_utc();
    params.not_before = now - Duration::days(90);
    // In the middle of a day, so that the days that are left do not change while the test runs.
    params.not_after = now + Duration::days(days) + Duration::hours(12);
    let certificate = params.signed_by(&key, authority).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let config = Arc::new(config);
    thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            while connection.is_handshaking() && connection.complete_io(&mut client).is_ok() {}
        }
    });
    address
}

/// A certificate authority, and its certificate as a file of root certificates.
fn authority() -> (Issuer<'static, KeyPair>, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let text = params.self_signed(&key).unwrap().pem();
    (Issuer::new(params, key), text)
}

#[test]
fn the_doctor_finds_invalid_and_expiring_certificates() {
    let deployment = Deployment::new(&PAYING);
    let (own, roots) = authority();
    let (unknown, _) = authority();
    let file = deployment.path("roots.pem");
    fs::write(&file, roots).unwrap();
    let roots = ("SSL_CERT_FILE", file.to_str().unwrap());
    for (authority, name, days, text) in [
        (&own, "localhost", -1, "has expired"),
        (&own, "elsewhere.example", 60, "is for another name"),
        (&unknown, "localhost", 60, "not from an authority that this machine trusts"),
    ] {
        let url = tls_server(authority, name, days);
        deployment.finds("fail", "network.public_url", text, &[], &[roots, ("server.public_url", &url)]);
    }
    for (days, line) in [
        (13, "warn  network.certificate         valid for 13 more days; "),
        (20, "ok    network.certificate "),
    ] {
        let url = tls_server(&own, "localhost", days);
        let (_, lines) = deployment.doctor(&[], &[roots, ("server.public_url", &url)]);
        assert!(lines.iter().any(|found| found.starts_with(line)), "{days}: {lines:?}");
    }
}
