//! `krm pkg` on a `file://` remote: updates beside kpt, and how much of a large repository a get transfers.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::measure::{self, Sample};
use super::table::{self, NONE, Table};
use super::{KRM, Options, Tools, merge};
use crate::{TaskResult, shell};

pub(super) const NAME: &str = "pkg";

/// kpt on PATH; no task installs it.
const PEER: &str = "kpt";

/// The row without a cache, as on a new machine.
const EMPTY: &str = "krm, empty cache";

const SIZES: [usize; 2] = [1_000, 10_000];
/// kpt takes quadratic time.
const MAX_PEER_SIZE: usize = 1_000;

/// The files of the repository from which one directory is fetched.
const REPOSITORY_FILES: usize = 20_000;
const DIRECTORY_FILES: usize = 100;

pub(super) fn run(options: &Options, tools: &Tools) -> TaskResult {
    let Some(krm) = tools.programs.get(KRM) else { return Ok(()) };
    let directory = shell::target().join("bench/pkg");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    fs::create_dir_all(&directory)?;
    println!(
        "\n## {NAME} update: 1 % of the resources change upstream; median of {} runs of krm, one of kpt\n",
        options.runs
    );
    println!("Both have the old version in their caches; `{EMPTY}` fetches it again.\n");
    let mut table = Table::new(1, &["tool", "resources", "median", "to krm", "peak MB"]);
    let mut first = None;
    for size in SIZES {
        let krm_time = updates(options, krm, &directory, size, &mut table)?;
        if let Some((least, was)) = first {
            let name = format!("{size} to {least}");
            table.row(vec![name, NONE.to_owned(), table::ratio(krm_time, Some(was))]);
        }
        first = first.or(Some((size, krm_time)));
    }
    print!("{}", table.render());
    get(krm, &directory)
}

/// The median time of krm for one size. Rows for both tools are added.
fn updates(
    options: &Options,
    krm: &Path,
    directory: &Path,
    size: usize,
    table: &mut Table,
) -> TaskResult<f64> {
    let work = directory.join(format!("update-{size}"));
    let up = work.join("up");
    fs::create_dir_all(up.join("shop"))?;
    fs::write(
        up.join("shop/Kptfile"),
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n",
    )?;
    git(&up, &["init", "--quiet", "--initial-branch", "main"])?;
    git(&up, &["config", "uploadpack.allowFilter", "true"])?;
    for at in 0..size {
        fs::write(up.join(format!("shop/r{at}.yaml")), resource(at, "1.0"))?;
    }
    commit(&up, "v1")?;
    let url = format!("file://{}/.git", up.display());
    let mut get = krm_command(krm, &work, "first");
    measure::quietly(get.args(["pkg", "get", &format!("{url}@v1"), "base", "--subdir", "shop"]))?;
    let kpt = shell::exists(PEER) && size <= MAX_PEER_SIZE;
    if kpt {
        let mut get = shell::program(PEER);
        get.env("KPT_CACHE_DIR", work.join("kpt-cache"));
        // kpt finds the end of the repository by `.git`.
        measure::quietly(get.current_dir(&work).args([
            "pkg",
            "get",
            &format!("{url}/shop@v1"),
            "for-kpt",
        ]))?;
    }
    for at in (0..size).step_by(100) {
        fs::write(up.join(format!("shop/r{at}.yaml")), resource(at, "2.0"))?;
    }
    commit(&up, "v2")?;
    let (mut samples, mut without_cache): (Vec<Sample>, Vec<Sample>) = Default::default();
    for run in 1..=options.runs {
        // Each run with the cache of the get, into which the last run has fetched nothing.
        let cache = format!("filled-{run}");
        merge::copy(&work.join("cache-first"), &work.join(format!("cache-{cache}")))?;
        samples.push(update(krm, &work, &cache, size)?);
        without_cache.push(update(krm, &work, &format!("empty-{run}"), size)?);
    }
    let sample = measure::median(&samples).ok_or("no run")?;
    row(table, KRM, size, sample, sample.seconds);
    let without_cache = measure::median(&without_cache).ok_or("no run")?;
    row(table, EMPTY, size, without_cache, sample.seconds);
    if kpt {
        let mut update = shell::program(PEER);
        update.env("KPT_CACHE_DIR", work.join("kpt-cache"));
        let peer =
            measure::quietly(update.current_dir(&work).args(["pkg", "update", "for-kpt@v2"]))?;
        check_updated(&work.join("for-kpt"), size)?;
        row(table, PEER, size, peer, sample.seconds);
    }
    Ok(sample.seconds)
}

/// Updates a copy of the package that was got, with a cache of this name.
fn update(krm: &Path, work: &Path, cache: &str, size: usize) -> TaskResult<Sample> {
    let name = format!("package-{cache}");
    merge::copy(&work.join("base"), &work.join(&name))?;
    let mut update = krm_command(krm, work, cache);
    let sample =
        measure::quietly(update.args(["pkg", "update", &format!("{name}@v2"), "--allow-dirty"]))?;
    check_updated(&work.join(&name), size)?;
    Ok(sample)
}

fn row(table: &mut Table, tool: &str, size: usize, sample: Sample, krm: f64) {
    table.row(vec![
        tool.to_owned(),
        size.to_string(),
        table::milliseconds(sample.seconds),
        table::ratio(sample.seconds, Some(krm)),
        table::megabytes(sample.peak_bytes),
    ]);
}

/// A program that did not update everything did not do the measured work.
fn check_updated(package: &Path, size: usize) -> TaskResult {
    let mut updated = 0;
    for at in 0..size {
        let text = fs::read_to_string(package.join(format!("r{at}.yaml")))?;
        updated += usize::from(text.contains("shop/web:2.0"));
    }
    match updated == size.div_ceil(100) {
        true => Ok(()),
        false => Err(format!("{updated} of {} resources are updated", size.div_ceil(100)).into()),
    }
}

/// Gets one directory of a large repository and counts the files that were transferred.
fn get(krm: &Path, directory: &Path) -> TaskResult {
    let work = directory.join("get");
    let up = work.join("up");
    for at in 0..REPOSITORY_FILES {
        let package = up.join(format!("p{}", at / DIRECTORY_FILES));
        fs::create_dir_all(&package)?;
        fs::write(package.join(format!("r{at}.yaml")), resource(at, "1.0"))?;
    }
    git(&up, &["init", "--quiet", "--initial-branch", "main"])?;
    git(&up, &["config", "uploadpack.allowFilter", "true"])?;
    commit(&up, "v1")?;
    println!(
        "\n## {NAME} get: one directory of {DIRECTORY_FILES} files from a repository of {REPOSITORY_FILES}\n"
    );
    let mut table = Table::new(1, &["cache", "time", "files transferred"]);
    for (cache, dest) in [("empty", "cold"), ("warm", "warm")] {
        let mut get = krm_command(krm, &work, "get");
        let url = format!("file://{}/.git@v1", up.display());
        let sample = measure::quietly(get.args(["pkg", "get", &url, dest, "--subdir", "p7"]))?;
        table.row(vec![
            cache.to_owned(),
            table::milliseconds(sample.seconds),
            transferred(&work)?.to_string(),
        ]);
    }
    print!("{}", table.render());
    match transferred(&work)? {
        DIRECTORY_FILES => Ok(()),
        other => Err(format!("{other} files were transferred instead of {DIRECTORY_FILES}").into()),
    }
}

/// The number of files in the cache.
fn transferred(work: &Path) -> TaskResult<usize> {
    let area = work.join("cache-get/git");
    let mut repositories = fs::read_dir(area)?.filter_map(Result::ok).map(|entry| entry.path());
    let repository = repositories.find(|path| path.is_dir()).ok_or("the cache is empty")?;
    let mut list = shell::program("git");
    list.arg("--git-dir").arg(repository);
    let objects = shell::output(list.args(["cat-file", "--batch-all-objects", "--batch-check"]))?;
    Ok(objects.lines().filter(|line| line.contains(" blob ")).count())
}

fn krm_command(krm: &Path, work: &Path, cache: &str) -> Command {
    let mut command = Command::new(krm);
    command.current_dir(work).env("KRM_CACHE_DIR", work.join(format!("cache-{cache}")));
    command
}

fn commit(repository: &Path, tag: &str) -> TaskResult {
    git(repository, &["add", "."])?;
    let author = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"];
    let message = ["commit", "--quiet", "--message", tag];
    git(repository, &author.into_iter().chain(message).collect::<Vec<_>>())?;
    git(repository, &["tag", tag])
}

fn git(directory: &Path, arguments: &[&str]) -> TaskResult {
    shell::output(shell::program("git").current_dir(directory).args(arguments)).map(|_| ())
}

fn resource(at: usize, version: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-{at}\n  namespace: shop\n  labels:\n    app: web-{at}\nspec:\n  replicas: 2\n  selector:\n    matchLabels:\n      app: web-{at}\n  template:\n    metadata:\n      labels:\n        app: web-{at}\n    spec:\n      containers:\n      - name: web\n        image: shop/web:{version}\n        ports:\n        - containerPort: 8080\n        env:\n        - name: NUMBER\n          value: \"{at}\"\n"
    )
}
