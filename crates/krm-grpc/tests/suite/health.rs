//! The health service of gRPC.

use std::sync::atomic::Ordering;

use krm_grpc::SERVICE;
use tonic::Code;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::support::{TestServer, call, client, eventually};

fn request(service: &str) -> HealthCheckRequest {
    HealthCheckRequest { service: service.to_owned() }
}

#[test]
fn server_is_serving_until_it_is_asked_to_stop() {
    let mut server = TestServer::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let endpoint = Endpoint::from_shared(format!("http://{}", server.address)).unwrap();
    let mut health = HealthClient::new(runtime.block_on(endpoint.connect()).unwrap());
    for service in ["", SERVICE] {
        let answer = runtime.block_on(health.check(request(service))).unwrap().into_inner();
        assert_eq!(answer.status(), ServingStatus::Serving, "{service}");
    }
    let unknown = runtime.block_on(health.check(request("other"))).unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
    let mut changes = runtime.block_on(health.watch(request(SERVICE))).unwrap().into_inner();
    let mut next = || runtime.block_on(changes.message()).unwrap().unwrap().status();
    assert_eq!(next(), ServingStatus::Serving);
    // A client that only watches does not keep the server from ending.
    let client = client(&[&server.address]);
    std::thread::scope(|scope| {
        let request = scope.spawn(|| call(&client, "sleep 500", b"x"));
        eventually("it runs", || server.functions.running.load(Ordering::SeqCst) == 1);
        server.ask_to_stop();
        assert_eq!(next(), ServingStatus::NotServing);
        assert_eq!(request.join().unwrap().unwrap().output, b"x");
    });
    server.join().unwrap();
}
