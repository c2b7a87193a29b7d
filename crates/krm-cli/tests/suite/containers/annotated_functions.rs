//! Containers of annotated functions: they get the permissions that they request only if the user allows them.

use super::{DEVICES, SHELL, Shop, devices, devices_here};

/// A function that requests the network and prints the devices that it has.
const NETWORK: &str = "apiVersion: example.com/v1\nkind: Look\nmetadata:\n  name: look\n  annotations:\n    config.kubernetes.io/function: |\n      container:\n        image: example.com/krm-cli-tests/shell:v1\n        network: true\n        envs: [\"DO=cat; cat /proc/net/dev >&2\"]\n";

#[test]
fn annotated_function_gets_the_network_only_if_allowed() {
    for shop in Shop::all() {
        shop.sandbox.write("look/look.yaml", NETWORK.as_bytes());
        let run = |flags: &str| {
            let line =
                format!("krm fn run look --image-pull-policy never --results-dir out {flags}");
            shop.run("", &line)
        };
        let refused = run("");
        let expected = format!(
            "error[network-not-allowed]: cannot run function `{SHELL}`: network access is not allowed\n --> look/look.yaml:6:5\n  |\n6 |     config.kubernetes.io/function: |\n  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  |\n  = help: use --allow-network if you trust this function\n"
        );
        assert_eq!((refused.exit, refused.stderr), (4, expected));
        for flag in ["--network", "--allow-network"] {
            let before = devices_here();
            let allowed = run(flag);
            assert_eq!(allowed.exit, 0, "{}", allowed.stderr);
            let (seen, after) = (devices(&shop.recorded_stderr()), devices_here());
            assert!(before.intersection(&after).all(|name| seen.contains(name)), "{seen:?}");
        }
        // Without a request, a function has no network even if it is allowed.
        shop.sandbox.write("look/look.yaml", NETWORK.replace("network: true", "").as_bytes());
        assert_eq!(run("--network").exit, 0);
        assert_eq!(devices(&shop.recorded_stderr()).into_iter().collect::<Vec<_>>(), ["lo"]);
    }
}

#[test]
fn directory_of_the_annotated_function_is_mounted_read_only_at_local() {
    for shop in Shop::all() {
        let script = "DO=cat; cat /local/beside.txt >&2; echo x > /local/new || true";
        let declared =
            NETWORK.replace("network: true", "").replace("DO=cat; cat /proc/net/dev >&2", script);
        shop.sandbox.write("look/in/look.yaml", declared.as_bytes());
        shop.sandbox.write("look/in/beside.txt", b"beside it\n");
        let ran = shop.run("", "krm fn run look --image-pull-policy never --results-dir out");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        let stderr = shop.recorded_stderr();
        assert!(stderr.starts_with("beside it\n") && stderr.contains("Read-only"), "{stderr}");
        assert!(!shop.sandbox.files().contains_key("look/in/new"));
    }
}

/// The working directory and a directory that the list names are not mounted.
#[test]
fn nothing_is_mounted_at_local_for_a_list_from_standard_input() {
    for shop in Shop::all() {
        let script = "DO=cat; head -c 9 /local/secret.txt >&2; echo done >&2";
        let declared =
            NETWORK.replace("network: true", "").replace("DO=cat; cat /proc/net/dev >&2", script);
        shop.sandbox.write("look/in/look.yaml", declared.as_bytes());
        for directory in ["", "in/", "look/in/"] {
            shop.sandbox.write(&format!("{directory}secret.txt"), b"my secret\n");
        }
        let ran = shop.run(
        "",
        "krm fn source look | krm fn run - --image-pull-policy never --results-dir out >list.yaml",
    );
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        let stderr = shop.recorded_stderr();
        assert!(stderr.contains("done") && !stderr.contains("my secret"), "{stderr}");
    }
}

#[test]
fn annotated_mount_must_be_in_the_package_or_allowed_by_a_flag() {
    for shop in Shop::all() {
        let declare = |mount: &str| {
            let script = "DO=cat; cat /mine/file >&2";
            let text = NETWORK.replace("DO=cat; cat /proc/net/dev >&2", script);
            let text = text.replace("network: true", &format!("mounts: [{{{mount}, dst: /mine}}]"));
            shop.sandbox.write("look/look.yaml", text.as_bytes());
        };
        let run = |flags: &str| {
            shop.run(
                "",
                &format!("krm fn run look --image-pull-policy never --results-dir out {flags}"),
            )
        };
        shop.sandbox.write("look/files/file", b"of the package\n");
        shop.sandbox.run("ln -s ../folder look/link");
        declare("type: bind, src: files");
        assert_eq!((run("").exit, shop.recorded_stderr().as_str()), (0, "of the package\n"));
        let outside = shop.sandbox.path().join("folder").display().to_string();
        for mount in [
            format!("type: bind, src: {outside}"),
            "type: bind, src: ../folder".to_owned(),
            "type: bind, src: link".to_owned(),
            "type: bind, src: files, rw: true".to_owned(),
            "type: volume, src: files".to_owned(),
        ] {
            declare(&mount);
            let ran = run("");
            assert_eq!(ran.exit, 4, "{mount}: {}", ran.stderr);
            assert!(
                ran.stderr.contains("error[mount-not-allowed]: cannot run function `"),
                "{mount}: {}",
                ran.stderr
            );
            assert!(
                ran.stderr.contains("help: pass the same mount with --mount"),
                "{}",
                ran.stderr
            );
        }
        declare(&format!("type: bind, src: {outside}"));
        let allowed = run("--mount type=bind,src=folder,dst=/mine");
        assert_eq!(
            (allowed.exit, shop.recorded_stderr().as_str()),
            (0, "of the machine\n"),
            "{}",
            allowed.stderr
        );
    }
}

#[test]
fn failed_function_is_reported_at_its_annotation() {
    for shop in Shop::all() {
        let declared =
            NETWORK.replace("network: true", "").replace("cat; cat /proc/net/dev >&2", "exit 9");
        shop.sandbox.write("look/look.yaml", declared.as_bytes());
        let ran = shop.run("", "krm fn run look -q --image-pull-policy never");
        let expected = format!(
            "error[function-exit-code]: function `{SHELL}` failed: exited with code 9\n --> look/look.yaml:6:5\n  |\n6 |     config.kubernetes.io/function: |\n  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        );
        assert_eq!((ran.exit, ran.stderr), (4, expected));
    }
}

#[test]
fn pipeline_gets_the_network_only_if_allowed() {
    for shop in Shop::all() {
        let kptfile = format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\npipeline:\n  mutators:\n  - image: {DEVICES}\n"
        );
        shop.sandbox.write("shop/Kptfile", kptfile.as_bytes());
        let id = shop.with_digest(DEVICES);
        let render = |flags: &str| {
            let ran = shop.run(
                "",
                &format!("krm fn render shop --image-pull-policy never --results-dir out {flags}"),
            );
            assert_eq!(ran.exit, 0, "{}", ran.stderr);
            let line =
                format!("[PASS] \"{DEVICES}\" (container) on 2 resources, 0 changed, image {id}\n");
            assert!(ran.stderr.contains(&line), "{}", ran.stderr);
            let results = &shop.sandbox.files()["out/results.yaml"];
            assert!(results.contains(&format!("- image: {DEVICES} ({id})\n")), "{results}");
            devices(&shop.recorded_stderr())
        };
        assert_eq!(render("").into_iter().collect::<Vec<_>>(), ["lo"]);
        let before = devices_here();
        let seen = render("--allow-network");
        assert!(before.intersection(&devices_here()).all(|name| seen.contains(name)), "{seen:?}");
    }
}
