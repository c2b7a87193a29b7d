//! Writers that are killed at random points, and concurrent writers.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, UNIX_EPOCH};

use crate::sandbox::krm;

const FILES: usize = 1_000;
const KILLS: usize = 200;

/// A command that edits many files, with their texts before and after it.
struct Scenario {
    args: &'static [&'static str],
    before: fn(usize) -> String,
    after: fn(usize) -> String,
}

const ANNOTATE: Scenario = Scenario {
    args: &["cfg", "annotate", ".", "--kv", "run=7"],
    before: |n| format!("# {n}\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p{n}\n"),
    after: |n| {
        format!(
            "# {n}\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p{n}\n  annotations:\n    run: \"7\"\n"
        )
    },
};

/// A command that changes nothing itself, so that all it does is to recover.
const RECOVER: &[&str] = &["cfg", "annotate", ".", "--kv", "a=b", "--kind", "Nobody", "--quiet"];

#[test]
fn killed_annotate_leaves_the_package_old_or_new() {
    survives_kills(&ANNOTATE);
}

fn survives_kills(work: &Scenario) {
    let package = Package::new(FILES);
    let whole_runs = (0..3).map(|_| {
        package.fill(work.before);
        let start = Instant::now();
        assert!(package.start(work.args).wait().unwrap().success());
        start.elapsed()
    });
    let length = whole_runs.min().unwrap();
    assert_eq!(package.tally(work), (0, FILES));

    let mut random = Random(7);
    let (mut interrupted, mut old) = (0, 0);
    let mut is_old = false;
    for kill in 0..KILLS {
        if !is_old {
            package.fill(work.before);
        }
        let mut child = package.start(work.args);
        // Counted from the start, from the first temporary file, or from the first rename.
        let share = match kill % 3 {
            0 => 1.1,
            1 => {
                package.wait_for(&mut child, |_| true);
                0.4
            }
            _ => {
                package.wait_for(&mut child, |journal| journal.ends_with("\ncommit\n"));
                0.1
            }
        };
        sleep(length.mul_f64(random.fraction() * share));
        let _ = child.kill();
        child.wait().unwrap();
        let (before, after) = package.tally(work);
        assert_eq!(before + after, FILES, "a file is neither old nor new after kill {kill}");
        interrupted += usize::from(!package.temporary_files().is_empty());

        assert!(package.start(RECOVER).wait().unwrap().success(), "after kill {kill}");
        assert_eq!(package.temporary_files(), [] as [PathBuf; 0], "after kill {kill}");
        let (before, after) = package.tally(work);
        is_old = before == FILES;
        assert!(
            is_old || after == FILES,
            "kill {kill}: {before} files are old and {after} are new"
        );
        old += usize::from(is_old);
    }
    println!(
        "{KILLS} kills in runs of {length:?}: {interrupted} left temporary files, {old} packages stayed old"
    );
    assert!(interrupted > 0, "no kill interrupted a write");
}

#[test]
fn signal_while_writing_leaves_no_staged_file() {
    use std::os::unix::process::ExitStatusExt;
    let package = Package::new(FILES);
    let mut random = Random(9);
    let mut stopped = 0;
    for round in 0..30 {
        let (name, number) = [("INT", 2), ("TERM", 15), ("HUP", 1)][round % 3];
        package.fill(ANNOTATE.before);
        let mut child = package.start(ANNOTATE.args);
        package.wait_for(&mut child, |_| true);
        sleep(Duration::from_micros((random.fraction() * 20_000.0) as u64));
        let pid = child.id().to_string();
        // The second one arrives while the first one is being handled.
        for _ in 0..2 {
            let _ = Command::new("kill")
                .args([&format!("-{name}"), &pid])
                .stderr(Stdio::null())
                .status();
        }
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(package.temporary_files(), [] as [PathBuf; 0], "{name}: {stderr}");
        let (before, after) = package.tally(&ANNOTATE);
        assert!(before == FILES || after == FILES, "{before} files are old and {after} are new");
        if output.status.success() {
            continue;
        }
        assert_eq!(output.status.signal(), Some(number), "{stderr}");
        stopped += usize::from(before == FILES);
        if before == FILES {
            let expected =
                format!("error[interrupted]: interrupted by SIG{name}; nothing was written\n");
            assert_eq!(stderr, expected);
        }
    }
    assert!(stopped > 0, "no signal arrived before the commit");
}

#[test]
fn signal_that_the_parent_ignores_remains_ignored() {
    let package = Package::new(FILES);
    package.fill(ANNOTATE.before);
    let mut command = Command::new("nohup");
    command.arg(env!("CARGO_BIN_EXE_krm")).args(ANNOTATE.args);
    command.current_dir(package.directory.path()).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    package.wait_for(&mut child, |_| true);
    let _ =
        Command::new("kill").args(["-HUP", &child.id().to_string()]).stderr(Stdio::null()).status();
    assert!(child.wait().unwrap().success());
    assert_eq!(package.tally(&ANNOTATE), (0, FILES));
}

#[test]
fn directory_that_cannot_be_locked_is_an_error() {
    let package = Package::new(3);
    package.fill(ANNOTATE.before);
    let krm = env!("CARGO_BIN_EXE_krm");
    // Too few file descriptors for the directories above the package.
    let line = format!("ulimit -n 5; exec {krm} cfg annotate . --kv run=7");
    let mut command = Command::new("sh");
    let output =
        command.args(["-c", &line]).current_dir(package.directory.path()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.starts_with("error[cannot-lock]: "), "{stderr}");
    assert!(stderr.ends_with("too many open files; nothing was written\n"), "{stderr}");
    assert_eq!(package.tally(&ANNOTATE), (3, 0));
}

#[test]
fn concurrent_writers_do_not_interleave() {
    let package = Package::new(200);
    package.fill(ANNOTATE.before);
    let inner = package.directory.path().join("f3");
    for round in 0..5 {
        let mut writers = Vec::new();
        for name in ["a", "b"] {
            let kv = format!("{name}=round{round}");
            writers.push(package.start(&["cfg", "annotate", ".", "--kv", &kv]));
        }
        let inside = krm()
            .args(["cfg", "annotate", ".", "--kv", &format!("c=round{round}")])
            .current_dir(&inner)
            .stderr(Stdio::piped())
            .spawn();
        writers.push(inside.unwrap());
        for writer in writers {
            let output = writer.wait_with_output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{stderr}");
        }
        for (n, path) in package.files().enumerate() {
            let text = fs::read_to_string(&path).unwrap();
            let annotations = if path.starts_with(&inner) { 3 } else { 2 };
            assert_eq!(
                text.matches(&format!(": round{round}\n")).count(),
                annotations,
                "{n}: {text}"
            );
            assert_eq!(text.lines().count(), 6 + annotations, "{text}");
        }
        assert_eq!(package.temporary_files(), [] as [PathBuf; 0]);
    }
}

#[test]
fn reader_during_a_write_sees_one_version() {
    let package = Package::new(200);
    package.fill(ANNOTATE.before);
    let inner = package.directory.path().join("f3");
    let mut reads = 0;
    for round in 0..8 {
        let kv = format!("run=round{round}");
        let mut writer = package.start(&["cfg", "annotate", ".", "--kv", &kv]);
        let mut is_over = false;
        while !is_over {
            is_over = writer.try_wait().unwrap().is_some();
            let (directory, count) =
                if reads % 2 == 0 { (package.directory.path(), 200) } else { (&*inner, 20) };
            let output = krm().args(["cfg", "cat", "."]).current_dir(directory).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let new = text.matches(&format!("run: {}\n", &kv[4..])).count();
            assert!(new == 0 || new == count, "{new} of {count} files are new");
            reads += 1;
        }
        assert!(writer.wait().unwrap().success());
    }
    println!("{reads} reads");
}

/// A journal without steps that was written for this directory.
fn journal_of(directory: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(directory).unwrap();
    let created = metadata.created().map(|it| it.duration_since(UNIX_EPOCH).unwrap().as_nanos());
    let created = created.map_or("-".to_owned(), |created| format!("{created:x}"));
    format!("krm journal 2\ndirectory {:x} {:x} {created} -\n", metadata.dev(), metadata.ino())
}

#[test]
fn half_written_package_is_not_read() {
    let package = Package::new(40);
    package.fill(ANNOTATE.before);
    let directory = package.directory.path().join("f3");
    let journal = directory.join(".krm-journal");
    let inner = package.directory.path().join("f3/inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("a.yaml"), (ANNOTATE.before)(0)).unwrap();
    fs::write(&journal, journal_of(&directory) + "commit\n").unwrap();
    for directory in [package.directory.path(), &inner] {
        for args in
            [&["cfg", "cat", "."][..], &["fn", "source", "."], &["cfg", "fmt", ".", "--diff"]]
        {
            let output = krm().args(args).current_dir(directory).output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{args:?}: {stderr}");
            assert!(stderr.starts_with("error[half-written]: "), "{stderr}");
            assert_eq!(output.stdout, b"");
        }
    }
    // Before the commit all files are old.
    fs::write(&journal, journal_of(&directory)).unwrap();
    let output = krm().args(["cfg", "cat", "."]).current_dir(package.directory.path()).output();
    assert!(output.unwrap().status.success());
    // The next command that writes completes it.
    fs::write(&journal, journal_of(&directory) + "commit\n").unwrap();
    assert!(package.start(RECOVER).wait().unwrap().success());
    let output = krm().args(["cfg", "cat", "."]).current_dir(package.directory.path()).output();
    assert!(output.unwrap().status.success());
}

#[test]
fn named_files_during_a_write_are_of_one_version() {
    let package = Package::new(200);
    package.fill(ANNOTATE.before);
    let names: Vec<String> = (0..200).map(|n| format!("f{}/p{n}.yaml", n % 10)).collect();
    let mut reads = 0;
    for round in 0..8 {
        let kv = format!("run=round{round}");
        let mut writer = package.start(&["cfg", "annotate", ".", "--kv", &kv]);
        let mut is_over = false;
        while !is_over {
            is_over = writer.try_wait().unwrap().is_some();
            let mut reader = krm();
            reader.args(["yaml", "set", "--create", "metadata.annotations.run", "x", "--diff"]);
            let output =
                reader.args(&names).current_dir(package.directory.path()).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let new = text.matches(&format!("\n-    run: {}\n", &kv[4..])).count();
            assert!(new == 0 || new == 200, "{new} of 200 files are new");
            reads += 1;
        }
        assert!(writer.wait().unwrap().success());
    }
    println!("{reads} reads");
}

#[test]
fn half_written_files_are_not_read_together() {
    let package = Package::new(20);
    package.fill(ANNOTATE.before);
    let directory = package.directory.path();
    fs::write(directory.join(".krm-journal"), journal_of(directory) + "commit\n").unwrap();
    let (a, b, c) = ("f0/p0.yaml", "f1/p1.yaml", "f0/p10.yaml");
    let run = |args: &[&str]| krm().args(args).current_dir(directory).output().unwrap();
    for args in [
        &["yaml", "check", a, b][..],
        &["yaml", "set", "metadata.name", "x", a, b, "--diff"],
        &["yaml", "rm", "metadata.name", a, c, "--check"],
        &["yaml", "merge", a, b, "--diff"],
        &["yaml", "merge3", "--base", a, "--local", b, "--upstream", c, "--diff"],
        &["yaml", "merge3", "--resolve", "local", a, b, "--diff"],
    ] {
        let output = run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {stderr}");
        assert!(stderr.starts_with("error[half-written]: "), "{args:?}: {stderr}");
        assert_eq!(output.stdout, b"", "{args:?}");
    }
    // A single file is old or new, but whole.
    for args in [&["yaml", "check", a][..], &["yaml", "get", "metadata.name", a]] {
        assert!(run(args).status.success(), "{args:?}");
    }
}

#[test]
fn reader_waits_for_a_writer_and_names_it() {
    let package = Package::new(1);
    package.fill(ANNOTATE.before);
    let journal = package.directory.path().join(".krm-journal");
    fs::write(&journal, journal_of(package.directory.path()) + "commit\n").unwrap();
    let lock = fs::File::open(package.directory.path()).unwrap();
    lock.lock().unwrap();
    let start = Instant::now();
    let output = package.start(&["cfg", "count", "."]).wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.starts_with("error[being-written]: .: "), "{stderr}");
    assert!(start.elapsed() < Duration::from_secs(20));
    let reader = package.start(&["cfg", "count", "."]);
    sleep(Duration::from_millis(100));
    fs::remove_file(&journal).unwrap();
    lock.unlock().unwrap();
    assert!(reader.wait_with_output().unwrap().status.success());
}

#[test]
fn second_writer_waits_and_names_the_lock_holder() {
    let package = Package::new(1);
    package.fill(ANNOTATE.before);
    let mut first = Command::new("flock");
    first.args(["-o", ".", "cat"]).current_dir(package.directory.path()).stdin(Stdio::piped());
    let Ok(mut first) = first.spawn() else {
        println!("skipped: `flock` is not installed");
        return;
    };
    let lock = fs::File::open(package.directory.path()).unwrap();
    while lock.try_lock_shared().is_ok() {
        lock.unlock().unwrap();
        sleep(Duration::from_millis(1));
    }
    let mut second = package.start(ANNOTATE.args);
    let mut stderr = BufReader::new(second.stderr.take().unwrap()).lines();
    let line = stderr.next().unwrap().unwrap();
    assert!(line.contains("waiting for `flock` (process "), "{line}");
    assert!(line.ends_with("), which is writing to this directory"), "{line}");
    assert_eq!(package.tally(&ANNOTATE), (1, 0));
    drop(first.stdin.take());
    first.wait().unwrap();
    assert!(second.wait().unwrap().success());
    assert_eq!(package.tally(&ANNOTATE), (0, 1));
}

#[test]
fn parent_process_may_hold_the_lock() {
    let package = Package::new(1);
    package.fill(ANNOTATE.before);
    let mut outer = Command::new("flock");
    outer.arg(".").arg(env!("CARGO_BIN_EXE_krm")).args(ANNOTATE.args);
    match outer.current_dir(package.directory.path()).output() {
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(stderr.starts_with("1 file changed, 1 resource in "), "{stderr}");
            assert_eq!(package.tally(&ANNOTATE), (0, 1));
        }
        Err(_) => println!("skipped: `flock` is not installed"),
    }
}

/// A directory of many small files, in memory if possible.
struct Package {
    directory: tempfile::TempDir,
    count: usize,
}

impl Package {
    fn new(count: usize) -> Self {
        let builder = || {
            let mut builder = tempfile::Builder::new();
            builder.prefix("krm-kills-");
            builder
        };
        let directory = builder().tempdir_in("/dev/shm").or_else(|_| builder().tempdir()).unwrap();
        for n in 0..10 {
            fs::create_dir(directory.path().join(format!("f{n}"))).unwrap();
        }
        Self { directory, count }
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        (0..self.count).map(|n| self.directory.path().join(format!("f{}/p{n}.yaml", n % 10)))
    }

    fn fill(&self, text: fn(usize) -> String) {
        for (n, path) in self.files().enumerate() {
            fs::write(path, text(n)).unwrap();
        }
    }

    /// The number of files with the text from before the command, and of those with the text after it.
    fn tally(&self, work: &Scenario) -> (usize, usize) {
        let (mut before, mut after) = (0, 0);
        for (n, path) in self.files().enumerate() {
            let text = fs::read_to_string(path).unwrap();
            before += usize::from(text == (work.before)(n));
            after += usize::from(text == (work.after)(n));
        }
        (before, after)
    }

    fn start(&self, args: &[&str]) -> Child {
        let mut command = krm();
        command.args(args).current_dir(self.directory.path());
        command.stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits until the journal of a run satisfies a condition, or the run ends.
    fn wait_for(&self, child: &mut Child, condition: impl Fn(&str) -> bool) {
        let journal = self.directory.path().join(".krm-journal");
        let is_reached = || fs::read_to_string(&journal).is_ok_and(|text| condition(&text));
        while !is_reached() && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_micros(100));
        }
    }

    /// Files that krm created while writing.
    fn temporary_files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut directories = vec![self.directory.path().to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => directories.push(path),
                    false if is_package_file(&path) => {}
                    false => found.push(path),
                }
            }
        }
        found
    }
}

fn is_package_file(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "yaml")
}

/// A random number generator with a fixed seed.
struct Random(u64);

impl Random {
    /// A number from zero to one.
    fn fraction(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }
}
