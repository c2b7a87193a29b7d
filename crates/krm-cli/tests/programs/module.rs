//! The function that tests run as a WASI module: it renames, or it writes to standard error what `SPAM` says, in MB. With `CLOCK` it is
//! impure: the name that it sets depends on the time.

use std::io::{Read, Write};
use std::{env, io, process, time};

fn main() {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).expect("standard input is UTF-8");
    if let Some(megabytes) = env::var("SPAM").ok().and_then(|text| text.parse().ok()) {
        spam(megabytes);
    }
    let name = match env::var_os("CLOCK") {
        Some(_) => format!("name: b{}", time::SystemTime::now().duration_since(time::UNIX_EPOCH).map_or(0, |it| it.as_nanos())),
        None => "name: b".to_owned(),
    };
    let text = text.replace("name: a", &name);
    io::stdout().write_all(text.as_bytes()).expect("standard output can be written");
}

fn spam(megabytes: u32) -> ! {
    let chunk = "0123456789abcdef 0123456789abcd\n".repeat(32_768);
    for _ in 0..megabytes {
        io::stderr().write_all(chunk.as_bytes()).expect("standard error can be written");
    }
    eprintln!("the end");
    process::exit(3);
}
