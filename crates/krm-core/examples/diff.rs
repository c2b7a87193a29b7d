//! Prints which values differ between two files of resources. Comments, quotes and the order of keys do not count:
//!
//! ```sh
//! cargo run -p krm-core --example diff -- old.yaml new.yaml
//! ```

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;

use krm_core::compare::ListOptions;
use krm_core::diff::{diff_packages, field_lines, heading};
use krm_core::schema::Schema;
use krm_core::{Diagnostic, Package, PackageFile};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [old, new] = arguments.as_slice() else { return Err("usage: diff OLD NEW".into()) };
    let (old, new) = (package(old)?, package(new)?);

    // The schema of Kubernetes says which lists have merge keys, so that containers are compared by name.
    let schema = Schema::kubernetes();
    let options = ListOptions { schema: Some(&schema), ..ListOptions::default() };
    let changes = diff_packages(&old, &new, false, options).map_err(|errors| first(&errors))?;

    let mut text = String::new();
    for change in changes.iter().filter(|change| change.is_semantic()) {
        writeln!(text, "{}", heading(change))?;
        for line in field_lines(change, false) {
            writeln!(text, "  {line}")?;
        }
    }
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// A package of one file. krm-core never reads files itself.
fn package(path: &str) -> Result<Package, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    Ok(Package::new(vec![PackageFile::from_text("all.yaml", &text)?]))
}

fn first(errors: &[Diagnostic]) -> String {
    errors.first().map(|error| error.message().to_string()).unwrap_or_default()
}
