//! The archives that users download: the binary with its licence, manual pages and completions.

use std::fs;
use std::path::Path;

use crate::{TaskResult, shell};

/// Files of the sources that every archive contains.
const FILES: &[&str] = &["LICENSE", "NOTICE", "README.md", "CHANGELOG.md"];

/// The shells with completions, and the names that their package managers expect.
const COMPLETIONS: &[(&str, &str)] =
    &[("bash", "krm.bash"), ("zsh", "_krm"), ("fish", "krm.fish"), ("powershell", "krm.ps1")];

/// Lets a binary for this machine write manual pages and completions, which are the same for all targets.
pub(super) fn write_documents(directory: &Path, krm: &Path) -> TaskResult {
    let manual = directory.join("man/man1");
    let completions = directory.join("completions");
    fs::create_dir_all(&manual)?;
    fs::create_dir_all(&completions)?;
    shell::output(shell::program(krm).args(["man", "--dir"]).arg(&manual))?;
    for (shell_name, file) in COMPLETIONS {
        let script = shell::output(shell::program(krm).args(["completion", shell_name]))?;
        // The script names the program that printed it, which is not where users install it.
        fs::write(completions.join(file), script.replace(&*krm.to_string_lossy(), "krm"))?;
    }
    Ok(())
}

/// What the archives of all targets share.
pub(super) struct Archive<'a> {
    pub(super) source: &'a Path,
    /// The time of all files, in seconds since 1970.
    pub(super) epoch: &'a str,
}

impl Archive<'_> {
    /// Writes the archive of one target into `out` and returns its name.
    pub(super) fn write(
        &self,
        binary: &Path,
        documents: &Path,
        target: &str,
        out: &Path,
    ) -> TaskResult<String> {
        let name = format!("krm-{}-{target}", env!("CARGO_PKG_VERSION"));
        let stage = out.join("stage");
        let root = stage.join(&name);
        fs::create_dir_all(&root)?;
        fs::copy(binary, root.join("krm"))?;
        for file in FILES {
            fs::copy(self.source.join(file), root.join(file))?;
        }
        for directory in ["man", "completions"] {
            let from = documents.join(directory);
            shell::output(shell::program("cp").arg("-R").arg(from).arg(&root))?;
        }
        let archive = format!("{name}.tar.gz");
        let mut tar = shell::program("tar");
        // Order, times, owners and modes of the building machine are not part of the release.
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"]);
        tar.args(["--mode=u=rwX,go=rX", "--use-compress-program=gzip -9n"]);
        tar.arg(format!("--mtime=@{}", self.epoch)).arg("-C").arg(&stage);
        shell::output(tar.arg("-cf").arg(out.join(&archive)).arg(&name))?;
        fs::remove_dir_all(&stage)?;
        Ok(archive)
    }
}

/// Writes the directory from which the image of a target is built: the Dockerfile and what it copies.
pub(super) fn write_image_context(source: &Path, binary: &Path, context: &Path) -> TaskResult {
    fs::create_dir_all(context)?;
    fs::copy(binary, context.join("krm"))?;
    fs::copy(source.join("integrations/container/Dockerfile"), context.join("Dockerfile"))?;
    for file in ["LICENSE", "NOTICE"] {
        fs::copy(source.join(file), context.join(file))?;
    }
    Ok(())
}

/// Markdown whose links to files of the repository are addresses of this release, for pages outside of the repository.
pub(super) fn absolute_links(markdown: &str) -> String {
    let (repository, version) = (env!("CARGO_PKG_REPOSITORY"), env!("CARGO_PKG_VERSION"));
    let mut text = String::new();
    for (at, part) in markdown.split("](").enumerate() {
        if at > 0 {
            text.push_str("](");
            if !part.starts_with("http") && !part.starts_with('#') {
                text.push_str(&format!("{repository}/blob/v{version}/"));
            }
        }
        text.push_str(part);
    }
    text.replace("src=\"docs/", &format!("src=\"{repository}/raw/v{version}/docs/"))
}

/// The newest section of the changelog, without its title.
pub(super) fn release_notes(changelog: &str) -> TaskResult<String> {
    let mut sections = changelog.split("\n## ").skip(1);
    let newest = sections.next().ok_or("the changelog has no section")?;
    let (_, notes) =
        newest.split_once('\n').ok_or("the newest section of the changelog is empty")?;
    Ok(format!("{}\n", absolute_links(notes.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_of_the_repository_become_addresses() {
        let text = absolute_links("[a](docs/a.md#b), [b](https://b.io), <img src=\"docs/c.svg\">");
        let version = env!("CARGO_PKG_VERSION");
        let repository = env!("CARGO_PKG_REPOSITORY");
        let expected = format!(
            "[a]({repository}/blob/v{version}/docs/a.md#b), [b](https://b.io), <img src=\"{repository}/raw/v{version}/docs/c.svg\">"
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn release_notes_are_the_newest_section() -> TaskResult {
        let changelog =
            "# Changelog\n\nIntroduction.\n\n## 0.2.0\n\n### Added\n- b\n\n## 0.1.0\n- a\n";
        assert_eq!(release_notes(changelog)?, "### Added\n- b\n");
        assert!(release_notes("# Changelog\n").is_err());
        Ok(())
    }
}
