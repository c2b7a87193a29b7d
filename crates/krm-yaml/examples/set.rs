//! Sets a value in a YAML document from standard input, and prints the text, of which nothing else changes:
//!
//! ```sh
//! cargo run -p krm-yaml --example set -- spec.template.spec.containers[name=web].image web:2 < deployment.yaml
//! ```

use std::error::Error;
use std::io::{Read, Write};

use krm_yaml::File;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, value] = arguments.as_slice() else { return Err("usage: set PATH VALUE".into()) };

    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let mut file = File::parse(text)?;
    if let Some(error) = file.errors().next() {
        let line = file.position(error.span.start).line;
        return Err(format!("line {line}: {error}").into());
    }
    // An integer stays one; everything else is a string, and gets quotes where it needs them.
    match value.parse::<i64>() {
        Ok(number) => file.set(path, number)?,
        Err(_) => file.set(path, value.as_str())?,
    }
    std::io::stdout().write_all(file.text().as_bytes())?;
    Ok(())
}
