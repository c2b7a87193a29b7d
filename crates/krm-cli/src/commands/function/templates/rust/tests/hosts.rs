//! The cases again, with the compiled program under the hosts that are installed.

use std::path::Path;

use krm_sdk::testing::{Host, Program, golden_under};

#[test]
fn cases_under_krm_kpt_and_kustomize() {
    let program = Path::new(env!("CARGO_BIN_EXE_{{name}}"));
    for host in [Host::Krm, Host::Kpt, Host::Kustomize] {
        golden_under(host, "tests/cases", Program::Exec(program));
    }
}
