//! `krm yaml merge3` as git's merge driver and mergetool, with the real git.

use crate::sandbox::Sandbox;

const BASE: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1 # few
  template:
    spec:
      containers:
      - name: web
        image: web:1
";

/// A repository in which two branches changed the same file; `main` is checked out.
fn repository(ours: &str, theirs: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("base/web.yaml", BASE.as_bytes());
    sandbox.write("ours/web.yaml", ours.as_bytes());
    sandbox.write("theirs/web.yaml", theirs.as_bytes());
    let ran = git(
        &sandbox,
        "git init -q -b main repo && cd repo \
         && cp ../base/web.yaml . && echo '*.yaml merge=krm' > .gitattributes \
         && git add . && git commit -q -m base \
         && git checkout -q -b theirs && cp ../theirs/web.yaml . && git commit -q -a -m theirs \
         && git checkout -q main && cp ../ours/web.yaml . && git commit -q -a -m ours",
    );
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
    sandbox
}

fn git(sandbox: &Sandbox, line: &str) -> crate::sandbox::Output {
    let env = "export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nowhere \
               GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
    sandbox.run(&format!("{env}; {line}"))
}

/// The configuration that the documentation page shows.
const DRIVER: &str = "git config merge.krm.name 'semantic merge of YAML' && git config merge.krm.driver \
     'krm yaml merge3 --base %O --local %A --upstream %B --name %P -i --on-conflict mark --nulls value --sequences diff3'";

#[test]
fn merge_driver_merges_what_git_alone_cannot() {
    let ours =
        BASE.replace("image: web:1", "image: web:1\n        # for a look\n        tty: true");
    let theirs = BASE.replace("image: web:1", "image: web:2\n        args: [--fast]");
    let sandbox = repository(&ours, &theirs);
    let alone = git(&sandbox, "cp -r repo alone && cd alone && git merge -q theirs -m merged");
    assert_ne!(alone.exit, 0, "git alone sees a conflict of lines");
    let ran = git(&sandbox, &format!("cd repo && {DRIVER} && git merge -q theirs -m merged"));
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
    let merged = ours.replace("image: web:1", "image: web:2\n        args: [--fast]");
    assert_eq!(sandbox.files()["repo/web.yaml"], merged);
}

#[test]
fn conflict_stops_the_merge_and_can_be_resolved_later() {
    let ours = BASE.replace("replicas: 1 # few", "replicas: 3 # few");
    let theirs = BASE.replace("replicas: 1", "replicas: 2").replace("web:1", "web:2");
    let sandbox = repository(&ours, &theirs);
    let ran = git(&sandbox, &format!("cd repo && {DRIVER} && git merge -q theirs -m merged"));
    assert_eq!(ran.exit, 1);
    assert!(ran.stderr.contains("`spec.replicas` was changed on both sides"), "{}", ran.stderr);
    assert!(ran.stderr.contains("web.yaml:5:13"), "the diagnostic names the file: {}", ran.stderr);
    let text = sandbox.files()["repo/web.yaml"].clone();
    assert!(text.contains("krm-conflict") && text.contains("replicas: 2"), "{text}");
    assert!(!text.contains("<<<<<<<"), "{text}");
    let settle = "krm yaml merge3 --resolve local web.yaml && git commit -q -a -m merged";
    let ran = git(&sandbox, &format!("cd repo && {settle}"));
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, "1 file changed in 1 ms\n"));
    assert_eq!(sandbox.files()["repo/web.yaml"], ours.replace("web:1", "web:2"));
}

#[test]
fn mergetool_merges_what_git_could_not() {
    let ours = BASE.replace("image: web:1", "image: web:1\n        tty: true");
    let theirs = BASE.replace("image: web:1", "image: web:2");
    let sandbox = repository(&ours, &theirs);
    let tool = "git config mergetool.krm.cmd \
         'cp \"$LOCAL\" \"$MERGED\" && krm yaml merge3 --base \"$BASE\" --local \"$MERGED\" --upstream \"$REMOTE\" -i --on-conflict mark' \
         && git config mergetool.krm.trustExitCode true && git config mergetool.keepBackup false";
    let line = format!(
        "cd repo && rm .gitattributes && git commit -q -a -m plain && {tool} \
         && ! git merge -q theirs -m merged > /dev/null && git mergetool -y -t krm > /dev/null && git commit -q -m merged"
    );
    let ran = git(&sandbox, &line);
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, "1 file changed in 1 ms\n"), "{}", ran.stdout);
    assert_eq!(sandbox.files()["repo/web.yaml"], ours.replace("web:1", "web:2"));
}
