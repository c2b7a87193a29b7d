//! The files of a new function by language; `{{name}}` and `{{sdk}}` are replaced.

use super::new::Lang;

macro_rules! files {
    ($($path:literal: $template:literal;)*) => {
        &[$(($path, include_str!(concat!("templates/", $template)))),*]
    };
}

const RUST: &[(&str, &str)] = files! {
    ".dockerignore": "rust/gitignore.txt";
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
};

const GO: &[(&str, &str)] = files! {
    ".dockerignore": "go/gitignore.txt";
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
    ".gitignore": "python/gitignore.txt";
    "Dockerfile": "python/Dockerfile";
    "README.md": "python/README.md";
    "config.yaml": "config.yaml";
    "function.py": "python/function.py";
    "requirements.txt": "python/requirements.txt";
    "test_function.py": "python/test_function.py";
};

const TYPESCRIPT: &[(&str, &str)] = files! {
    ".dockerignore": "typescript/gitignore.txt";
    ".gitignore": "typescript/gitignore.txt";
    "Dockerfile": "typescript/Dockerfile";
    "README.md": "typescript/README.md";
    "config.yaml": "config.yaml";
    "package.json": "typescript/package.json";
    "src/function.test.ts": "typescript/src/function.test.ts";
    "src/function.ts": "typescript/src/function.ts";
    "src/main.ts": "typescript/src/main.ts";
    "tsconfig.json": "typescript/tsconfig.json";
};

const SHELL: &[(&str, &str)] = files! {
    ".gitignore": "shell/gitignore.txt";
    "Dockerfile": "shell/Dockerfile";
    "README.md": "shell/README.md";
    "config.yaml": "config.yaml";
    "function.sh": "shell/function.sh";
    "test.sh": "shell/test.sh";
};

const STARLARK: &[(&str, &str)] = files! {
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
