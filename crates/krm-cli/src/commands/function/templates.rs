//! The files of a new function by language; `{{name}}`, `{{sdk}}` and `{{repository}}` are replaced.

use super::new::Lang;

macro_rules! files {
    ($($path:literal: $template:literal;)*) => {
        &[$(($path, include_str!(concat!("templates/", $template)))),*]
    };
}

const RUST: &[(&str, &str)] = files! {
    ".dockerignore": "rust/gitignore.txt";
    ".github/workflows/test.yaml": "rust/test.yaml";
    ".gitignore": "rust/gitignore.txt";
    "Cargo.toml": "rust/Cargo.toml.txt";
    "Dockerfile": "rust/Dockerfile";
    "README.md": "rust/README.md";
    "config.yaml": "config.yaml";
    "src/main.rs": "rust/src/main.rs";
    "tests/cases/owner/config.yaml": "config.yaml";
    "tests/cases/owner/expected/web.yaml": "rust/tests/cases/owner/expected/web.yaml";
    "tests/cases/owner/in/web.yaml": "rust/tests/cases/owner/in/web.yaml";
    "tests/cases/owner/results.yaml": "rust/tests/cases/owner/results.yaml";
    "tests/hosts.rs": "rust/tests/hosts.rs";
};

const GO: &[(&str, &str)] = files! {
    ".dockerignore": "go/gitignore.txt";
    ".github/workflows/test.yaml": "go/test.yaml";
    ".gitignore": "go/gitignore.txt";
    "Dockerfile": "go/Dockerfile";
    "README.md": "go/README.md";
    "config.yaml": "config.yaml";
    "go.mod": "go/go.mod.txt";
    "go.sum": "go/go.sum.txt";
    "main.go": "go/main.go.txt";
    "main_test.go": "go/main_test.go.txt";
};

const PYTHON: &[(&str, &str)] = files! {
    ".github/workflows/test.yaml": "python/test.yaml";
    ".gitignore": "python/gitignore.txt";
    "Dockerfile": "python/Dockerfile";
    "README.md": "python/README.md";
    "config.yaml": "config.yaml";
    "function.py": "python/function.py";
    "requirements.txt": "python/requirements.txt";
    "resource_list.py": "python/resource_list.py";
    "test_function.py": "python/test_function.py";
};

const TYPESCRIPT: &[(&str, &str)] = files! {
    ".dockerignore": "typescript/gitignore.txt";
    ".github/workflows/test.yaml": "typescript/test.yaml";
    ".gitignore": "typescript/gitignore.txt";
    "Dockerfile": "typescript/Dockerfile";
    "README.md": "typescript/README.md";
    "config.yaml": "config.yaml";
    "package.json": "typescript/package.json";
    "src/function.test.ts": "typescript/src/function.test.ts";
    "src/function.ts": "typescript/src/function.ts";
    "src/main.ts": "typescript/src/main.ts";
    "src/resource-list.ts": "typescript/src/resource-list.ts";
    "tsconfig.json": "typescript/tsconfig.json";
};

const SHELL: &[(&str, &str)] = files! {
    ".github/workflows/test.yaml": "shell/test.yaml";
    ".gitignore": "shell/gitignore.txt";
    "Dockerfile": "shell/Dockerfile";
    "README.md": "shell/README.md";
    "config.yaml": "config.yaml";
    "function.sh": "shell/function.sh";
    "test.sh": "shell/test.sh";
};

const STARLARK: &[(&str, &str)] = files! {
    ".github/workflows/test.yaml": "starlark/test.yaml";
    ".gitignore": "starlark/gitignore.txt";
    "Dockerfile": "starlark/Dockerfile";
    "README.md": "starlark/README.md";
    "config.yaml": "config.yaml";
    "function.star": "starlark/function.star";
    "test.sh": "starlark/test.sh";
};

/// The files of a project: path and text.
pub(super) fn files(lang: Lang) -> &'static [(&'static str, &'static str)] {
    match lang {
        Lang::Rust => RUST,
        Lang::Go => GO,
        Lang::Python => PYTHON,
        Lang::Typescript => TYPESCRIPT,
        Lang::Shell => SHELL,
        Lang::Starlark => STARLARK,
    }
}

/// The commands that test and build a project, in its directory.
pub(super) fn first_steps(lang: Lang) -> &'static [&'static str] {
    match lang {
        Lang::Rust => &["cargo test", "cargo build --release"],
        Lang::Go => &["go test ./...", "go build -o {{name}} ."],
        Lang::Python => &["pip install -r requirements.txt", "python3 -m unittest"],
        Lang::Typescript => &["npm install", "npm test"],
        Lang::Shell | Lang::Starlark => &["./test.sh"],
    }
}

/// The flags of `krm fn eval` that run a project, in its directory.
pub(super) fn function_flags(lang: Lang) -> &'static str {
    match lang {
        Lang::Rust => "--exec target/release/{{name}}",
        Lang::Go => "--exec ./{{name}}",
        Lang::Python => "--exec \"$PWD/function.py\"",
        Lang::Typescript => "--exec \"node $PWD/dist/main.js\"",
        Lang::Shell => "--exec \"$PWD/function.sh\"",
        Lang::Starlark => "--starlark function.star",
    }
}
