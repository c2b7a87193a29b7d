//! Runs the examples of a crate.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// What an example printed to standard output for these arguments and this input.
///
/// # Panics
/// If the example fails, or is not compiled. `cargo test` compiles the examples of a crate with its tests; `cargo test --test` does not.
pub fn run_example(name: &str, arguments: &[&str], input: &str) -> String {
    let tests = std::env::current_exe().expect("the path of the test binary");
    let directory = tests.ancestors().nth(2).expect("tests are built in `deps`").join("examples");
    let program = directory.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "compile the examples first: cargo build --examples -p CRATE");

    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the example starts");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    // An example without input may end before it is written.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the example ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{name} failed: {}", text(&output.stderr));
    text(&output.stdout)
}
