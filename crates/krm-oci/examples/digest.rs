//! Prints the digest that the files of a directory have as a package, before anything is pushed. The same files have the same digest on
//! every machine:
//!
//! ```sh
//! cargo run -p krm-oci --features client --example digest -- examples/replicas
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;

use krm_oci::{PackageFile, package_digest};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("usage: digest DIRECTORY")?;
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        // A package has subdirectories, too; this example leaves them out.
        if entry.file_type()?.is_file() {
            let path = entry.file_name().to_string_lossy().into_owned();
            files.push(PackageFile { path, data: std::fs::read(entry.path())?, executable: false });
        }
    }
    // Annotations, such as that of the revision, are part of the digest.
    let digest = package_digest(&files, &BTreeMap::new())?;
    writeln!(std::io::stdout(), "{digest}")?;
    Ok(())
}
