//! `krm pkg vendor`, `--locked`, and `krm pkg migrate`.

use super::repository::{DEPLOYMENT, KPTFILE, Remote};

#[test]
fn locked_update_takes_the_commit_of_the_lock_file() {
    let remote = Remote::new();
    remote.ok("krm pkg get -q up/shop@main");
    remote.ok("krm pkg vendor .");
    let lock = remote.read("krm.lock");
    let commit = remote.commit_of("v1");
    assert!(
        lock.contains("- path: shop\n") && lock.contains(&format!("  commit: {commit}\n")),
        "{lock}"
    );
    remote.ok("krm pkg vendor . --check");
    // Upstream moves on; the lock file does not.
    remote.commit("v2", &[("shop/README.md", "# 2\n")]);
    remote.ok("krm pkg update -q shop --locked");
    assert_eq!(remote.read("shop/README.md"), "# shop\n");
    remote.ok("krm pkg update -q shop");
    assert_eq!(remote.read("shop/README.md"), "# 2\n");
    assert_eq!(remote.run("krm pkg vendor . --check").exit, 1);
    remote.ok("krm pkg vendor .");
    assert!(remote.read("krm.lock").contains(&remote.commit_of("v2")));
    // Another reference, and a package without an entry.
    let error = remote.fails(3, "krm pkg update shop@v1 --locked");
    assert!(error.contains("error[lock-mismatch]: shop:"), "{error}");
    remote.ok("krm pkg get -q up/shop@v1 second");
    assert!(
        remote.fails(3, "krm pkg update second --locked").contains("error[not-locked]: second:")
    );
}

#[test]
fn entries_of_images_and_charts_are_kept() {
    let remote = Remote::new();
    remote.get();
    let images = "images:\n- image: ghcr.io/x/y:v1\n  digest: sha256:00\n";
    let charts = "charts:\n- repo: https://charts.example.com\n  name: redis\n  version: \"1.0\"\n  digest: sha256:11\n";
    remote.write("krm.lock", &format!("version: 1\n{images}{charts}"));
    remote.ok("krm pkg vendor");
    let lock = remote.read("krm.lock");
    assert!(
        lock.contains("- path: shop\n") && lock.ends_with(&format!("{images}{charts}")),
        "{lock}"
    );
    remote.write("krm.lock", "version: 7\n");
    let error = remote.fails(3, "krm pkg vendor");
    assert!(
        error.contains("error[invalid-lock-file]") && error.contains("expected `version: 1`"),
        "{error}"
    );
}

const OLD: &str = "\
apiVersion: kpt.dev/v1alpha1
kind: Kptfile
metadata:
  name: old # mine
packageMetadata:
  shortDescription: An old package
openAPI:
  definitions:
    io.k8s.cli.setters.replicas:
      x-k8s-cli:
        setter:
          name: replicas
          value: \"3\"
";

#[test]
fn migrated_package_renders_to_itself() {
    let remote = Remote::new();
    let deployment =
        DEPLOYMENT.replace("replicas: 1 # few", "replicas: 3 # {\"$kpt-set\":\"replicas\"}");
    remote.write("old/Kptfile", OLD);
    remote.write("old/web.yaml", &deployment);
    remote.write("old/notes.txt", "stays\n");
    assert_eq!(remote.run("krm pkg migrate old --check").exit, 1);
    assert_eq!(remote.read("old/Kptfile"), OLD);
    let ran = remote.run("krm pkg migrate old");
    assert_eq!((ran.exit, &*ran.stderr), (0, "created old/setters.yaml\n"));
    let kptfile = remote.read("old/Kptfile");
    assert!(
        kptfile.contains("apiVersion: kpt.dev/v1\n") && kptfile.contains("name: old # mine\n"),
        "{kptfile}"
    );
    assert!(remote.read("old/web.yaml").contains("replicas: 3 # kpt-set: ${replicas}\n"));
    assert_eq!(remote.read("old/notes.txt"), "stays\n");
    remote.ok("krm fn render old --check -q && krm pkg migrate old --check");
}

#[test]
fn migration_that_cannot_be_rendered_is_refused_and_names_the_package() {
    let remote = Remote::new();
    let pipeline = "pipeline:\n  mutators:\n  - image: example.com/own:v1\n";
    remote.write("old/Kptfile", &format!("{OLD}{pipeline}"));
    let error = remote.fails(3, "krm pkg migrate old");
    assert!(error.contains("error[function-not-built-in]"), "{error}");
    assert!(error.contains("--> old/Kptfile:"), "{error}");
    assert!(error.contains("error[migration-failed]") && error.contains("--no-verify"), "{error}");
    assert!(!error.contains("krm-migrate"), "the temporary copy is not shown: {error}");
    // Nothing to migrate is nothing to render.
    remote.write("new/Kptfile", &format!("{KPTFILE}{pipeline}"));
    remote.ok("krm pkg migrate new");
}

#[test]
fn migration_that_would_change_resources_is_refused() {
    let remote = Remote::new();
    let deployment =
        DEPLOYMENT.replace("replicas: 1 # few", "replicas: 4 # {\"$kpt-set\":\"replicas\"}");
    remote.write("old/Kptfile", OLD);
    remote.write("old/web.yaml", &deployment);
    let error = remote.fails(3, "krm pkg migrate old");
    assert!(
        error.contains("error[migration-changes]: old:") && error.contains("changes web.yaml"),
        "{error}"
    );
    assert!(!error.contains("krm-migrate"), "the temporary copy is not shown: {error}");
    assert_eq!(
        (remote.read("old/Kptfile"), remote.read("old/web.yaml")),
        (OLD.to_owned(), deployment)
    );
    remote.ok("krm pkg migrate -q old --no-verify");
    assert!(remote.read("old/Kptfile").contains("kpt.dev/v1\n"));
    assert!(remote.fails(3, "krm pkg migrate up/other").contains("error[no-package]"));
}
