//! The programs in `examples`.

#[test]
fn set_changes_one_value() {
    let input = "spec:\n  replicas: 3   # for now\n  image: 'web:1'\n";
    let printed = krm_testkit::run_example("set", &["spec.replicas", "5"], input);
    assert_eq!(printed, input.replace('3', "5"));
    let printed = krm_testkit::run_example("set", &["spec.image", "web:2"], input);
    assert_eq!(printed, input.replace("web:1", "web:2"));
}
