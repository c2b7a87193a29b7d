//! Packages of Debian, RPM and Python around a binary that is already built.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::supply_chain::{Tool, tool};
use crate::{TaskResult, shell};

const CARGO_DEB: Tool = Tool { name: "cargo-deb", version: "3.8.0", features: "" };
const CARGO_RPM: Tool = Tool { name: "cargo-generate-rpm", version: "0.21.1", features: "" };

/// The program that packs wheels, a package of PyPI.
const WHEEL: &str = "wheel==0.45.1";

/// The files of the sources that a wheel contains as its licence.
const LICENSES: [&str; 2] = ["LICENSE", "NOTICE"];

/// A built target, and where its packages go.
pub(super) struct Packages<'a> {
    /// The exported sources, whose manifest lists the contents of the packages; they contain the manual pages and completions.
    pub(super) source: &'a Path,
    pub(super) target_directory: &'a Path,
    pub(super) target: &'a str,
    pub(super) epoch: &'a str,
    pub(super) out: &'a Path,
}

impl Packages<'_> {
    /// Writes all packages and returns their names.
    pub(super) fn write(&self) -> TaskResult<Vec<String>> {
        Ok(vec![self.deb()?, self.rpm()?, self.wheel()?])
    }

    fn architecture(&self) -> &str {
        self.target.split('-').next().unwrap_or(self.target)
    }

    fn program(&self, name: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = shell::program(name);
        command.current_dir(self.source).env("SOURCE_DATE_EPOCH", self.epoch);
        command.env("CARGO_TARGET_DIR", self.target_directory);
        command
    }

    fn deb(&self) -> TaskResult<String> {
        let architecture = super::platform_architecture(self.target);
        let name = format!("krm_{}_{architecture}.deb", env!("CARGO_PKG_VERSION"));
        let mut deb = self.program(tool(CARGO_DEB)?);
        deb.args(["--no-build", "--no-strip", "--package", "krm-cli", "--profile", "dist"]);
        deb.args(["--target", self.target, "--output"]).arg(self.out.join(&name));
        shell::output(&mut deb)?;
        Ok(name)
    }

    fn rpm(&self) -> TaskResult<String> {
        let name = format!("krm-{}.{}.rpm", env!("CARGO_PKG_VERSION"), self.architecture());
        let mut rpm = self.program(tool(CARGO_RPM)?);
        rpm.args(["generate-rpm", "--package", "crates/krm-cli", "--profile", "dist"]);
        rpm.args(["--source-date", self.epoch, "--target", self.target, "--target-dir"]);
        rpm.arg(self.target_directory).arg("--output").arg(self.out.join(&name));
        shell::output(&mut rpm)?;
        Ok(name)
    }

    /// A wheel with the binary as its only script, so that `pipx` and pre-commit install krm without Rust.
    fn wheel(&self) -> TaskResult<String> {
        let version = env!("CARGO_PKG_VERSION");
        // A static binary runs with every C library.
        let architecture = self.architecture();
        let tag = format!("py3-none-manylinux2014_{architecture}.musllinux_1_1_{architecture}");
        let stage = self.out.join("wheel");
        let scripts = stage.join(format!("krm_cli-{version}.data/scripts"));
        let metadata = stage.join(format!("krm_cli-{version}.dist-info"));
        fs::create_dir_all(&scripts)?;
        // Where version 2.4 of the metadata has the files that `License-File` names; PyPI refuses a wheel without them.
        let licenses = metadata.join("licenses");
        fs::create_dir_all(&licenses)?;
        let binary = self.target_directory.join(self.target).join("dist/krm");
        fs::copy(binary, scripts.join("krm"))?;
        for file in LICENSES {
            fs::copy(self.source.join(file), licenses.join(file))?;
        }
        let readme = fs::read_to_string(self.source.join("README.md"))?;
        fs::write(metadata.join("METADATA"), wheel_metadata(&readme))?;
        let tags: String = tag
            .trim_start_matches("py3-none-")
            .split('.')
            .map(|platform| format!("Tag: py3-none-{platform}\n"))
            .collect();
        fs::write(
            metadata.join("WHEEL"),
            format!("Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\n{tags}"),
        )?;
        let python = crate::cross::python_environment(&[WHEEL])?;
        let mut pack = self.program(python.join("python"));
        pack.args(["-m", "wheel", "pack", "--dest-dir"]).arg(self.out).arg(&stage);
        shell::output(&mut pack)?;
        fs::remove_dir_all(&stage)?;
        Ok(format!("krm_cli-{version}-{tag}.whl"))
    }
}

fn wheel_metadata(readme: &str) -> String {
    let readme = super::archive::absolute_links(readme);
    let licenses: String = LICENSES.iter().map(|file| format!("License-File: {file}\n")).collect();
    format!(
        "Metadata-Version: 2.4\nName: krm-cli\nVersion: {}\nSummary: {}\nHome-page: {}\nLicense-Expression: {}\n{licenses}Requires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n{readme}",
        env!("CARGO_PKG_VERSION"),
        super::SUMMARY,
        env!("CARGO_PKG_REPOSITORY"),
        env!("CARGO_PKG_LICENSE"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheel_names_every_licence() {
        let metadata = wheel_metadata("# krm\n");
        let (header, readme) = metadata.split_once("\n\n").expect("an empty line ends the header");
        assert!(header.contains("\nLicense-File: LICENSE\nLicense-File: NOTICE\n"), "{header}");
        assert_eq!(readme, "# krm\n");
    }
}
