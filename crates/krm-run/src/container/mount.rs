//! A bind mount, volume or tmpfs of a container.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A mount of a container; read-only by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    kind: Box<str>,
    source: PathBuf,
    target: Box<str>,
    writable: bool,
}

impl Mount {
    /// A read-only bind mount of a directory of the host. The source is an absolute path.
    pub fn bind(source: impl Into<PathBuf>, target: &str) -> Self {
        Self { kind: "bind".into(), source: source.into(), target: target.into(), writable: false }
    }

    /// The directory or volume, for messages.
    pub fn source(&self) -> std::path::Display<'_> {
        self.source.display()
    }

    /// The directory of a bind mount.
    pub(crate) fn source_path(&self) -> &Path {
        &self.source
    }

    /// The path in the container.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }

    pub(crate) fn is_tmpfs(&self) -> bool {
        &*self.kind == "tmpfs"
    }

    /// Whether it is a volume of a container engine.
    pub(crate) fn is_volume(&self) -> bool {
        &*self.kind == "volume"
    }

    /// The directory of the host, if it is one that the container cannot change.
    pub(super) fn readonly_directory(&self) -> Option<&Path> {
        (&*self.kind == "bind" && !self.is_writable()).then_some(&*self.source)
    }

    /// The spelling of the command line, `type=bind,src=DIR,dst=/path[,rw=true]`; a relative source is resolved
    /// from the working directory.
    ///
    /// ```
    /// use std::path::Path;
    /// use krm_run::Mount;
    ///
    /// let mount = Mount::parse("type=bind,src=schemas,dst=/schemas", Path::new("/home/me"))?;
    /// assert_eq!(mount, Mount::bind("/home/me/schemas", "/schemas"));
    /// assert!(Mount::parse("src=schemas", Path::new("/home/me")).is_err());
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str, working_directory: &Path) -> Result<Self, String> {
        let (mut kind, mut source, mut target, mut writable) = ("bind", None, None, false);
        for part in text.split(',') {
            let (key, value) = part.split_once('=').unwrap_or((part, "true"));
            match (key, value) {
                ("type", "bind" | "volume" | "tmpfs") => kind = value,
                ("src" | "source", value) => source = Some(value),
                ("dst" | "target" | "destination", value) => target = Some(value),
                ("rw", "true" | "false") => writable = value == "true",
                ("ro" | "readonly", "true" | "false") => writable = value == "false",
                _ => return Err(format!("unknown option `{part}`")),
            }
        }
        let target = target.filter(|target| target.starts_with('/'));
        let target = target.ok_or("expected dst=/an/absolute/path")?;
        let source = match (kind, source.filter(|source| !source.is_empty())) {
            ("tmpfs", None) => PathBuf::new(),
            ("tmpfs", Some(_)) => return Err("a tmpfs cannot have a src".to_owned()),
            (_, None) => return Err("expected src=DIRECTORY".to_owned()),
            ("bind", Some(source)) => working_directory.join(source),
            (_, Some(source)) => PathBuf::from(source),
        };
        Ok(Self { kind: kind.into(), source, target: target.into(), writable })
    }

    /// The path on the host of a file with this path in the container; none if the mount does not contain it.
    pub(crate) fn host_path(&self, path: &str) -> Option<PathBuf> {
        let inside = Path::new(path).strip_prefix(&*self.target).ok()?;
        let is_plain = inside.components().all(|it| matches!(it, std::path::Component::Normal(_)));
        (&*self.kind == "bind" && is_plain).then(|| self.source.join(inside))
    }

    /// Whether the mount is read-only and inside a directory: such a mount of its own package a function may request.
    pub fn is_readonly_inside(&self, directory: &Path) -> bool {
        match &*self.kind {
            "tmpfs" => true,
            "bind" if !self.is_writable() => {
                // Symlinks are resolved, because one can point anywhere. A source that does not exist cannot be mounted.
                let [directory, source] = [directory, &self.source].map(std::fs::canonicalize);
                source.is_ok_and(|source| directory.is_ok_and(|it| source.starts_with(it)))
            }
            _ => false,
        }
    }

    /// The value of `--mount`: comma-separated fields, quoted where they contain a comma.
    pub(super) fn argument(&self) -> OsString {
        let mut text = OsString::from(format!("type={}", self.kind));
        if !self.source.as_os_str().is_empty() {
            text.push(",");
            text.push(quoted("source=", self.source.as_os_str()));
        }
        text.push(",");
        text.push(quoted("target=", self.target.as_ref().as_ref()));
        // A read-only tmpfs is useless, and not every engine accepts the option.
        if !self.is_writable() && &*self.kind != "tmpfs" {
            text.push(",readonly");
        }
        text
    }
}

/// A field of comma-separated values.
fn quoted(key: &str, value: &std::ffi::OsStr) -> OsString {
    let mut field = OsString::from(key);
    field.push(value);
    match field.to_str() {
        Some(text) if text.contains([',', '"', '\n']) => {
            format!("\"{}\"", text.replace('"', "\"\"")).into()
        }
        _ => field,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(text: &str) -> Result<String, String> {
        let mount = Mount::parse(text, Path::new("/home/me"))?;
        Ok(mount.argument().to_string_lossy().into_owned())
    }

    #[test]
    fn mounts_are_read_only_by_default() {
        let mount = argument("type=bind,src=a,dst=/b");
        assert_eq!(mount.as_deref(), Ok("type=bind,source=/home/me/a,target=/b,readonly"));
        let mount = argument("type=bind,source=/a,target=/b,rw=true");
        assert_eq!(mount.as_deref(), Ok("type=bind,source=/a,target=/b"));
    }

    #[test]
    fn volume_names_are_not_resolved_as_paths() {
        let mount = argument("type=volume,src=cache,dst=/b");
        assert_eq!(mount.as_deref(), Ok("type=volume,source=cache,target=/b,readonly"));
        assert_eq!(argument("type=tmpfs,dst=/b").as_deref(), Ok("type=tmpfs,target=/b"));
    }

    #[test]
    fn commas_in_a_source_are_quoted() {
        let mount = Mount::bind("/a,readonly=false \"x\"", "/b").argument();
        assert_eq!(mount, r#"type=bind,"source=/a,readonly=false ""x""",target=/b,readonly"#);
    }

    #[test]
    fn invalid_mounts_are_rejected() {
        for text in
            ["", "src=a", "dst=/b", "src=a,dst=b", "type=npipe,src=a,dst=/b", "src=a,dst=/b,x"]
        {
            assert!(argument(text).is_err(), "{text}");
        }
    }
}
