//! Failures of containers are reported with their cause, and files stay unchanged.

use super::{RESOURCE, SHELL, Shop};
use crate::peak_memory;

#[test]
fn failure_shows_the_exit_code_and_the_last_lines_of_stderr() {
    for shop in Shop::all() {
        let stderr = shop.fails("cat; echo one >&2; echo two >&2; exit 5", "-q");
        let expected = format!(
            "error[function-exit-code]: function `{SHELL}` failed: exited with code 5\nnote: last lines of stderr:\n  | one\n  | two\n"
        );
        assert_eq!(stderr, expected);
    }
}

#[test]
fn function_that_does_not_read_its_input_can_report_an_error() {
    for shop in Shop::all() {
        // More than a pipe buffer holds.
        let many =
            |number| format!("{}---\n", RESOURCE.replace("name: a", &format!("name: a{number}")));
        let many: String = (0..2_000).map(many).collect();
        shop.sandbox.write("big/all.yaml", many.as_bytes());
        let line = format!("krm fn eval big -q -i {SHELL} --image-pull-policy never -e DO");
        let ran = shop.run("exec <&-; echo not interested >&2; exit 7", &line);
        assert_eq!(ran.exit, 4, "{}", ran.stderr);
        let expected = "exited with code 7\nnote: last lines of stderr:\n  | not interested\n";
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        let ran = shop.run("echo kind: ResourceList; echo \"items: []\"", &line);
        assert!(ran.stderr.contains("would be deleted"), "{}", ran.stderr);
        assert_eq!((ran.exit, &shop.sandbox.files()["big/all.yaml"]), (4, &many));
    }
}

#[test]
fn signal_is_recognized_by_its_exit_code() {
    for shop in Shop::all() {
        // The first process of a container is not ended by its own signal.
        let stderr = shop.fails("sh -c \"kill -ABRT \\$\\$\"; exit $?", "-q");
        let expected =
            format!("error[function-exit-code]: function `{SHELL}` failed: exited with code 134");
        assert!(stderr.starts_with(&expected), "{stderr}");
        let hint = "\nhelp: exit codes above 128 usually stand for a signal, here 6 (SIGABRT)\n";
        assert!(stderr.ends_with(hint), "{stderr}");
    }
}

#[test]
fn invalid_output_is_an_error() {
    for shop in Shop::all() {
        let stderr = |script: &str| shop.fails(script, "-q");
        let cases = [
            ("true", "exited with code 0 but wrote nothing to stdout"),
            ("cat; printf \"\\377\"", "stdout is not valid UTF-8 at byte "),
            ("head -c 60", " --> (output):"),
            ("echo hello", "ResourceList"),
        ];
        for (script, expected) in cases {
            let stderr = stderr(script);
            assert!(stderr.starts_with("error["), "{stderr}");
            assert!(stderr.contains(&format!("]: function `{SHELL}` failed: ")), "{stderr}");
            assert!(stderr.contains(expected), "{script}: {stderr}");
        }
    }
}

#[test]
fn endless_stderr_takes_bounded_memory() {
    for shop in Shop::all() {
        // Much more than the limit below; a gigabyte would take an engine half a minute.
        let script = "head -c 200m /dev/zero | tr \"\\0\" \"\\n\" >&2; echo the end >&2; exit 3";
        let mut command = crate::sandbox::krm();
        command.current_dir(shop.sandbox.path()).env("DO", script).envs(shop.store());
        command.args(["fn", "eval", "shop", "-q", "-i", SHELL, "--image-pull-policy", "never"]);
        let (ran, bytes) =
            peak_memory::measure(command.args(["-e", "DO", "--runtime", &shop.runtime]));
        let expected = "exited with code 3\nnote: last lines of stderr:\n  | the end\n";
        assert!(ran.exit == 4 && ran.stderr.contains(expected), "{}", ran.stderr);
        assert!(bytes < 150 << 20, "{bytes} bytes");
    }
}
