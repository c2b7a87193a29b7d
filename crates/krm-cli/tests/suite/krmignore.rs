//! `.krmignore` compared with git: generated patterns exclude the same files in both.

use std::collections::BTreeSet;

use crate::sandbox::Sandbox;

const NAMES: [&str; 7] = ["a", "b", "ab", "{a,b}", "a b", "[a]", "é"];
const PIECES: [&str; 30] = [
    "a",
    "b",
    "ab",
    "*",
    "*",
    "**",
    "**/",
    "/",
    "/",
    "?",
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-z]",
    "[]a]",
    "{a,b}",
    "\\a",
    "\\",
    "[[:alpha:]]",
    "[[:punct:]]",
    "[[:x:]]",
    "[a",
    "]",
    ".yaml",
    "*.yaml",
    " ",
    "\\ ",
    "é",
    "#",
    "!",
];

/// A random number generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn pattern(&mut self) -> String {
        let start = ["", "", "", "!", "/", "!/"][self.below(6)];
        let length = 1 + self.below(4);
        let pieces: String = (0..length).map(|_| PIECES[self.below(PIECES.len())]).collect();
        let end = ["", "", "", ".yaml", "/", " ", "/**"][self.below(7)];
        format!("{start}{pieces}{end}")
    }

    fn file(&mut self) -> String {
        let lines = 1 + self.below(4);
        (0..lines).map(|_| self.pattern() + "\n").collect()
    }
}

fn package() -> Sandbox {
    let sandbox = Sandbox::new();
    let resource = b"apiVersion: v1\nkind: Pod\n";
    for one in NAMES {
        sandbox.write(&format!("p/{one}.yaml"), resource);
        for two in NAMES {
            sandbox.write(&format!("p/{one}/{two}.yaml"), resource);
        }
        for two in ["a", "b"] {
            sandbox.write(&format!("p/{one}/{two}/{one}.yaml"), resource);
        }
    }
    assert_eq!(sandbox.run("cd p && git init -q && git config core.quotePath false").exit, 0);
    sandbox
}

fn by_git(sandbox: &Sandbox) -> BTreeSet<String> {
    let ran = sandbox.run("cd p && git ls-files --others --exclude-standard -z -- '*.yaml'");
    assert_eq!((ran.stderr.as_str(), ran.exit), ("", 0));
    ran.stdout.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn by_krm(sandbox: &Sandbox, directory: &str) -> BTreeSet<String> {
    let ran = sandbox.run(&format!("cd {directory} && krm cfg tree . -q -o json"));
    // Patterns that match nothing are warnings.
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let name = |line: &str| line.strip_prefix("{\"file\":\"")?.split('"').next().map(str::to_owned);
    ran.stdout.lines().filter_map(name).collect()
}

#[test]
fn generated_patterns_match_like_git() {
    let (sandbox, mut random) = (package(), Random(7));
    let (mut some, all) = (0, by_git(&sandbox).len());
    for _ in 0..120 {
        let (top, inner) = (random.file(), random.file());
        for name in [".gitignore", ".krmignore"] {
            sandbox.write(&format!("p/{name}"), top.as_bytes());
            sandbox.write(&format!("p/a/{name}"), inner.as_bytes());
        }
        let (git, krm) = (by_git(&sandbox), by_krm(&sandbox, "p"));
        assert_eq!(git, krm, "\np/.krmignore:\n{top}p/a/.krmignore:\n{inner}");
        some += usize::from(git.len() < all && !git.is_empty());
    }
    assert!(some > 40, "only {some} samples excluded some files but not all");
}

#[test]
fn common_patterns_match_like_git() {
    let sandbox = package();
    for text in [
        "a\n",
        "/a\n",
        "a/\n!a/b.yaml\n",
        "*\n!*/\n!a.yaml\n",
        "a/*\n!a/b.yaml\n",
        "**/a/*.yaml\n",
        "a/**/a.yaml\n",
        "a**/a.yaml\n",
        "ab/**\n",
        "{a,b}.yaml\n",
        "[a].yaml\n",
        "\\[a\\].yaml\n",
        "\u{feff}a.yaml\r\nb.yaml  \r\n",
        "a b.yaml\n",
        "?.yaml\n",
        "b.yaml\n!/b.yaml\n",
    ] {
        for name in [".gitignore", ".krmignore"] {
            sandbox.write(&format!("p/{name}"), text.as_bytes());
        }
        assert_eq!(by_git(&sandbox), by_krm(&sandbox, "p"), "{text}");
    }
}

#[test]
fn ignored_files_do_not_depend_on_the_starting_directory() {
    let (sandbox, mut random) = (package(), Random(11));
    sandbox.write("p/Krmfile", b"apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n");
    for _ in 0..30 {
        // An excluded directory is still read if it is an argument, so `a` must not be excluded.
        sandbox.write("p/.krmignore", format!("{}!/a\n", random.file()).as_bytes());
        sandbox.write("p/a/.krmignore", random.file().as_bytes());
        let whole = by_krm(&sandbox, "p");
        let below = whole.iter().filter_map(|name| name.strip_prefix("a/")).map(str::to_owned);
        assert_eq!(below.collect::<BTreeSet<_>>(), by_krm(&sandbox, "p/a"));
    }
}
