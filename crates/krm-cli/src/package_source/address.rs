//! The address of a package on the command line: `REPO[.git]/DIR[@REF]`.

use std::path::{Path, PathBuf};

use krm_core::Diagnostic;
use krm_core::functions::kptfile::upstream::{UpstreamLocation, slashed};

use super::SourceKind;

/// A package on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackageAddress {
    pub(crate) location: UpstreamLocation,
    /// The branch, tag or commit, if one is named.
    pub(crate) reference: Option<String>,
    /// The URL with user name and password, where it has them. They are never written to a file.
    pub(crate) credentials: Option<String>,
}

/// The scheme of packages in registries.
const OCI_SCHEME: &str = "oci://";

/// Hosts whose repositories are always `OWNER/NAME`, so that the rest of the path is a directory.
const TWO_SEGMENT_HOSTS: [&str; 3] = ["github.com", "www.github.com", "bitbucket.org"];

impl PackageAddress {
    /// Parses an address. With `subdirectory` all of the address is the repository.
    pub(crate) fn parse(text: &str, subdirectory: Option<&str>) -> Result<Self, Diagnostic> {
        if text.starts_with(OCI_SCHEME) {
            return Self::parse_oci(text, subdirectory);
        }
        check_url(text)?;
        let (head, path) = split_host(text);
        let (path, reference) = match split_reference(path) {
            (path, Some(reference)) => (path, Some(check_reference(reference)?.to_owned())),
            (path, None) => (path, None),
        };
        let (repo, directory, of_tree) = match subdirectory {
            Some(directory) => (format!("{head}{path}"), directory.to_owned(), None),
            None => split_repository(text, head, path)?,
        };
        check_directory(&directory, text)?;
        let directory = slashed(&directory);
        let repo = absolute(&repo)?;
        let public = without_credentials(&repo);
        let credentials = (public != repo).then_some(repo);
        let location = UpstreamLocation::Git { repo: public, directory };
        Ok(Self { location, reference: reference.or(of_tree), credentials })
    }

    /// Parses `oci://IMAGE[//DIR][:TAG]` or `oci://IMAGE[//DIR]@DIGEST`; the version may also follow the image.
    pub(crate) fn parse_oci(text: &str, subdirectory: Option<&str>) -> Result<Self, Diagnostic> {
        let invalid = |reason: String| {
            Diagnostic::error(SourceKind::InvalidOciAddress { address: text.to_owned(), reason })
        };
        let rest = text.strip_prefix(OCI_SCHEME);
        let rest = rest.ok_or_else(|| invalid("expected `oci://IMAGE:TAG`".to_owned()))?;
        let (image, inside) = rest.split_once("//").unwrap_or((rest, ""));
        let (inside, of_directory) = split_version(inside);
        let (name, of_image) = split_version(image);
        let (separator, version) = match (of_directory, of_image) {
            (Some(_), Some(_)) => return Err(invalid("it has two versions".to_owned())),
            (Some(version), None) | (None, Some(version)) => version,
            (None, None) => (':', "latest"),
        };
        let is_named = of_directory.or(of_image).is_some();
        let directory = match (subdirectory, inside) {
            (Some(_), inside) if !inside.is_empty() => {
                return Err(invalid("it has a directory, and --subdir names another".to_owned()));
            }
            (Some(directory), _) => directory,
            (None, inside) => inside,
        };
        if directory.split('/').any(|part| part == "..") {
            return Err(invalid("the directory leaves the image".to_owned()));
        }
        let reference = krm_oci::Reference::parse(&format!("{name}{separator}{version}"))
            .map_err(|error| invalid(error.to_string()))?;
        let image = format!("{}/{}", reference.registry(), reference.repository());
        let location = UpstreamLocation::Oci { image, directory: slashed(directory) };
        let reference = is_named.then(|| version.to_owned());
        Ok(Self { location, reference, credentials: None })
    }

    /// The name of the directory that the package is written to by default.
    pub(crate) fn default_name(&self) -> Option<&str> {
        let directory = self.location.directory().rsplit('/').next().filter(|it| !it.is_empty());
        let repo = || {
            let path = self.location.address().trim_end_matches('/');
            let name = path.rsplit(['/', ':']).next()?;
            Some(name.strip_suffix(".git").unwrap_or(name)).filter(|it| !it.is_empty())
        };
        directory.or_else(repo)
    }
}

/// The part before a tag or digest, and the tag or digest with what precedes it. A colon before a slash belongs to a port.
fn split_version(text: &str) -> (&str, Option<(char, &str)>) {
    if let Some((before, digest)) = text.split_once('@') {
        return (before, Some(('@', digest)));
    }
    match text.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')) {
        Some((before, tag)) => (before, Some((':', tag))),
        None => (text, None),
    }
}

/// Refuses what git would take as an option or as a program to run.
pub(crate) fn check_url(url: &str) -> Result<(), Diagnostic> {
    let invalid = |reason| {
        let url = without_credentials(url);
        Err(Diagnostic::error(SourceKind::InvalidUrl { url, reason }))
    };
    if url.is_empty() {
        return invalid("it is empty");
    }
    if url.starts_with('-') {
        return invalid("it starts with `-`");
    }
    if url.chars().any(|c| c.is_control() || c == '\u{7f}') {
        return invalid("it has control characters");
    }
    let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if url.split_once("::").is_some_and(|(transport, _)| is_name(transport)) {
        return invalid("remote helpers are not supported");
    }
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let scheme = scheme.to_ascii_lowercase();
            if !["https", "http", "ssh", "git", "file", "git+ssh", "ssh+git"].contains(&&*scheme) {
                return invalid("expected https, ssh, git, http or file");
            }
            // ssh would take the host as an option.
            let authority = rest.split('/').next().unwrap_or_default();
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            if host.starts_with('-') || authority.starts_with('-') {
                return invalid("the host starts with `-`");
            }
            Ok(())
        }
        None if scp_host(url).is_some_and(|host| {
            host.starts_with('-')
                || host.rsplit_once('@').is_some_and(|(_, it)| it.starts_with('-'))
        }) =>
        {
            invalid("the host starts with `-`")
        }
        None => Ok(()),
    }
}

/// Refuses what is not a branch, tag or commit, by the rules of git's own check, and refspecs.
pub(crate) fn check_reference(reference: &str) -> Result<&str, Diagnostic> {
    let is_forbidden = |c: char| c.is_control() || " ~^:?*[\\\u{7f}".contains(c);
    let is_wrong_part = |part: &str| {
        part.is_empty() || part.starts_with('.') || part.ends_with(".lock") || part.ends_with('.')
    };
    let is_wrong = reference.starts_with('-')
        || reference.contains("..")
        || reference.contains("@{")
        || reference.contains(is_forbidden)
        || reference == "@"
        || reference.split('/').any(is_wrong_part);
    match is_wrong {
        true => {
            let reference = reference.to_owned();
            Err(Diagnostic::error(SourceKind::InvalidReference { reference }))
        }
        false => Ok(reference),
    }
}

fn check_directory(directory: &str, address: &str) -> Result<(), Diagnostic> {
    let leaves = directory.split('/').any(|part| part == "..");
    if leaves || directory.contains('\0') {
        let url = without_credentials(address);
        let reason = "the directory leaves the repository";
        return Err(Diagnostic::error(SourceKind::InvalidUrl { url, reason }));
    }
    Ok(())
}

/// The URL without user name and password. The user of ssh stays: it is part of the address, and no secret.
pub(crate) fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let Some((user, host)) = authority.rsplit_once('@') else { return url.to_owned() };
    match scheme.to_ascii_lowercase().contains("ssh") {
        true => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}{path}")
        }
        false => format!("{scheme}://{host}{path}"),
    }
}

/// The host of an address in the form of scp: `git@host:path`. A path with a slash before the colon is a local one.
fn scp_host(text: &str) -> Option<&str> {
    let (host, _) = text.split_once(':')?;
    (!host.contains('/') && !text.contains("://") && !is_local(text)).then_some(host)
}

/// Whether a repository is on this machine.
pub(crate) fn is_local_repository(repo: &str) -> bool {
    match repo.split_once("://") {
        Some((scheme, _)) => scheme.eq_ignore_ascii_case("file"),
        None => scp_host(repo).is_none(),
    }
}

fn is_local(text: &str) -> bool {
    text.starts_with(['/', '.', '~']) || Path::new(text.split('@').next().unwrap_or(text)).exists()
}

/// The part of an address up to the path, and the path.
fn split_host(text: &str) -> (&str, &str) {
    if let Some((scheme, rest)) = text.split_once("://") {
        let start = scheme.len() + 3;
        return match rest.find('/') {
            Some(at) => text.split_at(start + at),
            None => (text, ""),
        };
    }
    match scp_host(text) {
        Some(host) => text.split_at(host.len() + 1),
        None => ("", text),
    }
}

/// The path and the reference after `@`. A reference may have slashes, so that the first `@` after the repository separates.
fn split_reference(path: &str) -> (&str, Option<&str>) {
    let from = git_suffix(path).unwrap_or(0);
    match path[from..].split_once('@') {
        Some((before, reference)) => (&path[..from + before.len()], Some(reference)),
        None => (path, None),
    }
}

/// The end of the segment that ends with `.git`.
fn git_suffix(path: &str) -> Option<usize> {
    let ends = |at: &usize| {
        let rest = &path[at + 4..];
        rest.is_empty() || rest.starts_with(['/', '@'])
    };
    // A directory `.git` is not the end of a repository's name.
    let is_name = |at: &usize| !path[..*at].is_empty() && !path[..*at].ends_with('/');
    path.match_indices(".git").map(|(at, _)| at).filter(is_name).find(ends).map(|at| at + 4)
}

/// Repository, directory and, of a URL of GitHub's pages, the reference.
fn split_repository(
    text: &str,
    head: &str,
    path: &str,
) -> Result<(String, String, Option<String>), Diagnostic> {
    if let Some(end) = git_suffix(path) {
        return Ok((format!("{head}{}", &path[..end]), path[end..].to_owned(), None));
    }
    let scheme = head.split_once("://").map(|(scheme, _)| scheme);
    if head.is_empty() || scheme == Some("file") {
        return split_local(head, path, text);
    }
    let host = head.trim_end_matches(':');
    let host = host.rsplit(['@', '/']).next().unwrap_or(host);
    let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match &segments[..] {
        [owner, name] => Ok((rejoin(head, path, owner, name), String::new(), None)),
        [owner, name, rest @ ..] if TWO_SEGMENT_HOSTS.contains(&host) => match rest {
            ["tree" | "src", reference, rest @ ..] => {
                let reference = check_reference(reference)?.to_owned();
                Ok((rejoin(head, path, owner, name), rest.join("/"), Some(reference)))
            }
            rest => Ok((rejoin(head, path, owner, name), rest.join("/"), None)),
        },
        _ => {
            let address = without_credentials(text);
            Err(Diagnostic::error(SourceKind::AmbiguousAddress { address }))
        }
    }
}

fn rejoin(head: &str, path: &str, owner: &str, name: &str) -> String {
    let slash = if path.starts_with('/') { "/" } else { "" };
    format!("{head}{slash}{owner}/{name}")
}

/// A local path: the innermost directory on it that is a repository.
fn split_local(
    head: &str,
    path: &str,
    text: &str,
) -> Result<(String, String, Option<String>), Diagnostic> {
    let full = Path::new(path);
    let is_repository = |directory: &Path| {
        directory.join(".git").exists()
            || (directory.join("HEAD").is_file() && directory.join("objects").is_dir())
    };
    // From the inside: a package can be in a repository that is inside the directory of another one.
    let found = full.ancestors().find(|directory| {
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        is_repository(directory)
    });
    match found.and_then(|root| Some((root, full.strip_prefix(root).ok()?))) {
        Some((root, inside)) => {
            let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
            let inside = inside.to_string_lossy().into_owned();
            Ok((format!("{head}{}", root.to_string_lossy()), inside, None))
        }
        None => {
            let address = without_credentials(text);
            Err(Diagnostic::error(SourceKind::AmbiguousAddress { address }))
        }
    }
}

/// A local path as a URL, so that the Kptfile means the same from every directory.
fn absolute(repo: &str) -> Result<String, Diagnostic> {
    let is_remote = repo.contains("://") || scp_host(repo).is_some();
    if is_remote {
        return Ok(repo.trim_end_matches('/').to_owned());
    }
    let failed = |error: std::io::Error| {
        let reason = crate::disk::io_reason(&error);
        let action = format!("open the repository {repo}");
        Diagnostic::error(SourceKind::GitFailed { action, reason })
    };
    let path: PathBuf = std::fs::canonicalize(repo).map_err(failed)?;
    Ok(format!("file://{}", path.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, String, Option<String>) {
        let address = PackageAddress::parse(text, None).unwrap();
        let UpstreamLocation::Git { repo, directory } = address.location else { unreachable!() };
        (repo, directory, address.reference)
    }

    #[test]
    fn repository_directory_and_reference_are_separated() {
        for (text, repo, directory, reference) in [
            ("https://x.io/a/b.git/c/d@v1", "https://x.io/a/b.git", "/c/d", Some("v1")),
            ("https://x.io/a/b.git", "https://x.io/a/b.git", "/", None),
            ("https://x.io/a/b.git@v1", "https://x.io/a/b.git", "/", Some("v1")),
            (
                "https://x.io/g/h/b.git/c@feature/x",
                "https://x.io/g/h/b.git",
                "/c",
                Some("feature/x"),
            ),
            ("git@x.io:a/b.git/c@v1", "git@x.io:a/b.git", "/c", Some("v1")),
            ("git@github.com:a/b/c@v1", "git@github.com:a/b", "/c", Some("v1")),
            ("ssh://git@x.io:22/a/b.git/c", "ssh://git@x.io:22/a/b.git", "/c", None),
            ("https://github.com/a/b", "https://github.com/a/b", "/", None),
            ("https://github.com/a/b@v1", "https://github.com/a/b", "/", Some("v1")),
            ("https://github.com/a/b/c/d@v1", "https://github.com/a/b", "/c/d", Some("v1")),
            (
                "https://github.com/a/b/tree/main/c/d",
                "https://github.com/a/b",
                "/c/d",
                Some("main"),
            ),
            ("https://github.com/a/b.gitops/c", "https://github.com/a/b.gitops", "/c", None),
            ("https://x.io/a/b", "https://x.io/a/b", "/", None),
        ] {
            let expected = (repo.to_owned(), directory.to_owned(), reference.map(str::to_owned));
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn addresses_in_registries_have_a_directory_and_a_version() {
        let digest = format!("sha256:{}", "a".repeat(64));
        for (text, image, directory, reference) in [
            ("oci://x.io/a/b:v1", "x.io/a/b", "/", Some("v1")),
            ("oci://localhost:5000/b", "localhost:5000/b", "/", None),
            ("oci://x.io/a//c/d:v1", "x.io/a", "/c/d", Some("v1")),
            ("oci://x.io/a:v1//c", "x.io/a", "/c", Some("v1")),
            (&*format!("oci://x.io/a//c@{digest}"), "x.io/a", "/c", Some(&*digest)),
            (&*format!("oci://x.io/a:v1@{digest}"), "x.io/a", "/", Some(&*digest)),
        ] {
            let address = PackageAddress::parse(text, None).unwrap();
            let found = (address.location.address(), address.location.directory());
            assert_eq!(found, (image, directory), "{text}");
            assert_eq!(address.reference.as_deref(), reference, "{text}");
        }
        for text in [
            "oci://",
            "oci://A B:v1",
            "oci://x.io/a:v1//c:v2",
            "oci://x.io/a//../c:v1",
            "oci://-x/a",
            "oci://x.io/a@sha256:00",
            "oci://x.io/a//c:v 1",
        ] {
            let error = PackageAddress::parse(text, None).unwrap_err();
            assert_eq!(error.id(), "invalid-oci-address", "{text}");
        }
        assert!(PackageAddress::parse("oci://x.io/a//c:v1", Some("d")).is_err());
    }

    #[test]
    fn user_and_password_are_kept_apart() {
        let address = PackageAddress::parse("https://me:secret@x.io/a/b.git/c@v1", None).unwrap();
        assert_eq!(address.location.address(), "https://x.io/a/b.git");
        assert_eq!(address.credentials.as_deref(), Some("https://me:secret@x.io/a/b.git"));
        assert_eq!(without_credentials("ssh://git:pw@x.io/a"), "ssh://git@x.io/a");
    }

    #[test]
    fn addresses_that_could_run_programs_are_refused() {
        for text in [
            "-u/x.git",
            "--upload-pack=x",
            "ext::sh -c x",
            "ext::sh/a.git",
            "fd::3/x.git",
            "https://x.io/a\n.git",
            "ssh://-oProxyCommand=x/a.git",
            "ssh://a@-oProxyCommand=x/a.git",
            "javascript://x/a.git",
            "",
            "\u{1b}[1m.git",
            "a@-oProxyCommand=x:b.git",
        ] {
            let error = PackageAddress::parse(text, None).unwrap_err();
            assert_eq!(error.id(), "invalid-repository-url", "{text:?}");
        }
        for text in [
            "x.git/a@-v",
            "x.git@a..b",
            "x.git@a b",
            "x.git@a:b",
            "x.git@+a^",
            "x.git@a@{1}",
            "x.git@a\\",
        ] {
            let error = PackageAddress::parse(&format!("https://x.io/{text}"), None).unwrap_err();
            assert_eq!(error.id(), "invalid-git-reference", "{text:?}");
        }
        let error = PackageAddress::parse("https://x.io/a.git/../b", None).unwrap_err();
        assert_eq!(error.id(), "invalid-repository-url");
    }

    #[test]
    fn unclear_repository_is_an_error() {
        for text in ["https://x.io/a/b/c", "https://x.io/a", "nowhere/at/all"] {
            let error = PackageAddress::parse(text, None).unwrap_err();
            assert_eq!(error.id(), "ambiguous-package-address", "{text:?}");
        }
        let address = PackageAddress::parse("https://x.io/a/b/c@v1", Some("d/")).unwrap();
        assert_eq!(address.location.address(), "https://x.io/a/b/c");
        assert_eq!(
            (address.location.directory(), address.reference.as_deref()),
            ("/d", Some("v1"))
        );
    }

    #[test]
    fn destination_is_named_after_the_directory_or_repository() {
        for (text, name) in [
            ("https://x.io/a/b.git/c/d@v1", "d"),
            ("https://x.io/a/b.git", "b"),
            ("git@x.io:b.git", "b"),
        ] {
            let address = PackageAddress::parse(text, None).unwrap();
            assert_eq!(address.default_name(), Some(name), "{text}");
        }
    }
}
