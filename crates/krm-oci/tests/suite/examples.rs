//! The programs in `examples`.

#[test]
fn digest_depends_on_names_and_contents_only() {
    let digest = |files: &[(&str, &str)]| {
        let directory = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(directory.path().join(name), content).unwrap();
        }
        krm_testkit::run_example("digest", &[directory.path().to_str().unwrap()], "")
    };
    let first = digest(&[("Kptfile", "kind: Kptfile\n"), ("a.yaml", "kind: Pod\n")]);
    assert!(first.starts_with("sha256:") && first.len() == 72, "{first}");
    assert_eq!(digest(&[("a.yaml", "kind: Pod\n"), ("Kptfile", "kind: Kptfile\n")]), first);
    assert_ne!(digest(&[("b.yaml", "kind: Pod\n"), ("Kptfile", "kind: Kptfile\n")]), first);
}
