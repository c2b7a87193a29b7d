//! Images of projects created by `krm fn new`: built from their Dockerfiles by a real container engine, and run as nobody.
//!
//! Only projects whose image needs no registry are tested; their base image is replaced with a local one by a build argument.
#![cfg(target_os = "linux")]

use crate::containers::base_image::{BASE, copy_krm, has_base};
use crate::containers::engine;
use crate::containers::template::run;
use crate::sandbox::Sandbox;

/// The name of the projects, unlikely to be that of an existing image.
const NAME: &str = "krm-cli-tests-owner";

const POD: &str = "apiVersion: v1\nkind: Pod # the one\nmetadata:\n  name: web # do not rename\n";

/// The commands of the README that build and run the image, with placeholders replaced.
fn commands(sandbox: &Sandbox) -> (String, String) {
    let files = sandbox.files();
    let line =
        files[&format!("{NAME}/README.md")].lines().find(|line| line.starts_with("docker build"));
    let (build, eval) = line.unwrap().split_once(" && ").unwrap();
    let build = build.replacen("docker", &engine(), 1);
    (format!("{build} --build-arg BASE={BASE}"), eval.replace("DIR", "../pkg"))
}

#[test]
fn project_images_run_as_nobody() {
    if !has_base() {
        return;
    }
    for lang in ["shell", "starlark"] {
        let sandbox = Sandbox::new();
        sandbox.write("pkg/pod.yaml", POD.as_bytes());
        run(&sandbox, &format!("krm fn new {NAME} --lang {lang}"));
        copy_krm(&sandbox.path().join(NAME).join("krm"));
        let (build, eval) = commands(&sandbox);
        run(&sandbox, &format!("cd {NAME} && {build}"));
        let settings = run(&sandbox, &format!("{} inspect localhost/{NAME}", engine()));
        assert!(settings.contains("\"User\": \"65534:65534\""), "{settings}");
        run(&sandbox, &format!("cd {NAME} && {eval}"));
        let files = sandbox.files();
        match lang {
            "shell" => {
                assert_eq!(files["pkg/pod.yaml"], POD);
                let made = &files["pkg/config/owner_configmap.yaml"];
                assert!(made.contains("owner: \"team-a\""), "{made}");
            }
            _ => {
                let added = "  annotations:\n    example.com/owner: team-a\n";
                let text = &files["pkg/pod.yaml"];
                assert!(text.contains(added) && text.replace(added, "") == POD, "{text}");
            }
        }
        let (eval, owner) = eval.split_once(" -- ").unwrap();
        assert_eq!(run(&sandbox, &format!("cd {NAME} && {eval} --check -- {owner}")), "");
    }
}
