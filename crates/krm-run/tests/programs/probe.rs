//! The function that the tests run, as a process, in a container and as a WASI module: it does what its arguments say.

use std::io::{Read, Write};
use std::time::Duration;
use std::{env, fs, io, process, thread};

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let number = |at: usize| args.get(at).and_then(|arg| arg.parse().ok()).unwrap_or(0);
    match args.first().map_or("upper", String::as_str) {
        "upper" => write(input().to_uppercase().as_bytes()),
        "look" => look(),
        "write" => write(attempt(&args[1]).as_bytes()),
        "exit" => {
            write(b"results: []\n");
            eprintln!("this is no good");
            process::exit(number(1) as i32);
        }
        "sleep" => loop {
            thread::sleep(Duration::from_secs(1));
        },
        "spam" => spam(number(1)),
        "eat" => eat(number(1)),
        "threads" => threads(number(1)),
        other => panic!("what is {other}?"),
    }
}

fn input() -> String {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).expect("standard input is UTF-8");
    text
}

fn write(bytes: &[u8]) {
    io::stdout().write_all(bytes).expect("standard output can be written");
}

/// What the world looks like from inside, one fact a line.
fn look() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for name in ["Uid", "Gid", "CapEff", "CapPrm", "CapBnd", "NoNewPrivs"] {
        let line = status.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
        let parts: Vec<&str> = line.unwrap_or("unknown").split_whitespace().collect();
        println!("{name}: {}", parts.join(" "));
    }
    let devices = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let devices = devices.lines().skip(2).filter_map(|line| line.split(':').next());
    println!("devices: {}", devices.map(str::trim).collect::<Vec<_>>().join(" "));
    for directory in ["/open", "/local", "/tmp"] {
        println!("write {directory}/: {}", attempt(&format!("{directory}/probe")));
    }
    println!("local: {}", fs::read_to_string("/local/config.yaml").unwrap_or_default().trim());
    let mut names: Vec<String> = env::vars().map(|(name, value)| format!("{name}={value}")).collect();
    names.sort();
    println!("variables: {}", names.join(" "));
}

fn attempt(path: &str) -> String {
    match fs::write(path, "x") {
        Ok(()) => "works".to_owned(),
        Err(error) => format!("{:?}", error.kind()),
    }
}

/// Writes so many MiB to standard error, then answers.
fn spam(mebibytes: u64) {
    let chunk = "spam and spam\n".repeat(75_000);
    for _ in 0..mebibytes {
        io::stderr().write_all(chunk.as_bytes()).expect("standard error can be written");
    }
    eprintln!("the last line");
    write(b"kind: ResourceList\n");
}

/// Takes so many MiB of memory, and touches them.
fn eat(mebibytes: u64) {
    let mut held = Vec::new();
    for _ in 0..mebibytes {
        held.push(vec![1_u8; 1024 * 1024]);
    }
    println!("held: {}", held.len());
}

/// Starts so many threads, and says how many there are.
fn threads(wanted: u64) {
    let started = (0..wanted).take_while(|_| {
        thread::Builder::new().stack_size(64 * 1024).spawn(|| thread::sleep(Duration::from_secs(60))).is_ok()
    });
    println!("threads: {}", started.count());
}
