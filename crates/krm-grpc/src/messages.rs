//! The messages of Porch's protocol. Names and numbers are those of its `evaluator.proto`; the names are not on the wire.

use bytes::Bytes;

/// The path of the only method.
pub(crate) const METHOD: &str = "/evaluator.FunctionEvaluator/EvaluateFunction";

/// Metadata of a request: the client reads the output of a function that failed.
pub(crate) const ACCEPTS_FAILED_OUTPUT: (&str, &str) = ("krm-failed-output", "accept");
/// Metadata of a response: the exit code of the function, if it failed.
pub(crate) const EXIT_CODE: &str = "krm-exit-code";
/// Metadata of a refusal: milliseconds after which the same request may be accepted. Spec: gRPC A6, client retry design.
pub(crate) const RETRY_AFTER: &str = "grpc-retry-pushback-ms";
/// The time that a client waits. Spec: gRPC over HTTP/2, `Timeout`.
pub(crate) const TIMEOUT: &str = "grpc-timeout";

/// A function and its input.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct EvaluateFunctionRequest {
    /// A ResourceList.
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) resource_list: Bytes,
    /// The image.
    #[prost(string, tag = "2")]
    pub(crate) image: String,
    /// A tag or a version constraint for an image without a tag. Compat: Porch after 1.5.3.
    #[prost(string, tag = "3")]
    pub(crate) tag: String,
}

/// The output of a function.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct EvaluateFunctionResponse {
    /// A ResourceList.
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) resource_list: Bytes,
    /// Standard error.
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) log: Bytes,
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;

    #[test]
    fn messages_have_the_wire_format_of_porch() {
        let (resource_list, image, tag) =
            (Bytes::from_static(b"ab"), "c".to_owned(), "d".to_owned());
        let request = EvaluateFunctionRequest { resource_list, image, tag };
        assert_eq!(request.encode_to_vec(), b"\x0a\x02ab\x12\x01c\x1a\x01d");
        let response =
            EvaluateFunctionResponse { resource_list: Bytes::from_static(b"ab"), log: "c".into() };
        assert_eq!(response.encode_to_vec(), b"\x0a\x02ab\x12\x01c");
        assert_eq!(EvaluateFunctionResponse::decode(&b"\x0a\x02ab\x12\x01c"[..]), Ok(response));
    }
}
