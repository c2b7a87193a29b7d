//! The certificates that servers are checked with.

use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// TLS with the certificates of the system, which include those of companies. A system without any has those that are compiled in.
pub(crate) fn with_system_certificates() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let found: Vec<_> = found.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
    let tls = TlsConfig::builder();
    match found.is_empty() {
        true => tls.build(),
        false => tls.root_certs(RootCerts::new_with_certs(&found)).build(),
    }
}
