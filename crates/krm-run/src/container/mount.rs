//! A folder, a volume or a memory file system that a container sees.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Something that a container sees beside its image; read-only unless it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    kind: Box<str>,
    source: PathBuf,
    target: Box<str>,
    writable: bool,
}

impl Mount {
    /// A folder of the machine, read-only. The source is an absolute path.
    pub fn bind(source: impl Into<PathBuf>, target: &str) -> Self {
        Self { kind: "bind".into(), source: source.into(), target: target.into(), writable: false }
    }

    /// The folder or the volume, for people.
    pub fn source(&self) -> std::path::Display<'_> {
        self.source.display()
    }

    /// The spelling of the command line, `type=bind,src=DIR,dst=/path[,rw=true]`; a relative folder is looked up from
    /// where the person stands.
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
    /// One sentence about what is wrong with the text.
    pub fn parse(text: &str, stands: &Path) -> Result<Self, String> {
        let (mut kind, mut source, mut target, mut writable) = ("bind", None, None, false);
        for part in text.split(',') {
            let (key, value) = part.split_once('=').unwrap_or((part, "true"));
            match (key, value) {
                ("type", "bind" | "volume" | "tmpfs") => kind = value,
                ("src" | "source", value) => source = Some(value),
                ("dst" | "target" | "destination", value) => target = Some(value),
                ("rw", "true" | "false") => writable = value == "true",
                ("ro" | "readonly", "true" | "false") => writable = value == "false",
                _ => return Err(format!("`{part}` in a mount is not understood")),
            }
        }
        let target = target.filter(|target| target.starts_with('/'));
        let target = target.ok_or("a mount needs dst=/an/absolute/path")?;
        let source = match (kind, source.filter(|source| !source.is_empty())) {
            ("tmpfs", None) => PathBuf::new(),
            ("tmpfs", Some(_)) => return Err("a tmpfs has no src".to_owned()),
            (_, None) => return Err("a mount needs src=FOLDER".to_owned()),
            ("bind", Some(source)) => stands.join(source),
            (_, Some(source)) => PathBuf::from(source),
        };
        Ok(Self { kind: kind.into(), source, target: target.into(), writable })
    }

    /// Whether nothing but this folder is seen, and not written: what a package may ask for by itself.
    pub fn stays_inside(&self, folder: &Path) -> bool {
        match &*self.kind {
            "tmpfs" => true,
            "bind" if !self.writable => {
                // A link can lead anywhere; what is not there cannot be mounted either.
                let [folder, source] = [folder, &self.source].map(std::fs::canonicalize);
                source.is_ok_and(|source| folder.is_ok_and(|folder| source.starts_with(folder)))
            }
            _ => false,
        }
    }

    /// The value of `--mount`: fields between commas, quoted where they hold one.
    pub(super) fn argument(&self) -> OsString {
        let mut text = OsString::from(format!("type={}", self.kind));
        if !self.source.as_os_str().is_empty() {
            text.push(",");
            text.push(quoted("source=", self.source.as_os_str()));
        }
        text.push(",");
        text.push(quoted("target=", self.target.as_ref().as_ref()));
        // Memory that nobody may write is of no use, and not every engine takes the word there.
        if !self.writable && &*self.kind != "tmpfs" {
            text.push(",readonly");
        }
        text
    }
}

/// A field of comma separated values.
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
    fn mounts_are_read_only_unless_asked_for() {
        let it = argument("type=bind,src=a,dst=/b");
        assert_eq!(it.as_deref(), Ok("type=bind,source=/home/me/a,target=/b,readonly"));
        let it = argument("type=bind,source=/a,target=/b,rw=true");
        assert_eq!(it.as_deref(), Ok("type=bind,source=/a,target=/b"));
    }

    #[test]
    fn the_name_of_a_volume_is_no_path() {
        let it = argument("type=volume,src=cache,dst=/b");
        assert_eq!(it.as_deref(), Ok("type=volume,source=cache,target=/b,readonly"));
        assert_eq!(argument("type=tmpfs,dst=/b").as_deref(), Ok("type=tmpfs,target=/b"));
    }

    #[test]
    fn a_comma_in_a_folder_splits_nothing() {
        let mount = Mount::bind("/a,readonly=false \"x\"", "/b").argument();
        assert_eq!(mount, r#"type=bind,"source=/a,readonly=false ""x""",target=/b,readonly"#);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in
            ["", "src=a", "dst=/b", "src=a,dst=b", "type=npipe,src=a,dst=/b", "src=a,dst=/b,x"]
        {
            assert!(argument(text).is_err(), "{text}");
        }
    }
}
