//! Runs that are killed, and runs that wait for each other.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::repository::{DEPLOYMENT, Remote};
use crate::sandbox::krm;

fn start(remote: &Remote, arguments: &[&str]) -> Command {
    let mut command = krm();
    command.args(arguments).current_dir(remote.sandbox.path());
    command.env("KRM_CACHE_DIR", remote.sandbox.path().join("cache"));
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.stderr(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    command
}

#[test]
fn killed_run_leaves_the_old_or_the_new_package() {
    let remote = Remote::new();
    let files: Vec<(String, String)> = (0..30)
        .map(|at| {
            (format!("shop/r{at}.yaml"), DEPLOYMENT.replace("name: web", &format!("name: w{at}")))
        })
        .collect();
    let with = |tag: &str, image: &str| {
        let files: Vec<(String, String)> = files
            .iter()
            .map(|(name, text)| (name.clone(), text.replace("web:1.0", image)))
            .collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (&**name, &**text)).collect();
        remote.commit(tag, &files);
    };
    with("v2", "web:2.0");
    with("v3", "web:3.0");
    remote.ok("export KRM_CACHE_DIR=$PWD/cache; krm pkg get -q up/shop@v2 && cp -r shop old && cp -r shop new && krm pkg update -q new@v3");
    let versions = |remote: &Remote, dir: &str| {
        let count = |image: &str| {
            remote
                .run(&format!("grep -l {image} {dir}/r*.yaml | wc -l"))
                .stdout
                .trim()
                .parse::<usize>()
                .unwrap()
        };
        (count("web:2.0"), count("web:3.0"))
    };
    let mut killed = 0;
    for attempt in 0..24u64 {
        remote.ok("rm -rf shop && cp -r old shop");
        // A cold cache in every other attempt, so that the fetch is killed, too.
        if attempt % 2 == 0 {
            remote.ok("rm -rf cache");
        }
        let mut child = start(&remote, &["pkg", "update", "-q", "shop@v3"]).spawn().unwrap();
        match attempt % 3 {
            // As soon as files are renamed: the Kptfile, which names the version, is one of the first.
            0 => wait_for_commit(&mut child, &remote.sandbox.path().join("shop/.krm-journal")),
            _ => std::thread::sleep(Duration::from_millis(3 + attempt * 7)),
        }
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        let ran = remote.run("export KRM_CACHE_DIR=$PWD/cache; krm pkg update -q shop@v3");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        assert_eq!(versions(&remote, "shop"), (0, 30), "attempt {attempt}");
        assert_eq!(
            remote.read("shop/Kptfile"),
            remote.read("new/Kptfile").replace("name: new", "name: shop")
        );
        assert_eq!(remote.run("ls -A shop | grep '^.krm-'").stdout, "");
    }
    assert!(killed > 0, "no run was killed before it was done");
    for attempt in 0..12u64 {
        remote.ok("rm -rf got cache");
        let mut child = start(&remote, &["pkg", "get", "-q", "up/shop@v3", "got"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(5 + attempt * 11));
        child.kill().unwrap();
        child.wait().unwrap();
        let ran = remote.run("export KRM_CACHE_DIR=$PWD/cache; krm pkg get -q up/shop@v3 got");
        // Either nothing was written, or all of it.
        assert!(
            ran.exit == 0 || ran.stderr.contains("error[destination-exists]"),
            "{}",
            ran.stderr
        );
        assert_eq!(versions(&remote, "got"), (0, 30), "attempt {attempt}");
    }
}

/// Waits until a run has begun to rename files, or has ended.
fn wait_for_commit(child: &mut Child, journal: &Path) {
    let is_committed =
        || std::fs::read_to_string(journal).is_ok_and(|it| it.ends_with("\ncommit\n"));
    while !is_committed() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(20));
    }
}

#[test]
fn second_run_waits_for_the_cache() {
    let remote = Remote::new();
    remote.ok("export KRM_CACHE_DIR=$PWD/cache; krm pkg get -q up/shop@v1 first");
    let name = remote.ok("cd cache/git && ls -d *.lock").trim().to_owned();
    let lock = File::options()
        .append(true)
        .open(remote.sandbox.path().join("cache/git").join(name))
        .unwrap();
    lock.lock().unwrap();
    let mut child = start(&remote, &["pkg", "get", "-q", "up/shop@v1", "second"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(400));
    assert!(child.try_wait().unwrap().is_none(), "the run did not wait");
    drop(lock);
    let since = Instant::now();
    assert!(child.wait().unwrap().success());
    assert!(since.elapsed() < Duration::from_secs(60));
    assert!(remote.exists("second/Kptfile"));
}

#[test]
fn parallel_runs_share_the_cache() {
    let remote = Remote::new();
    let mut children: Vec<_> = (0..6)
        .map(|at| {
            start(&remote, &["pkg", "get", "-q", "up/shop@v1", &format!("p{at}")]).spawn().unwrap()
        })
        .collect();
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    for at in 0..6 {
        assert_eq!(remote.read(&format!("p{at}/deployment.yaml")), DEPLOYMENT);
    }
    assert_eq!(remote.ok("cd cache/git && ls -d */").lines().count(), 1);
}
