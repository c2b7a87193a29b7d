//! The image of a release, built by a real container engine around the krm under test.
#![cfg(target_os = "linux")]

use std::fs;

use super::{DEPLOYMENT, file, package, root};
use crate::containers::base_image::{BASE, copy_krm, has_base};
use crate::containers::engine;
use crate::containers::template::run;

const IMAGE: &str = "example.com/krm-cli-tests/krm:v1";

#[test]
fn image_renders_a_mounted_package_as_nobody() {
    if !has_base() {
        return;
    }
    let sandbox = package();
    let context = sandbox.path().join("image");
    fs::create_dir(&context).unwrap();
    copy_krm(&context.join("krm"));
    for name in ["LICENSE", "NOTICE"] {
        fs::copy(root().join(name), context.join(name)).unwrap();
    }
    let (engine, dockerfile) = (engine(), file("container/Dockerfile"));
    let dockerfile = dockerfile.display();
    run(
        &sandbox,
        &format!("{engine} build -t {IMAGE} --build-arg BASE={BASE} -f {dockerfile} image"),
    );
    let settings = run(&sandbox, &format!("{engine} inspect {IMAGE}"));
    assert!(settings.contains("\"User\": \"65532:65532\""), "{settings}");

    let krm = |options: &str, line: &str| {
        format!("{engine} run --rm --network none {options} {IMAGE} fn render {line}")
    };
    let read_only = "--volume $PWD/shop:/package:ro";
    let check = format!("{}; echo exit $?", krm(read_only, "--check"));
    assert!(run(&sandbox, &check).ends_with("exit 1\n"), "the package is not rendered");
    assert_eq!(sandbox.files()["shop/deployment.yaml"], DEPLOYMENT);

    let writable = "--user $(id -u):$(id -g) --volume $PWD/shop:/package";
    run(&sandbox, &krm(writable, ""));
    assert!(sandbox.files()["shop/deployment.yaml"].contains("team: shop"));
    let check = format!("{}; echo exit $?", krm(read_only, "--check"));
    assert!(run(&sandbox, &check).ends_with("exit 0\n"), "rendering again changes nothing");
}
