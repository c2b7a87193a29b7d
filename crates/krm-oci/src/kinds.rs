//! Kinds of diagnostics: why an image or artifact was not found, transferred, stored or unpacked.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// Why an operation on an image or artifact failed.
    pub enum OciKind {
        /// The text is not the name of an image.
        InvalidReference { reference: String, reason: String } = "invalid-image-reference": "invalid image reference `{reference}`: {reason}",
            hint "use a reference such as `ghcr.io/org/name:v1` or `ghcr.io/org/name@sha256:…`";
        /// No response from the registry.
        Unreachable { registry: String, reason: String } = "registry-unreachable": "cannot reach the registry `{registry}`: {reason}";
        /// The registry uses plain HTTP.
        PlainHttp { registry: String } = "registry-plain-http": "the registry `{registry}` does not use TLS", hint "set KRM_INSECURE_REGISTRIES={registry} if you trust the network";
        /// The registry reported an error.
        Refused { registry: String, status: u32, reason: String } = "registry-error": "the registry `{registry}` responded with status {status}{reason}";
        /// The image, tag or blob does not exist.
        NotFound { reference: String } = "image-not-found": "`{reference}` does not exist in the registry, or needs a login";
        /// The credentials are missing or not sufficient.
        Unauthorized { reference: String, registry: String } = "registry-unauthorized": "access to `{reference}` is denied", hint "log in with `docker login {registry}`, or set up a credential helper";
        /// A credential helper of docker's configuration failed.
        CredentialHelper { helper: String, reason: String } = "credential-helper-failed": "cannot get credentials from `docker-credential-{helper}`: {reason}";
        /// The file with credentials cannot be read.
        InvalidConfiguration { path: String, reason: String } = "invalid-docker-config": "cannot read `{path}`: {reason}";
        /// The response of the registry violates the specification.
        InvalidResponse { registry: String, reason: String } = "invalid-registry-response": "invalid response of the registry `{registry}`: {reason}";
        /// The manifest, index or configuration of an image is invalid.
        InvalidManifest { reason: String } = "invalid-image-manifest": "invalid image manifest: {reason}";
        /// The content is not what its digest says.
        DigestMismatch { expected: String, found: String } = "digest-mismatch": "expected content with digest `{expected}`, found `{found}`";
        /// Something exceeds a limit.
        TooLarge { what: &'static str, limit: u64 } = "image-too-large": "{what} exceeds the limit of {limit}";
        /// The image does not exist for the platform.
        NoPlatform { platform: String, available: Vec<String> } = "no-image-for-platform": "the image does not exist for {platform}; it exists for {}" (available.join(", "));
        /// The artifact is something else than expected.
        WrongMediaType { expected: &'static str, found: String } = "wrong-media-type": "expected {expected}, found media type `{found}`";
        /// A layer contains something that is not allowed.
        InvalidLayer { entry: String, reason: String } = "invalid-image-layer": "invalid layer: `{entry}`: {reason}";
        /// The store cannot be used.
        Store { path: String, reason: String } = "image-store-error": "cannot use the image store `{path}`: {reason}";
        /// The store is read-only and does not have what is needed.
        StoreReadOnly { path: String } = "image-store-read-only": "the image store `{path}` is read-only and does not contain the image";
        /// The store is used by another process.
        StoreBusy { path: String } = "image-store-busy": "the image store `{path}` is used by another process", hint "try again when no function runs";
        /// The user interrupted the operation.
        Interrupted = "image-transfer-interrupted": "interrupted";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_small_enough_to_be_returned_as_errors() {
        assert!(size_of::<OciKind>() <= 64, "{}", size_of::<OciKind>());
    }
}
