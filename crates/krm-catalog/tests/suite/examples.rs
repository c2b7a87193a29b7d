//! The programs in `examples`.

#[test]
fn call_runs_a_built_in_function() {
    let input = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web # the shop\n";
    let printed = krm_testkit::run_example("call", &["set-namespace", "namespace=shop"], input);
    assert_eq!(printed, format!("{input}  namespace: shop\n"));
}
