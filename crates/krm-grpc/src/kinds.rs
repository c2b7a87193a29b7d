//! Kinds of diagnostics: why a server or a client of remote evaluation cannot start.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// Why a server or client cannot start.
    pub enum GrpcKind {
        /// The address of a server is invalid.
        InvalidAddress { address: String, reason: &'static str } = "invalid-grpc-address": "invalid address `{address}`: {reason}",
            hint "use an address such as `grpc://127.0.0.1:9445` or `grpcs://runner.example.com:443`";
        /// The server cannot listen.
        CannotListen { address: String, reason: String } = "cannot-listen": "cannot listen on `{address}`: {reason}";
        /// A certificate or key cannot be read.
        InvalidTls { file: String, reason: String } = "invalid-tls-file": "cannot use `{file}` for TLS: {reason}";
        /// The server ended by itself.
        ServerFailed { reason: String } = "grpc-server-failed": "the server failed: {reason}";
        /// A build without gRPC.
        NotBuiltIn = "grpc-not-built-in": "this krm was built without gRPC", hint "install a release of krm, or build it with `--features full`";
    }
}
