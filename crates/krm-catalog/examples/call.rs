//! Runs a built-in function on resources from standard input, with its functionConfig as `KEY=VALUE`:
//!
//! ```sh
//! cargo run -p krm-catalog --example call -- set-namespace namespace=shop < all.yaml
//! ```

use std::io::{Read, Write};

use krm_catalog::BuiltinRelease;
use krm_sdk::stream::Stream;
use krm_sdk::{Error, Resource};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or_else(|| Error::new("usage: call NAME [KEY=VALUE]…"))?;
    let function =
        krm_catalog::find(&name).ok_or_else(|| Error::new(format!("`{name}` is not built in")))?;

    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let (stream, mut list) = Stream::read(text)?;

    let mut config =
        Resource::parse("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\n")?;
    for argument in arguments {
        let (key, value) = argument
            .split_once('=')
            .ok_or_else(|| Error::new(format!("expected KEY=VALUE, found `{argument}`")))?;
        config.set(&format!("data.{key}"), value)?;
    }
    list.function_config = Some(config);

    BuiltinRelease::from(function).call(&mut list)?;
    for result in &list.results {
        writeln!(std::io::stderr(), "{}", result.message)?;
    }
    std::io::stdout().write_all(stream.write(&list)?.as_bytes())?;
    Ok(())
}
