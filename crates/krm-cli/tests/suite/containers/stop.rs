//! Containers are removed after a timeout, a signal or an error.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use super::{RESOURCE, SHELL, Shop, ask, engine};
use crate::functions::wait_for;
use crate::sandbox::krm;

/// The state of the container of an image, if there is one.
fn state(image: &str) -> Option<String> {
    let list = ask(&["ps", "--all", "--format={{.Image}} {{.Status}}"]).unwrap();
    let found = list.lines().find_map(|line| line.strip_prefix(image)?.strip_prefix(' '));
    found.map(str::to_owned)
}

#[test]
fn container_is_removed_after_its_timeout() {
    let Some(shop) = Shop::with_engine() else { return };
    let image = SHELL.replace("v1", "late");
    ask(&["tag", SHELL, &image]).unwrap();
    let line =
        format!("krm fn eval shop -q -i {image} --image-pull-policy never -e DO --timeout 5s");
    let ran = shop.run("echo working >&2; sleep 600; cat", &line);
    let expected = format!(
        "error[function-timeout]: function `{image}` failed: timed out after 5 seconds\nnote: last lines of stderr:\n  | working\nhelp: use --timeout to allow more time\n"
    );
    assert_eq!((ran.exit, ran.stderr), (4, expected));
    assert_eq!(state(&image), None);
    shop.is_clean();
}

#[test]
fn signal_to_krm_stops_the_container_and_leaves_files_unchanged() {
    let Some(shop) = Shop::with_engine() else { return };
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let image = SHELL.replace("v1", &signal.to_lowercase());
        ask(&["tag", SHELL, &image]).unwrap();
        let mut child = krm()
            .args(["fn", "eval", "shop", "-q", "-i", &image, "--image-pull-policy", "never"])
            .args(["-e", "DO=sleep 600; cat", "--runtime", &engine()])
            .env("TMPDIR", shop.sandbox.path().join("tmp"))
            .current_dir(shop.sandbox.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for(|| state(&image).filter(|state| state.starts_with("Up")));
        let sent =
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        let status = child.wait().unwrap();
        let mut stderr = String::new();
        child.stderr.as_mut().unwrap().read_to_string(&mut stderr).unwrap();
        let expected =
            format!("error[function-interrupted]: function `{image}` failed: interrupted\n");
        assert_eq!((status.signal(), stderr), (Some(number), expected), "{signal}");
        assert_eq!(state(&image), None, "{signal}");
        assert_eq!(fs::read_to_string(shop.sandbox.path().join("shop/a.yaml")).unwrap(), RESOURCE);
        shop.is_clean();
    }
}

#[test]
fn unreadable_package_leaves_no_container() {
    let Some(shop) = Shop::with_engine() else { return };
    let image = SHELL.replace("v1", "unread");
    ask(&["tag", SHELL, &image]).unwrap();
    shop.sandbox.write("shop/b.yaml", b"a: [\n");
    let line = format!("krm fn eval shop -i {image} --image-pull-policy never -e DO");
    let ran = shop.run("sleep 600", &line);
    assert_eq!(ran.exit, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("shop/b.yaml:"), "{}", ran.stderr);
    assert_eq!(state(&image), None);
    shop.is_clean();
}

#[test]
fn container_with_a_mount_does_not_run_for_an_unreadable_package() {
    let Some(shop) = Shop::with_engine() else { return };
    shop.sandbox.write("shop/b.yaml", b"a: [\n");
    let ran =
        shop.eval("echo done >/mine/file; cat", "--mount type=bind,src=folder,dst=/mine,rw=true");
    assert_eq!(ran.exit, 3, "{}", ran.stderr);
    assert_eq!(shop.sandbox.files()["folder/file"], "of the machine\n");
    shop.is_clean();
}
