//! Which service a request is for: the function evaluator or the health service.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tonic::body::Body;
use tonic::server::NamedService;
use tonic::{Code, Status};
use tower_service::Service;

use super::method::Method;
use crate::messages::METHOD;

/// The services of one server.
#[derive(Clone)]
pub(super) struct Router<H> {
    method: Arc<Method>,
    health: H,
}

impl<H> Router<H> {
    pub(super) fn new(method: Arc<Method>, health: H) -> Self {
        Self { method, health }
    }
}

type Response = http::Response<Body>;
type ResponseFuture = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

impl<H> Service<http::Request<Body>> for Router<H>
where
    H: Service<http::Request<Body>, Response = Response, Error = Infallible> + NamedService,
    H::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.health.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> ResponseFuture {
        let path = request.uri().path();
        if path == METHOD {
            let method = Arc::clone(&self.method);
            return Box::pin(async move { Ok(method.answer(request).await) });
        }
        let service = path.strip_prefix('/').and_then(|path| path.split('/').next());
        if service == Some(H::NAME) {
            return Box::pin(self.health.call(request));
        }
        let status = Status::new(Code::Unimplemented, "unknown service or method");
        Box::pin(async move { Ok(status.into_http()) })
    }
}
