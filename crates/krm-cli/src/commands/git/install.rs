//! `krm git install` and `krm git uninstall`: settings and attributes of a repository that make git use krm.

use std::path::Path;

use krm_core::{Diagnostic, Plan};

use super::attributes;
use super::settings::{DIFF, MERGE, SECTIONS, Setting};
use crate::cli::Preview;
use crate::commands::plan;
use crate::console::Console;
use crate::git::WorkingTree;
use crate::{CommandResult, Exit, Failure, disk};

const SHARED: &str = ".gitattributes";
const LOCAL: &str = "info/attributes";

const INSTALL_EXAMPLES: &str = "\
Examples:
  krm git install
  krm git install --no-diff
  krm git install --local --dry-run
  git diff --no-textconv > changes.patch";

/// Make git merge and compare manifests by meaning.
///
/// Sets krm as merge driver (git merge, rebase, cherry-pick) and as converter for diffs (git diff, log, show, blame) of YAML files,
/// Kptfiles and Krmfiles. The attributes are written to .gitattributes for everybody; the settings belong to this clone, so everybody
/// runs this command once. Without krm's settings git merges and compares lines, as usual.
#[derive(Debug, clap::Args)]
#[command(after_help = INSTALL_EXAMPLES)]
pub(crate) struct InstallArgs {
    /// Directory of the repository
    #[arg(default_value = ".", hide_default_value = true)]
    dir: String,

    /// Install the merge driver only; diffs stay line by line
    #[arg(long)]
    no_diff: bool,

    /// Write the attributes to .git/info/attributes, which is not shared with others
    #[arg(long)]
    local: bool,

    #[command(flatten)]
    preview: Preview,
}

const UNINSTALL_EXAMPLES: &str = "\
Examples:
  krm git uninstall
  krm git uninstall --dry-run";

/// Undo krm git install.
///
/// Removes the settings of this clone, and from .gitattributes and .git/info/attributes the lines that krm git install wrote.
#[derive(Debug, clap::Args)]
#[command(after_help = UNINSTALL_EXAMPLES)]
pub(crate) struct UninstallArgs {
    /// Directory of the repository
    #[arg(default_value = ".", hide_default_value = true)]
    dir: String,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn install(args: &InstallArgs, console: &mut Console) -> CommandResult {
    let tree = working_tree(&args.dir)?;
    let place = if args.local { LOCAL } else { SHARED };
    let diff = if args.no_diff { &[] } else { DIFF };
    let mut changes = Vec::new();
    for setting in MERGE.iter().chain(diff) {
        if tree.setting(setting.key).map_err(Failure::input)?.as_deref() != Some(setting.value) {
            changes.push(*setting);
        }
    }
    let edit =
        |text: Option<&str>| Some(attributes::with_lines(text.unwrap_or_default(), !args.no_diff));
    let exit = edit_attributes(&tree, &args.dir, place, &args.preview, edit, console)?;
    if args.preview.is_on() {
        return preview_settings(exit, &changes, "set", &args.preview, console);
    }
    for Setting { key, value } in &changes {
        tree.set(key, value).map_err(Failure::input)?;
        console.status(&format!("set {key}"));
    }
    if args.no_diff && tree.remove_section(SECTIONS[1]).map_err(Failure::input)? {
        console.status(&format!("removed {}", SECTIONS[1]));
    }
    Ok(exit)
}

pub(super) fn uninstall(args: &UninstallArgs, console: &mut Console) -> CommandResult {
    let tree = working_tree(&args.dir)?;
    let mut exit = Exit::Success;
    for place in [SHARED, LOCAL] {
        let edit = |text: Option<&str>| attributes::without_lines(text?);
        if edit_attributes(&tree, &args.dir, place, &args.preview, edit, console)? != Exit::Success
        {
            exit = Exit::Findings;
        }
    }
    if args.preview.is_on() {
        let mut present = Vec::new();
        for setting in MERGE.iter().chain(DIFF) {
            if tree.setting(setting.key).map_err(Failure::input)?.is_some() {
                present.push(*setting);
            }
        }
        return preview_settings(exit, &present, "remove", &args.preview, console);
    }
    for section in SECTIONS {
        if tree.remove_section(section).map_err(Failure::input)? {
            console.status(&format!("removed {section}"));
        }
    }
    Ok(exit)
}

fn working_tree(dir: &str) -> Result<WorkingTree, Failure> {
    let path = std::fs::canonicalize(dir)
        .map_err(|error| Failure::input(disk::cannot_read(&error).in_file(dir)))?;
    WorkingTree::of(&path, dir).map_err(Failure::input)
}

/// Edits a file with attributes. A file of which nothing is left is removed.
fn edit_attributes(
    tree: &WorkingTree,
    dir: &str,
    place: &str,
    preview: &Preview,
    edit: impl Fn(Option<&str>) -> Option<String>,
    console: &mut Console,
) -> CommandResult {
    let path = match place {
        SHARED => tree.root.join(SHARED),
        _ => tree.git_path(place).map_err(Failure::input)?,
    };
    let (Some(directory), Some(name)) =
        (path.parent(), path.file_name().and_then(|it| it.to_str()))
    else {
        return Ok(Exit::Success);
    };
    let is_root = std::fs::canonicalize(dir).is_ok_and(|it| it == directory);
    let directory = if is_root { dir.to_owned() } else { display(directory)? };
    if place == LOCAL && !Path::new(&directory).is_dir() && edit(None).is_none() {
        return Ok(Exit::Success);
    }
    let lock = plan::lock_directory(&directory, preview, console)?;
    let old = plan::existing_content(&path.to_string_lossy())?;
    let new = edit(old.as_deref());
    let mut plan = Plan::default();
    plan.set(plan::file_in(&directory, name, old)?, new).map_err(Failure::input)?;
    plan::apply_or_preview(&plan, preview, &lock, console)
}

/// A directory as krm names it.
fn display(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let kind = disk::FileKind::CannotRead { reason: "the name is not UTF-8".to_owned() };
        Failure::input(Diagnostic::error(kind).in_file(path.to_string_lossy()))
    })
}

fn preview_settings(
    exit: Exit,
    settings: &[Setting],
    verb: &str,
    preview: &Preview,
    console: &mut Console,
) -> CommandResult {
    for Setting { key, value } in settings {
        match preview.diff {
            true if verb == "set" => console.line(&format!("+{key}={value}"))?,
            true => console.line(&format!("-{key}={value}"))?,
            false if preview.check => console.line(key)?,
            false => console.line(&format!("would {verb} {key}"))?,
        }
    }
    let differs = preview.check && !settings.is_empty();
    Ok(if differs { Exit::Findings } else { exit })
}
