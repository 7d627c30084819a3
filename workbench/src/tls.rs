//! Makes ring the process's provider of TLS, as the rest of Muster does.

/// Whoever was first has won, and it was ring as well.
pub(crate) fn install() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
