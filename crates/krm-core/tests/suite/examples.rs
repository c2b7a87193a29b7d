//! The programs in `examples`.

#[test]
fn diff_prints_changed_values() {
    let directory = std::env::temp_dir().join(format!("krm-core-example-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let write = |name: &str, replicas: &str| {
        let path = directory.join(name);
        let text = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: {replicas}\n"
        );
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (old, new) = (write("old.yaml", "3"), write("new.yaml", "5 # more"));
    let printed = krm_testkit::run_example("diff", &[&old, &new], "");
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(printed, "changed Deployment web in all.yaml\n  ~ spec.replicas: 3 → 5\n");
}
