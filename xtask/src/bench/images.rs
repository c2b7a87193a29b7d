//! Images without a container engine: the start of a function, ten functions in a row, and a pull beside `skopeo copy`.

use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Options;
use super::containers::cat_root;
use super::functions::RESOURCES;
use super::measure::{self, Sample};
use super::table::{NONE, Table, milliseconds};
use crate::{TaskResult, shell};

const MIN_RUNS: usize = 31;
/// A pull is slow, and its time varies little.
const PULLS: usize = 5;
/// Bytes of the image that is pulled, which cannot be compressed.
const LARGE: usize = 50 << 20;

/// A registry that ends with the benchmark.
struct Registry {
    process: Child,
    host: String,
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(super) fn run(options: &Options, krm: &Path, directory: &Path) -> TaskResult {
    let doctor = Command::new(krm).args(["fn", "doctor"]).output()?;
    let works = String::from_utf8_lossy(&doctor.stdout).contains("krm: works");
    if !works || !shell::exists("docker-registry") || !shell::exists("skopeo") {
        println!("\nskipping images: they need the runtime krm, docker-registry and skopeo");
        return Ok(());
    }
    let place = shell::target().join("bench/images");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    let registry = start_registry(&place)?;
    let root = cat_root(&place)?;
    let image = push(&registry, &place, &root, "cat")?;
    let store = place.join("store");
    let eval = |flags: &[&str]| {
        let mut command = Command::new(krm);
        command
            .args(["fn", "eval", "-q"])
            .args(flags)
            .arg(directory)
            .env("KRM_IMAGE_STORE", &store);
        command
    };
    let mut ours = eval(&["--runtime", "krm", "-i", &image]);
    let mut exec = eval(&["--exec", "cat"]);
    let mut ten = ten_functions(krm, &place, &image, &store)?;
    measure::quietly(&mut ours)?;
    let mut samples: [Vec<Sample>; 3] = Default::default();
    for _ in 0..options.runs.max(MIN_RUNS) {
        for (command, samples) in [&mut ours, &mut exec, &mut ten].into_iter().zip(&mut samples) {
            let sample = measure::quietly(command);
            samples.push(sample.map_err(|error| format!("{}: {error}", shell::display(command)))?);
        }
    }
    print_starts(&samples);
    fs::write(root.join("large"), noise())?;
    let large = push(&registry, &place, &root, "large")?;
    pulls(krm, directory, &place, &large)
}

fn print_starts([ours, exec, ten]: &[Vec<Sample>; 3]) {
    let median = |samples: &[Sample]| measure::median(samples).map_or(0.0, |it| it.seconds);
    // Runs of the same round, which other load on the machine affects equally.
    let beyond = ours
        .iter()
        .zip(exec)
        .map(|(ours, exec)| Sample { seconds: ours.seconds - exec.seconds, ..*ours });
    let beyond: Vec<Sample> = beyond.collect();
    println!(
        "\n{RESOURCES} resources through `cat` in an image without an engine, median of {} runs\n",
        ours.len()
    );
    let mut table = Table::new(1, &["command", "median", "minus exec"]);
    let mut row = |name: &str, samples: &[Sample], beyond: String| {
        table.row(vec![name.to_owned(), milliseconds(median(samples)), beyond]);
    };
    row("krm, image", ours, milliseconds(median(&beyond)));
    row("krm, exec", exec, NONE.to_owned());
    row("krm, ten images in a row on one resource", ten, NONE.to_owned());
    print!("{}", table.render());
}

/// Pulls into an empty store each time, and does not use the image: skopeo does not unpack it either.
fn pulls(krm: &Path, directory: &Path, place: &Path, image: &str) -> TaskResult {
    let mut samples: [Vec<Sample>; 2] = Default::default();
    for number in 0..PULLS {
        let mut ours = Command::new(krm);
        ours.args(["fn", "eval", "-q", "--runtime", "krm", "-i", image]).arg(directory);
        ours.env("KRM_IMAGE_STORE", place.join(format!("pull-{number}")));
        samples[0].push(measure::quietly(&mut ours)?);
        let layout = format!("oci:{}:v1", place.join(format!("layout-{number}")).display());
        let mut skopeo = skopeo(place)?;
        skopeo.args(["copy", "--src-tls-verify=false", &format!("docker://{image}"), &layout]);
        samples[1].push(measure::quietly(&mut skopeo)?);
    }
    println!(
        "\npull of {} MiB from a registry on this machine, median of {PULLS} runs\n",
        LARGE >> 20
    );
    let mut table = Table::new(1, &["command", "median"]);
    let names = ["krm: pull, verify, unpack and run", "skopeo copy to a directory"];
    for (name, samples) in names.into_iter().zip(&samples) {
        let median = measure::median(samples).map_or(0.0, |it| it.seconds);
        table.row(vec![name.to_owned(), milliseconds(median)]);
    }
    print!("{}", table.render());
    Ok(())
}

fn start_registry(place: &Path) -> TaskResult<Registry> {
    // A port that is free now; another process could take it before the registry does.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let host = format!("127.0.0.1:{port}");
    let file = place.join("registry.yml");
    let data = place.join("registry").display().to_string();
    fs::write(
        &file,
        format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {data}}}}}\nhttp: {{addr: {host}}}\n"
        ),
    )?;
    let mut command = shell::program("docker-registry");
    command.arg("serve").arg(file).stdout(Stdio::null()).stderr(Stdio::null());
    let registry = Registry { process: command.spawn()?, host };
    let start = Instant::now();
    while TcpStream::connect(&registry.host).is_err() {
        if start.elapsed() > Duration::from_secs(30) {
            return Err("docker-registry does not start".into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(registry)
}

/// skopeo without a policy, as a freshly installed one has none.
fn skopeo(place: &Path) -> TaskResult<Command> {
    let policy = place.join("policy.json");
    fs::write(&policy, r#"{"default":[{"type":"insecureAcceptAnything"}]}"#)?;
    let mut command = shell::program("skopeo");
    command.arg("--policy").arg(policy);
    Ok(command)
}

/// Pushes a directory as an image that runs `cat`, and returns its name.
fn push(registry: &Registry, place: &Path, root: &Path, name: &str) -> TaskResult<String> {
    let archive = place.join(format!("{name}-archive"));
    fs::create_dir_all(&archive)?;
    let layer = archive.join("layer.tar");
    shell::run(Command::new("tar").arg("-C").arg(root).arg("-cf").arg(&layer).arg("."))?;
    let digest = shell::output(Command::new("sha256sum").arg(&layer))?;
    let digest = digest.split_whitespace().next().ok_or("no digest")?;
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let config = format!(
        r#"{{"architecture":"{architecture}","os":"linux","config":{{"Cmd":["/bin/cat"]}},"rootfs":{{"type":"layers","diff_ids":["sha256:{digest}"]}}}}"#
    );
    fs::write(archive.join("config.json"), config)?;
    fs::write(
        archive.join("manifest.json"),
        r#"[{"Config":"config.json","RepoTags":null,"Layers":["layer.tar"]}]"#,
    )?;
    let file = place.join(format!("{name}.tar"));
    shell::run(Command::new("tar").arg("-C").arg(&archive).arg("-cf").arg(&file).args([
        "manifest.json",
        "config.json",
        "layer.tar",
    ]))?;
    let image = format!("{}/bench/{name}:v1", registry.host);
    let mut copy = skopeo(place)?;
    copy.args(["copy", "-q", "--dest-tls-verify=false"]);
    shell::run(
        copy.arg(format!("docker-archive:{}", file.display())).arg(format!("docker://{image}")),
    )?;
    Ok(image)
}

/// A package with one resource and a pipeline of ten images.
fn ten_functions(krm: &Path, place: &Path, image: &str, store: &Path) -> TaskResult<Command> {
    let package = place.join("ten");
    fs::create_dir_all(&package)?;
    let mut kptfile = fs::File::create(package.join("Kptfile"))?;
    write!(
        kptfile,
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ten\npipeline:\n  mutators:\n"
    )?;
    for _ in 0..10 {
        writeln!(kptfile, "  - image: {image}")?;
    }
    fs::write(package.join("a.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n")?;
    let mut command = Command::new(krm);
    command
        .args(["fn", "render", "-q", "--runtime", "krm"])
        .arg(package)
        .env("KRM_IMAGE_STORE", store);
    Ok(command)
}

/// Bytes that do not compress: a generator of Marsaglia, with a fixed start.
fn noise() -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..LARGE / 8).flat_map(|_| next()).collect()
}
