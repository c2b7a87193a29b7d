//! Options for containers: each grants exactly what it names.

use super::{LABELS, REMOTE, SHELL, Shop, devices, devices_here};

#[test]
fn mounts_are_read_only_unless_rw_is_given() {
    for shop in Shop::all() {
        let try_it = "cat /mine/file; echo new > /mine/new || true";
        let mount = "--mount type=bind,src=folder,dst=/mine";
        let stderr = shop.stderr_of(try_it, mount);
        assert!(stderr.starts_with("of the machine\n") && stderr.contains("Read-only"), "{stderr}");
        assert!(!shop.sandbox.files().contains_key("folder/new"));
        assert_eq!(shop.stderr_of(try_it, &format!("{mount},rw=true")), "of the machine\n");
        assert_eq!(shop.sandbox.files()["folder/new"], "new\n");
    }
}

#[test]
fn invalid_mount_is_a_usage_error() {
    let Some(shop) = Shop::with_engine() else { return };
    let ran = shop.eval("cat", "--mount type=bind,src=folder");
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("expected dst="), "{}", ran.stderr);
    let stderr = shop.fails("cat", "--mount src=nowhere,dst=/mine");
    assert!(stderr.contains("cannot run function") && stderr.contains("nowhere"), "{stderr}");
}

#[test]
fn only_named_environment_variables_are_passed() {
    for shop in Shop::all() {
        let names = |stderr: &str| -> Vec<String> {
            let lines = stderr.lines().filter_map(|line| line.split_once('='));
            let usual = ["HOME", "HOSTNAME", "PATH", "PWD", "TERM", "container", "DO"];
            let names = lines.map(|(name, _)| name.to_owned());
            names.filter(|name| !usual.contains(&name.as_str())).collect()
        };
        assert_eq!(names(&shop.stderr_of("env", "")), [""; 0]);
        // `TMPDIR` is set in the environment of krm, `NO_SUCH` is not.
        let stderr = shop.stderr_of("env", "--env GREETING=\"a=b c\" -e TMPDIR -e NO_SUCH");
        assert!(stderr.contains("GREETING=a=b c\n"), "{stderr}");
        let temporary = format!("TMPDIR={}\n", shop.sandbox.path().join("tmp").display());
        assert!(stderr.contains(&temporary), "{stderr}");
        assert!(!stderr.contains("NO_SUCH="), "{stderr}");
    }
}

#[test]
fn user_is_nobody_or_the_current_user() {
    for shop in Shop::all() {
        let who = "id -u; id -g";
        assert_eq!(shop.stderr_of(who, ""), "65534\n65534\n");
        let me = shop.sandbox.run(who).stdout;
        assert_ne!(me, "65534\n65534\n");
        assert_eq!(shop.stderr_of(who, "--as-current-user"), me);
    }
}

#[test]
fn root_filesystem_is_read_only_unless_requested() {
    for shop in Shop::all() {
        let write = "echo new > /open/new && cat /open/new || true";
        let stderr = shop.stderr_of(write, "");
        assert!(stderr.contains("Read-only"), "{stderr}");
        if shop.runtime == "bubblewrap" {
            continue;
        }
        assert_eq!(shop.stderr_of(write, "--writable-root"), "new\n");
        // The next container starts with a fresh root.
        assert_eq!(shop.stderr_of(write, "--writable-root"), "new\n");
    }
}

#[test]
fn network_is_available_only_if_requested() {
    for shop in Shop::all() {
        let look = "cat /proc/net/dev";
        assert_eq!(devices(&shop.stderr_of(look, "")).into_iter().collect::<Vec<_>>(), ["lo"]);
        // Devices may appear or disappear during the test.
        let before = devices_here();
        let seen = devices(&shop.stderr_of(look, "--network"));
        let here: Vec<String> = before.intersection(&devices_here()).cloned().collect();
        assert!(here.iter().all(|name| seen.contains(name)), "{here:?} {seen:?}");
    }
}

#[test]
fn memory_and_process_limits_are_applied() {
    for shop in Shop::all() {
        let eat = "a=$(head -c 40m /dev/zero | tr \"\\0\" x); cat";
        let stderr = shop.fails(eat, "--memory 20m");
        // Without a control group the program does not get the memory, and fails by itself.
        if !shop.has_groups() {
            continue;
        }
        assert!(stderr.contains("exited with code 137"), "{stderr}");
        assert!(stderr.contains("use --memory to allow more memory"));
        assert_eq!(shop.eval(eat, "--memory 400m").exit, 0);
        let fork = "for i in 1 2 3 4 5 6 7 8; do sleep 9 & done; cat";
        let stderr = shop.fails(fork, "--pids 4");
        assert!(stderr.to_lowercase().contains("fork"), "{stderr}");
        assert_eq!(shop.eval(fork, "--pids 40").exit, 0);
    }
}

#[test]
fn image_is_named_with_its_digest() {
    for shop in Shop::all() {
        let id = shop.with_digest(SHELL);
        for (script, word) in [("cat", "PASS"), ("cat; exit 3", "FAIL"), ("echo a", "FAIL")] {
            let ran = shop.eval(script, "--results-dir out");
            let line = ran.stderr.lines().next().unwrap();
            assert!(line.starts_with(&format!("[{word}] \"{SHELL}\"")), "{line}");
            assert!(line.ends_with(&format!(", image {id}")), "{line}");
            let results = &shop.sandbox.files()["out/results.yaml"];
            assert!(results.contains(&format!("- image: {SHELL} ({id})\n")), "{results}");
        }
    }
}

#[test]
fn images_are_pulled_according_to_the_policy() {
    let Some(shop) = Shop::with_engine() else { return };
    let eval = |image: &str, policy: &str| {
        let line = format!("krm fn eval shop -q -i {image} -e DO --image-pull-policy {policy}");
        let ran = shop.run("cat", &line);
        (ran.exit, ran.stderr)
    };
    let (exit, stderr) = eval("example.com/krm-cli-tests/no-such:v1", "Never");
    let expected = "error[image-pull-disabled]: cannot run function `example.com/krm-cli-tests/no-such:v1`: the image is not present and the pull policy is Never\nhelp: pull the image, or use another --image-pull-policy\n";
    assert_eq!((exit, stderr.as_str()), (4, expected));
    assert_eq!(eval(REMOTE, "Never").0, 0);
    assert_eq!(eval(REMOTE, "IfNotPresent").0, 0);
    let missing = REMOTE.replace("shell", "no-such");
    for (image, policy) in [(REMOTE, "Always"), (missing.as_str(), "IfNotPresent")] {
        let (exit, stderr) = eval(image, policy);
        assert_eq!(exit, 4, "{stderr}");
        assert!(stderr.contains("error[image-pull-failed]: cannot run function"), "{stderr}");
        assert!(stderr.contains("refused"), "{stderr}");
    }
    assert_eq!(eval(REMOTE, "Sometimes").0, 2);
}

#[test]
fn built_in_function_runs_in_its_container_if_requested() {
    for shop in Shop::all() {
        let eval = |flags: &str| {
            let prefix = "--image-prefix example.com/krm-cli-tests";
            let line = format!(
                "krm fn eval shop -i set-labels:v0.2 {prefix} -e DO --image-pull-policy never --diff {flags} -- app=web"
            );
            shop.run("tr x y | cat; echo inside >&2; exit 6", &line)
        };
        let built_in = eval("");
        assert_eq!(built_in.exit, 0, "{}", built_in.stderr);
        assert!(built_in.stdout.contains("+    app: web"), "{}", built_in.stdout);
        let container = eval("--no-builtin");
        assert_eq!(container.exit, 4, "{}", container.stderr);
        let expected = format!("function `{LABELS}` failed: exited with code 6\n");
        assert!(container.stderr.contains(&expected), "{}", container.stderr);
        assert!(container.stderr.contains("inside"), "{}", container.stderr);
    }
}
