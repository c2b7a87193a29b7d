//! A git repository with packages, and a directory in which krm works with them.

use crate::sandbox::{Output, Sandbox};

/// Deterministic commits, and no configuration of this machine.
pub(crate) const ENVIRONMENT: &str = "export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=$PWD/home \
    GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com \
    GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'";

pub(crate) const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1 # few
  template:
    spec:
      containers:
      - name: web
        image: shop/web:1.0
";

pub(crate) const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  ports:
  - port: 80
";

pub(crate) const KPTFILE: &str = "\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: shop
info:
  description: The web shop # short
";

/// A sandbox with the repository `up`, in which the directory `shop` is a package.
pub(crate) struct Remote {
    pub(crate) sandbox: Sandbox,
}

impl Remote {
    /// A repository with the tag `v1`.
    pub(crate) fn new() -> Self {
        let remote = Self { sandbox: Sandbox::new() };
        remote.ok("git init -q -b main up && cd up && git config uploadpack.allowFilter true");
        remote.commit(
            "v1",
            &[
                ("shop/Kptfile", KPTFILE),
                ("shop/deployment.yaml", DEPLOYMENT),
                ("shop/service.yaml", SERVICE),
                ("shop/README.md", "# shop\n"),
                ("other/a.yaml", "a: 1\n"),
            ],
        );
        remote
    }

    /// Writes files to the repository, commits them and sets a tag. An empty text deletes a file.
    pub(crate) fn commit(&self, tag: &str, files: &[(&str, &str)]) {
        for (name, text) in files {
            match text.is_empty() {
                true => _ = self.ok(&format!("rm up/{name}")),
                false => self.sandbox.write(&format!("up/{name}"), text.as_bytes()),
            }
        }
        self.ok(&format!(
            "cd up && git add -A && git commit -q -m '{tag}' && git tag -f '{tag}' >/dev/null"
        ));
    }

    /// Runs a line in which `krm` is the program under test.
    pub(crate) fn run(&self, line: &str) -> Output {
        self.sandbox.run(&format!("{ENVIRONMENT}; {line}"))
    }

    /// Runs a line that must succeed, and returns what it prints.
    pub(crate) fn ok(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!(ran.exit, 0, "{line}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Runs a line that must fail with this exit code, and returns what it prints to standard error.
    pub(crate) fn fails(&self, exit: i32, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!(ran.exit, exit, "{line}\n{}{}", ran.stdout, ran.stderr);
        ran.stderr
    }

    /// Gets the package at `v1`.
    pub(crate) fn get(&self) {
        self.ok("krm pkg get -q up/shop@v1");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.sandbox.path().join(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.sandbox.write(name, text.as_bytes());
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.sandbox.path().join(name).exists()
    }

    /// The files of the package, with their contents.
    pub(crate) fn package(&self) -> std::collections::BTreeMap<String, String> {
        self.package_in("shop")
    }

    /// The files of a directory, with their contents.
    pub(crate) fn package_in(&self, directory: &str) -> std::collections::BTreeMap<String, String> {
        let is_inside =
            |name: &str| name.strip_prefix(directory).is_some_and(|it| it.starts_with('/'));
        let files = self.sandbox.files().into_iter();
        files.filter(|(name, _)| is_inside(name)).collect()
    }

    pub(crate) fn commit_of(&self, reference: &str) -> String {
        self.ok(&format!("git -C up rev-parse '{reference}^{{commit}}'")).trim().to_owned()
    }
}

/// Creates the bare repository `packages.git` of the examples in the documentation, with the tags v1.0, v1.1 and v2.0.
pub(crate) fn packages(sandbox: &Sandbox) {
    let deployment = |replicas: u32, image: &str| {
        DEPLOYMENT
            .replace("replicas: 1 # few", &format!("replicas: {replicas} # per zone"))
            .replace("web:1.0", image)
    };
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  log: info\n";
    let versions: [(&str, &[(&str, String)]); 3] = [
        (
            "v1.0",
            &[
                ("Kptfile", KPTFILE.to_owned()),
                ("deployment.yaml", deployment(1, "web:1.0")),
                ("service.yaml", SERVICE.to_owned()),
            ],
        ),
        (
            "v1.1",
            &[("deployment.yaml", deployment(1, "web:1.1")), ("config.yaml", config.to_owned())],
        ),
        ("v2.0", &[("deployment.yaml", deployment(2, "web:2.0"))]),
    ];
    let run = |line: &str| {
        let ran = sandbox.run(&format!("{ENVIRONMENT}; {line}"));
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
    };
    run("git init -q -b main source");
    for (tag, files) in versions {
        files.iter().for_each(|(name, text)| {
            sandbox.write(&format!("source/shop/{name}"), text.as_bytes());
        });
        run(&format!("cd source && git add . && git commit -q -m {tag} && git tag {tag}"));
    }
    run(
        "git clone -q --bare source packages.git && git -C packages.git config uploadpack.allowFilter true && rm -rf source",
    );
}
