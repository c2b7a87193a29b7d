//! Which arguments are files and directories, by the names that their values have in the help.

use clap::{Arg, Command, ValueHint};

/// Value names of files, and of parts of names such as `FILE|DIR`.
const FILES: [&str; 6] = ["FILE", "FILES", "SOURCE", "DESTINATION", "BASE", "LOCAL"];

/// Value names of directories, and of parts of names such as `SRC... DEST` and `DIR[@REF]`.
const DIRECTORIES: [&str; 5] = ["DIR", "DIRS", "SRC", "DEST", "PKG"];

/// The command with a hint at every argument that is a path. Only completion needs them, so that other runs do not pay for the walk.
pub(super) fn with_hints(command: Command) -> Command {
    command.mut_args(with_hint).mut_subcommands(with_hints)
}

fn with_hint(arg: Arg) -> Arg {
    match arg.get_value_hint() {
        ValueHint::Unknown if arg.get_action().takes_values() => {
            let hint = hint(&arg);
            arg.value_hint(hint)
        }
        _ => arg,
    }
}

fn hint(arg: &Arg) -> ValueHint {
    let names: Vec<String> = match arg.get_value_names() {
        Some(names) => names.iter().map(|name| name.to_string()).collect(),
        None => vec![arg.get_id().as_str().to_uppercase()],
    };
    let is_any = |known: &[&str]| {
        // What follows `=` is only a part of the value.
        let whole = names.iter().filter(|name| !name.contains('='));
        let mut parts = whole.flat_map(|name| name.split([' ', '|', '[', '/', '.']));
        parts.any(|part| known.contains(&part))
    };
    // Packages may be single files, too.
    match (is_any(&FILES), is_any(&DIRECTORIES), arg.is_positional()) {
        (true, _, _) | (_, true, true) => ValueHint::AnyPath,
        (_, true, _) => ValueHint::DirPath,
        _ => ValueHint::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn hint_of(path: &str) -> ValueHint {
        let mut command = with_hints(crate::cli::Cli::command());
        let (commands, argument) = path.rsplit_once(' ').unwrap();
        for name in commands.split(' ') {
            command = command.find_subcommand(name).unwrap().clone();
        }
        let found = command.get_arguments().find(|it| it.get_id() == argument);
        found.unwrap().get_value_hint()
    }

    #[test]
    fn arguments_that_are_paths_have_hints() {
        for path in ["cfg tree dir", "cfg fmt dirs", "yaml get files", "yaml merge source"] {
            assert_eq!(hint_of(path), ValueHint::AnyPath, "{path}");
        }
        assert_eq!(hint_of("yaml set arguments"), ValueHint::AnyPath);
        assert_eq!(hint_of("yaml set from_file"), ValueHint::AnyPath);
        assert_eq!(hint_of("fn render results_dir"), ValueHint::DirPath);
        assert_eq!(hint_of("yaml set string"), ValueHint::Unknown);
    }
}
