//! Kubernetes' own reader of YAML, in a Go process that `cargo xtask peers --only gopeer` builds.

use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What Kubernetes reads from a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The documents up to the first error, as JSON on one line each.
    pub documents: Vec<String>,
    /// Why the rest of the text cannot be read.
    pub error: Option<String>,
}

/// A process with Kubernetes' reader. It answers one text after the other.
#[derive(Debug)]
pub struct KubernetesReader {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl KubernetesReader {
    /// Starts the reader; `None` if it is not built.
    pub fn start() -> Option<io::Result<Self>> {
        let program = program();
        program.is_file().then(|| Self::start_program(&program))
    }

    fn start_program(program: &Path) -> io::Result<Self> {
        let mut command = Command::new(program);
        let mut child = command.arg("read").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, stdin, stdout: BufReader::new(stdout) })
    }

    /// Reads one text as kubectl does.
    pub fn read(&mut self, text: &str) -> io::Result<Reading> {
        let length = u32::try_from(text.len()).map_err(io::Error::other)?;
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(&length.to_be_bytes())?;
        stdin.write_all(text.as_bytes())?;
        let mut length = [0; 4];
        self.stdout.read_exact(&mut length)?;
        let mut answer = vec![0; u32::from_be_bytes(length) as usize];
        self.stdout.read_exact(&mut answer)?;
        Ok(Reading::parse(&String::from_utf8_lossy(&answer)))
    }
}

impl Drop for KubernetesReader {
    fn drop(&mut self) {
        // The process exits at the end of its input.
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

impl Reading {
    /// The documents that are not empty. Kubernetes skips empty documents, for example at the end of a file.
    pub fn objects(&self) -> impl Iterator<Item = &str> {
        self.documents.iter().map(String::as_str).filter(|json| *json != "null")
    }

    fn parse(answer: &str) -> Self {
        let mut found = Self { documents: Vec::new(), error: None };
        for line in answer.lines() {
            match line.strip_prefix("error: ") {
                Some(error) => found.error = Some(error.to_owned()),
                None => found.documents.push(line.to_owned()),
            }
        }
        found
    }
}

/// The program as `cargo xtask peers` installs it, in the target directory of the workspace.
fn program() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root.join(target).join("peers/bin/gopeer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_documents_up_to_the_error() {
        let reading = Reading::parse("{\"a\":1}\nnull\nerror: line 3\n");
        assert_eq!(reading.objects().collect::<Vec<_>>(), ["{\"a\":1}"]);
        assert_eq!(reading.error.as_deref(), Some("line 3"));
    }

    #[test]
    fn kubernetes_reads_yaml_1_1() {
        let Some(reader) = KubernetesReader::start() else {
            return eprintln!("skipped: run `cargo xtask peers --only gopeer` first");
        };
        let mut reader = reader.expect("gopeer starts");
        let reading = reader.read("a: yes\nb: 017\n---\nc: 1\n").expect("it answers");
        assert_eq!(reading.documents, [r#"{"a":true,"b":15}"#, r#"{"c":1}"#]);
        let reading = reader.read("a: 1\n---\nb: [\n").expect("it answers");
        assert_eq!(reading.documents, [r#"{"a":1}"#]);
        assert!(reading.error.is_some());
    }
}
