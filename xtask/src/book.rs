//! `cargo xtask book`: builds the book from `docs` into `target/book`.

use std::time::Instant;

use crate::supply_chain::{Tool, tool};
use crate::{TaskResult, shell};

/// The generator, with the search index and without the web server.
const MDBOOK: Tool = Tool { name: "mdbook", version: "0.5.4", features: "search" };

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    if let Some(arg) = args.next()? {
        return Err(arg.unexpected().into());
    }
    build()
}

/// Builds the book. A warning of the generator is an error, because it is about a page that readers will miss or see wrong.
pub(crate) fn build() -> TaskResult {
    let mdbook = tool(MDBOOK)?;
    let start = Instant::now();
    let out = shell::target().join("book");
    let mut command = shell::program(mdbook);
    command.args(["build", "docs", "--dest-dir"]).arg(&out);
    let output = command.output()?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || log.lines().any(|line| line.contains("WARN")) {
        return Err(format!("{} failed:\n{log}", shell::display(&command)).into());
    }
    let pages = count_pages(&out)?;
    println!("{pages} pages in {} after {:.1} s", out.display(), start.elapsed().as_secs_f64());
    Ok(())
}

fn count_pages(directory: &std::path::Path) -> TaskResult<usize> {
    let mut count = 0;
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            count += count_pages(&path)?;
        } else {
            count += usize::from(path.extension().is_some_and(|it| it == "html"));
        }
    }
    Ok(count)
}
