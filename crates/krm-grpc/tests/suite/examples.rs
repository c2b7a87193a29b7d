//! The programs in `examples`.

#[test]
fn evaluate_asks_its_own_server() {
    assert_eq!(krm_testkit::run_example("evaluate", &[], "hello\n"), "HELLO\n");
}
