//! Whatever a container does wrong, it is named with how it ended, and the files stay as they were.

use super::{RESOURCE, SHELL, Shop, engine};
use crate::peak_memory;

#[test]
fn failure_shows_the_exit_code_and_the_last_lines_of_stderr() {
    let Some(shop) = Shop::new() else { return };
    let said = shop.fails("cat; echo one >&2; echo two >&2; exit 5", "-q");
    let wanted = format!(
        "error: function `{SHELL}` ended with exit code 5; it said last:\n         one\n         two\n"
    );
    assert_eq!(said, wanted);
}

#[test]
fn function_that_does_not_read_its_input_can_report_an_error() {
    let Some(shop) = Shop::new() else { return };
    // More than a pipe holds.
    let many =
        |number| format!("{}---\n", RESOURCE.replace("name: a", &format!("name: a{number}")));
    let many: String = (0..2_000).map(many).collect();
    shop.sandbox.write("big/all.yaml", many.as_bytes());
    let line = format!("krm fn eval big -q -i {SHELL} --image-pull-policy never -e DO");
    let ran = shop.run("exec <&-; echo not interested >&2; exit 7", &line);
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
    let words = "ended with exit code 7; it said last:\n         not interested\n";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    let ran = shop.run("echo kind: ResourceList; echo \"items: []\"", &line);
    assert!(ran.stderr.contains("would be deleted"), "{}", ran.stderr);
    assert_eq!((ran.exit, &shop.sandbox.files()["big/all.yaml"]), (4, &many));
}

#[test]
fn signal_is_recognized_by_its_exit_code() {
    let Some(shop) = Shop::new() else { return };
    // The first process of a container is not ended by its own signal.
    let said = shop.fails("sh -c \"kill -ABRT \\$\\$\"; exit $?", "-q");
    let words = format!("error: function `{SHELL}` ended with exit code 134");
    assert!(said.starts_with(&words), "{said}");
    let hint = "\nhelp: an exit code above 128 is usually a signal: 6 (SIGABRT)\n";
    assert!(said.ends_with(hint), "{said}");
}

#[test]
fn invalid_output_is_an_error() {
    let Some(shop) = Shop::new() else { return };
    let said = |script: &str| shop.fails(script, "-q");
    let cases = [
        ("true", "ended with exit code 0 and wrote nothing"),
        ("cat; printf \"\\377\"", "wrote what is not UTF-8, from byte "),
        ("head -c 60", " --> (output):"),
        ("echo hello", "a ResourceList is wanted, and this has no `kind`"),
    ];
    for (script, words) in cases {
        let said = said(script);
        assert!(said.starts_with(&format!("error: function `{SHELL}`")), "{said}");
        assert!(said.contains(words), "{script}: {said}");
    }
}

#[test]
fn endless_stderr_takes_bounded_memory() {
    let Some(shop) = Shop::new() else { return };
    // A gigabyte takes an engine half a minute; this is far more than krm may take.
    let script = "head -c 200m /dev/zero | tr \"\\0\" \"\\n\" >&2; echo the end >&2; exit 3";
    let mut command = crate::sandbox::krm();
    command.current_dir(shop.sandbox.path()).env("DO", script);
    command.args(["fn", "eval", "shop", "-q", "-i", SHELL, "--image-pull-policy", "never"]);
    let (ran, bytes) = peak_memory::measure(command.args(["-e", "DO", "--runtime", &engine()]));
    let words = "ended with exit code 3; it said last:\n         the end\n";
    assert!(ran.exit == 4 && ran.stderr.contains(words), "{}", ran.stderr);
    assert!(bytes < 150 << 20, "{bytes} bytes");
}
