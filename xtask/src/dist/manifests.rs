//! Manifests for package managers that download the archives: Homebrew and krew.

use std::fmt::Write as _;

/// An archive of a release.
pub(super) struct Download<'a> {
    /// The target triple.
    pub(super) target: &'a str,
    pub(super) file: &'a str,
    pub(super) sha256: &'a str,
}

impl Download<'_> {
    fn url(&self) -> String {
        let (repository, version) = (env!("CARGO_PKG_REPOSITORY"), env!("CARGO_PKG_VERSION"));
        format!("{repository}/releases/download/v{version}/{}", self.file)
    }

    fn is_arm(&self) -> bool {
        self.target.starts_with("aarch64")
    }

    /// The directory inside the archive.
    fn directory(&self) -> &str {
        self.file.trim_end_matches(".tar.gz")
    }
}

/// The formula for Homebrew, for Linux: releases have no archives for macOS, where Homebrew builds krm with cargo.
pub(super) fn homebrew(downloads: &[Download]) -> String {
    let mut text = format!(
        "class Krm < Formula\n  desc \"{}\"\n  homepage \"{}\"\n  version \"{}\"\n  license \"{}\"\n",
        super::SUMMARY,
        env!("CARGO_PKG_REPOSITORY"),
        env!("CARGO_PKG_VERSION"),
        env!("CARGO_PKG_LICENSE"),
    );
    text.push_str("\n  on_linux do\n");
    for download in downloads {
        let condition = if download.is_arm() { "on_arm" } else { "on_intel" };
        let (url, sum) = (download.url(), download.sha256);
        let _ = write!(
            text,
            "    {condition} do\n      url \"{url}\"\n      sha256 \"{sum}\"\n    end\n"
        );
    }
    text.push_str("  end\n\n  on_macos do\n");
    let (repository, version) = (env!("CARGO_PKG_REPOSITORY"), env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "    url \"{repository}.git\", tag: \"v{version}\"");
    text.push_str("    depends_on \"rust\" => :build\n  end\n");
    text.push_str(
        "
  def install
    if OS.mac?
      system \"cargo\", \"install\", \"--features\", \"full\", *std_cargo_args(path: \"crates/krm-cli\")
      generate_completions_from_executable(bin/\"krm\", \"completion\")
    else
      bin.install \"krm\"
      man1.install Dir[\"man/man1/*.1\"]
      bash_completion.install \"completions/krm.bash\" => \"krm\"
      zsh_completion.install \"completions/_krm\"
      fish_completion.install \"completions/krm.fish\"
    end
  end

  test do
    assert_match version.to_s, shell_output(\"#{bin}/krm version\")
  end
end
",
    );
    text
}

/// The manifest for krew, which installs krm as `kubectl krm`.
pub(super) fn krew(downloads: &[Download]) -> String {
    let mut text = format!(
        "apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: krm
spec:
  version: v{}
  homepage: {}
  shortDescription: Edit, merge and render manifests
  description: |
    {}
  platforms:
",
        env!("CARGO_PKG_VERSION"),
        env!("CARGO_PKG_REPOSITORY"),
        super::SUMMARY,
    );
    for download in downloads {
        let architecture = if download.is_arm() { "arm64" } else { "amd64" };
        let _ = write!(
            text,
            "  - selector:
      matchLabels:
        os: linux
        arch: {architecture}
    uri: {}
    sha256: {}
    files:
    - from: {directory}/krm
      to: .
    - from: {directory}/LICENSE
      to: .
    bin: krm
",
            download.url(),
            download.sha256,
            directory = download.directory(),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOWNLOADS: &[Download] = &[
        Download { target: "x86_64-unknown-linux-musl", file: "krm-1-x.tar.gz", sha256: "aa" },
        Download { target: "aarch64-unknown-linux-musl", file: "krm-1-a.tar.gz", sha256: "bb" },
    ];

    #[test]
    fn summary_is_short_enough_for_homebrew() {
        assert!(super::super::SUMMARY.len() <= 80);
    }

    #[test]
    fn every_architecture_has_its_own_archive_and_sum() {
        let formula = homebrew(DOWNLOADS);
        let arm = formula.split("on_arm do").nth(1).expect("a block for arm");
        assert!(arm.contains("krm-1-a.tar.gz\"\n      sha256 \"bb\""), "{formula}");
        // What is built on macOS has the same commands as the archives.
        assert!(formula.contains("\"--features\", \"full\""), "{formula}");
        let manifest = krew(DOWNLOADS);
        let arm = manifest.split("arch: arm64").nth(1).expect("a platform for arm");
        assert!(arm.contains("krm-1-a.tar.gz\n    sha256: bb"), "{manifest}");
        assert!(arm.contains("- from: krm-1-a/krm"), "{manifest}");
    }
}
