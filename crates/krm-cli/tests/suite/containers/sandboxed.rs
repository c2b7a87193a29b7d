//! Images without a container engine: what a function sees from inside, how it ends, and how images get into the store.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::images::{Registry, runtimes};
use super::{RESOURCE, RUN_SCRIPT, SHELL, Shop, root};
use crate::functions::wait_for;
use crate::sandbox::{Output, Sandbox, krm};

/// A package for each runtime without an engine.
fn shops() -> impl Iterator<Item = Shop> {
    runtimes().iter().map(|runtime| Shop::with(runtime))
}

/// Whether a process with this argument exists.
fn is_running(argument: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line.split(|byte| *byte == 0).any(|it| it == argument.as_bytes()))
}

#[test]
fn function_has_no_privileges_and_sees_only_itself() {
    for shop in shops() {
        let lines = shop.stderr_of("while read it; do echo $it; done </proc/self/status", "");
        let fact = |name: &str| {
            let line = lines.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
            line.unwrap_or("missing").split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            (fact("Uid"), fact("Gid")),
            ("65534 ".repeat(4).trim().into(), "65534 ".repeat(4).trim().into())
        );
        for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            assert_eq!(fact(set), "0000000000000000", "{set}");
        }
        assert_eq!((fact("NoNewPrivs"), fact("Seccomp")), ("1".into(), "2".into()));
        let mounts = shop.stderr_of("cat /proc/mounts", "");
        let flags = |target: &str| {
            let found = mounts.lines().rfind(|line| line.split(' ').nth(1) == Some(target));
            found.and_then(|line| line.split(' ').nth(3)).unwrap_or("missing").to_owned()
        };
        assert!(flags("/").starts_with("ro,nosuid,nodev"), "{mounts}");
        assert!(
            flags("/tmp").starts_with("rw,nosuid,nodev") && flags("/tmp").contains("size="),
            "{mounts}"
        );
        assert!(!mounts.contains("/old") && !mounts.contains("/new"), "{mounts}");
        let seen = shop.stderr_of(
            "for it in /proc/[0-9]*; do echo $it; done; cat /proc/sys/kernel/hostname",
            "",
        );
        let processes = seen.lines().filter(|line| line.starts_with("/proc/")).count();
        assert!((1..5).contains(&processes) && seen.ends_with("krm\n"), "{seen}");
    }
}

#[test]
fn files_that_krm_inherits_are_closed() {
    for shop in shops() {
        shop.sandbox.write("secret", b"hush\n");
        let line = format!(
            "exec 7<secret; krm fn eval shop -q -i {SHELL} --image-pull-policy never -e DO --results-dir out"
        );
        let ran = shop.run("cat; (cat <&7) >&2 || echo closed >&2", &line);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        let stderr = shop.recorded_stderr();
        assert!(stderr.contains("closed") && !stderr.contains("hush"), "{stderr}");
    }
}

#[test]
fn timeout_ends_every_process_of_a_function() {
    for shop in shops() {
        let late = format!("600.{}", std::process::id());
        // A process in a session of its own is outside of the process group.
        let script = format!("(sleep {late} &); echo working >&2; sleep {late}; cat");
        let stderr = shop.fails(&script, "-q --timeout 2s");
        assert!(
            stderr.contains("timed out after 2 seconds\nnote: last lines of stderr:\n  | working"),
            "{stderr}"
        );
        // krm has killed process 1; the kernel ends the others a moment later.
        wait_for(|| (!is_running(&late)).then_some(()));
    }
}

#[test]
fn function_ends_with_krm_however_krm_ends() {
    for shop in shops() {
        for (at, signal) in ["KILL", "TERM", "INT"].into_iter().enumerate() {
            let late = format!("60{at}.{}", std::process::id());
            let mut child = krm()
                .args(["fn", "eval", "shop", "-q", "-i", SHELL, "--image-pull-policy", "never"])
                .args(["-e", &format!("DO=sleep {late}; cat"), "--runtime", &shop.runtime])
                .envs(shop.store())
                .current_dir(shop.sandbox.path())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            wait_for(|| is_running(&late).then_some(()));
            let sent = Command::new("kill")
                .args([&format!("-{signal}"), &child.id().to_string()])
                .status();
            assert!(sent.unwrap().success());
            child.wait().unwrap();
            wait_for(|| (!is_running(&late)).then_some(()));
            assert_eq!(shop.sandbox.files()["shop/a.yaml"], RESOURCE);
        }
    }
}

/// A store of its own, and a registry.
struct Pulls {
    registry: Registry,
    shop: Shop,
    root: tempfile::TempDir,
}

impl Pulls {
    fn new() -> Option<Self> {
        let runtime = runtimes().first()?;
        let registry = Registry::start().unwrap();
        Some(Self { registry, shop: Shop::with(runtime), root: root().unwrap() })
    }

    fn push(&self, name: &str, config: &str) -> String {
        self.registry.push(name, self.root.path(), config)
    }

    /// Runs an image of the registry with a store in the package's directory.
    fn eval(&self, name: &str, script: &str, flags: &str) -> Output {
        let line = format!(
            "KRM_IMAGE_STORE=$PWD/store krm fn eval shop -q --runtime {} -i {}/{name} -e DO --results-dir out {flags}",
            self.shop.runtime, self.registry.host
        );
        self.shop.sandbox.run(&format!("export DO='{script}'; {line}"))
    }
}

#[test]
fn image_is_pulled_according_to_the_policy() {
    let Some(pulls) = Pulls::new() else { return };
    pulls.push("fn:v1", &format!(r#""Cmd":{RUN_SCRIPT}"#));
    let missing = pulls.eval("fn:v1", "cat", "--image-pull-policy never");
    assert_eq!(missing.exit, 4);
    assert!(missing.stderr.starts_with("error[image-pull-disabled]: "), "{}", missing.stderr);
    let pulled = pulls.eval("fn:v1", "cat", "");
    assert_eq!(pulled.exit, 0, "{}", pulled.stderr);
    assert_eq!(pulls.eval("fn:v1", "cat", "--image-pull-policy never").exit, 0);
    // The tag moves to an image whose command fails.
    pulls.push("fn:v1", r#""Entrypoint":["/bin/sh","-c"],"Cmd":["exit 6"]"#);
    assert_eq!(pulls.eval("fn:v1", "cat", "").exit, 0);
    let moved = pulls.eval("fn:v1", "cat", "--image-pull-policy always");
    assert!(moved.stderr.contains("exited with code 6"), "{}", moved.stderr);
    let none = pulls.eval("none:v1", "cat", "");
    assert_eq!(none.exit, 4);
    assert!(
        none.stderr.starts_with("error[image-unavailable]: cannot run function"),
        "{}",
        none.stderr
    );
}

#[test]
fn configuration_of_the_image_is_followed_and_does_not_reach_krm() {
    let Some(pulls) = Pulls::new() else { return };
    let config = r#""Entrypoint":["/bin/sh"],"Cmd":["-c","cat; echo $PWD $LD_PRELOAD $GREETING >&2"],"Env":["LD_PRELOAD=/open/evil.so","GREETING=hello"],"WorkingDir":"/not/there","User":"0:0""#;
    pulls.push("fn:env", config);
    let ran = pulls.eval("fn:env", "", "");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let stderr = pulls.shop.recorded_stderr();
    // The loader of the image complains about the library; that of krm has never heard of it.
    assert!(stderr.contains("/not/there /open/evil.so hello\n"), "{stderr}");
    pulls.push("fn:none", "");
    let none = pulls.eval("fn:none", "", "");
    assert!(none.stderr.contains("the image has no command"), "{}", none.stderr);
    pulls.push("fn:bad", r#""Cmd":["/bin/no-such-program"]"#);
    let bad = pulls.eval("fn:bad", "", "");
    assert!(bad.stderr.contains("error[cannot-start-function]"), "{}", bad.stderr);
    assert!(
        bad.stderr.contains("cannot start `/bin/no-such-program`: No such file"),
        "{}",
        bad.stderr
    );
}

#[test]
fn symlinks_of_an_image_lead_nowhere_but_into_the_image() {
    let Some(pulls) = Pulls::new() else { return };
    let (root, outside) = (pulls.root.path(), pulls.shop.sandbox.path().join("outside"));
    fs::create_dir(&outside).unwrap();
    for name in ["mine", "tmp", "dev"] {
        // Absolute, and through the names that the sandbox uses while it is built.
        let target = Path::new("/old").join(outside.strip_prefix("/").unwrap());
        std::os::unix::fs::symlink(target.join(name), root.join(name)).unwrap();
    }
    pulls.push("fn:links", &format!(r#""Cmd":{RUN_SCRIPT}"#));
    let ran = pulls.eval(
        "fn:links",
        "cat; echo x >/tmp/x",
        "--mount type=bind,src=folder,dst=/mine/deep",
    );
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{}", ran.stderr);
}

#[test]
fn processes_that_pull_the_same_image_do_not_disturb_each_other() {
    let Some(pulls) = Pulls::new() else { return };
    pulls.push("fn:v1", &format!(r#""Cmd":{RUN_SCRIPT}"#));
    std::thread::scope(|scope| {
        let runs: Vec<_> =
            (0..4).map(|_| scope.spawn(|| pulls.eval("fn:v1", "cat", "--diff"))).collect();
        for run in runs {
            let ran = run.join().unwrap();
            assert_eq!(ran.exit, 0, "{}", ran.stderr);
        }
    });
    let roots = fs::read_dir(pulls.shop.sandbox.path().join("store/roots")).unwrap().count();
    assert_eq!(roots, 2, "one root and its size");
}

#[test]
fn killed_pull_leaves_nothing_that_is_half_unpacked() {
    let Some(pulls) = Pulls::new() else { return };
    fs::write(pulls.root.path().join("large"), vec![b'x'; 64 << 20]).unwrap();
    pulls.push("fn:large", &format!(r#""Cmd":{RUN_SCRIPT}"#));
    let store = pulls.shop.sandbox.path().join("store");
    let image = format!("{}/fn:large", pulls.registry.host);
    let mut child = krm()
        .args([
            "fn",
            "eval",
            "shop",
            "-q",
            "-i",
            &image,
            "-e",
            "DO=cat",
            "--runtime",
            &pulls.shop.runtime,
        ])
        .env("KRM_IMAGE_STORE", &store)
        .current_dir(pulls.shop.sandbox.path())
        .spawn()
        .unwrap();
    wait_for(|| {
        let staged = fs::read_dir(store.join("staging")).into_iter().flatten().flatten();
        let is_unpacking = staged.into_iter().any(|it| it.path().is_dir());
        (is_unpacking || child.try_wait().unwrap().is_some()).then_some(())
    });
    let _ = child.kill();
    child.wait().unwrap();
    let ran = pulls.eval("fn:large", "cat; head -c 3 /large >&2; echo >&2; echo done >&2", "");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(pulls.shop.recorded_stderr(), "xxx\ndone\n");
}

#[test]
fn locked_image_runs_by_its_digest() {
    let Some(pulls) = Pulls::new() else { return };
    let digest = pulls.push("fn:v1", &format!(r#""Cmd":{RUN_SCRIPT}"#));
    let lock = |digest: &str| {
        let host = &pulls.registry.host;
        let text = format!("version: 1\nimages:\n- image: {host}/fn:v1\n  digest: {digest}\n");
        pulls.shop.sandbox.write("shop/krm.lock", text.as_bytes());
    };
    lock(&digest);
    // What the tag names now does not matter.
    pulls.push("fn:v1", r#""Cmd":["/bin/sh","-c","exit 6"]"#);
    let ran = pulls.eval("fn:v1", "cat", "--locked");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    lock(&format!("sha256:{}", "0".repeat(64)));
    let ran = pulls.eval("fn:v1", "cat", "--locked");
    assert!(ran.stderr.starts_with("error[image-unavailable]: "), "{}", ran.stderr);
}

/// Only the call is tested: the program is not the real cosign.
#[test]
fn cosign_is_called_where_the_lock_has_a_policy() {
    let Some(pulls) = Pulls::new() else { return };
    let digest = pulls.push("fn:v1", &format!(r#""Cmd":{RUN_SCRIPT}"#));
    let host = &pulls.registry.host;
    let lock = format!(
        "version: 1\nimages:\n- image: {host}/fn:v1\n  digest: {digest}\nsignatures:\n- images: {host}/*\n  key: cosign.pub\n"
    );
    pulls.shop.sandbox.write("shop/krm.lock", lock.as_bytes());
    let missing = pulls.eval("fn:v1", "cat", "--locked");
    assert_eq!(missing.exit, 4);
    assert!(missing.stderr.contains("error[cosign-missing]: "), "{}", missing.stderr);
    let script = "#!/bin/sh\necho \"$@\" >>$PWD/calls\n[ ! -e $PWD/refuse ] || { echo no matching signatures >&2; exit 1; }\n";
    pulls.shop.sandbox.write("bin/cosign", script.as_bytes());
    pulls.shop.sandbox.run("chmod +x bin/cosign");
    let line = format!(
        "PATH=$PWD/bin:$PATH KRM_IMAGE_STORE=$PWD/store krm fn eval shop -q --runtime {} -i {host}/fn:v1 -e DO=cat --locked",
        pulls.shop.runtime
    );
    let ran = pulls.shop.sandbox.run(&line);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let key = pulls.shop.sandbox.path().join("shop/cosign.pub");
    let key = key.parent().unwrap().canonicalize().unwrap().join("cosign.pub");
    let expected = format!("verify --key {} {host}/fn@{digest}\n", key.display());
    assert_eq!(pulls.shop.sandbox.files()["calls"], expected);
    pulls.shop.sandbox.write("refuse", b"");
    let refused = pulls.shop.sandbox.run(&line);
    assert_eq!(refused.exit, 4);
    let reason = "error[image-signature-not-verified]: ";
    assert!(
        refused.stderr.contains(reason) && refused.stderr.contains("no matching signatures"),
        "{}",
        refused.stderr
    );
}

#[test]
fn doctor_names_a_runtime_that_works() {
    let sandbox = Sandbox::new();
    let text = sandbox.run("krm fn doctor");
    let json = sandbox.run("krm fn doctor -o json");
    let is_usable = text.stdout.contains(": works, default: ");
    assert_eq!(text.exit, if is_usable { 0 } else { 1 }, "{}", text.stdout);
    let useless = "as root it cannot run functions as another user\n  install bubblewrap";
    assert!(!text.stdout.contains(useless), "{}", text.stdout);
    for name in ["krm", "bubblewrap", "docker", "podman", "nerdctl"] {
        assert!(text.stdout.contains(&format!("{name}: ")), "{}", text.stdout);
        assert!(
            json.stdout.contains(&format!(r#"{{"name":"{name}","usable":"#)),
            "{}",
            json.stdout
        );
    }
}
