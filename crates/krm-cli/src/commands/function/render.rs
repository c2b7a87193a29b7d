//! `krm fn render`: the pipelines of a package and of the packages inside it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use krm_core::findings::{Finding, Fixes, Ran};
use krm_core::hydration::Tree;
use krm_core::kptfile::{self, Function, Role};
use krm_core::wire::{Item, Items, SendOptions, Sending};
use krm_core::{
    Change, Diagnostic, Package, PackageFile, PackagePath, PackagePathError, Plan, subtree,
};
use krm_run::render::{Rendered, render};
use krm_run::{Environment, Interrupt, Programs, Pull};
use krm_yaml::File;

use super::images::Images;
use super::interrupt;
use super::limits::LimitFlags;
use super::rendering::{self, Told, Work};
use crate::cli::{Global, Preview};
use crate::commands::writing;
use crate::disk::Lock;
use crate::folder::{self, Loaded, Origin};
use crate::show::Screen;
use crate::{Exit, Failure, Outcome, parallel};

const EXAMPLES: &str = "\
Examples:
  krm fn render
  krm fn render shop --diff
  krm fn render shop --explain --dry-run
  krm fn render shop -o unwrap | kubectl apply -f -";

/// Run the pipelines of a package and of the packages inside it.
///
/// Sub-packages come before the package that holds them. Functions of the catalog are built in; others run in containers, as commands
/// or as WASI modules. Only what they changed is edited into the files, and nothing is written where one fails.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder of the package
    #[arg(value_name = "PKG", default_value = ".", hide_default_value = true)]
    dir: String,

    /// Run functions that are commands
    #[arg(long)]
    allow_exec: bool,

    /// Give containers the network
    #[arg(long)]
    allow_network: bool,

    /// When images are fetched: Always, IfNotPresent or Never
    #[arg(long, value_name = "POLICY", default_value = "IfNotPresent", hide_default_value = true)]
    image_pull_policy: Pull,

    /// The container engine: docker, podman or nerdctl
    #[arg(long, value_name = "ENGINE")]
    runtime: Option<String>,

    #[command(flatten)]
    images: Images,

    /// Print a ResourceList (stdout) or documents (unwrap), or make a folder, instead of changing the package
    #[arg(short, long, value_name = "stdout|unwrap|DIR", conflicts_with_all = ["dry_run", "diff", "check"])]
    output: Option<Output>,

    /// Keep the results in results.yaml in this folder
    #[arg(long, value_name = "DIR")]
    results_dir: Option<String>,

    /// Print what each function changed, field by field
    #[arg(long)]
    explain: bool,

    /// Apply the values that results propose
    #[arg(long)]
    fix: bool,

    /// Let functions delete all resources, or a Kptfile
    #[arg(long)]
    allow_delete: bool,

    /// Refuse packages with documents that are no resources
    #[arg(long)]
    strict: bool,

    /// Write what came of the run into the outermost Kptfile, as kpt does
    #[arg(long)]
    write_status: bool,

    /// Compat: modules need no permission here
    #[arg(long, hide = true)]
    allow_alpha_wasm: bool,

    #[command(flatten)]
    limits: LimitFlags,

    #[command(flatten)]
    preview: Preview,
}

/// Where the result goes that is not written into the package.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Output {
    Stdout,
    Unwrap,
    Folder(String),
}

impl std::str::FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "stdout" => Ok(Self::Stdout),
            "unwrap" => Ok(Self::Unwrap),
            "" => Err("stdout, unwrap or a folder is wanted".to_owned()),
            folder if Path::new(folder).exists() => {
                Err(format!("`{folder}` is there already; a new folder is wanted"))
            }
            folder => Ok(Self::Folder(folder.to_owned())),
        }
    }
}

pub(super) fn run(args: &Args, global: &Global, screen: &mut Screen) -> Outcome {
    let lock = match args.output {
        None => writing::lock(std::slice::from_ref(&args.dir), &args.preview, screen)?,
        Some(_) => Lock::nothing(),
    };
    let loaded = load(args, global, &lock, screen)?;
    let settings = Settings::new(args, &loaded, global)?;
    let mended = match args.fix {
        true => settings.mended(screen)?,
        false => None,
    };
    let package = mended.as_ref().unwrap_or(&loaded.package);
    settings.run_on(package, |work, rendered, had| {
        rendering::tell(work, rendered, screen);
        settings.keep_results(rendered)?;
        if args.explain {
            rendering::explain(work, rendered, screen)?;
        }
        settings.finish(work, rendered, had, &lock, screen)
    })?
}

/// The package with everything in it. What cannot be read is the end of it.
fn load(args: &Args, global: &Global, lock: &Lock, screen: &mut Screen) -> Result<Loaded, Failure> {
    let load = || folder::load(&args.dir, global.jobs).map_err(Failure::input);
    let mut loaded = load()?;
    if loaded.origin != Origin::Folder {
        let told = Diagnostic::error("a folder is rendered, and this is none");
        return Err(Failure::Told(Exit::Usage, vec![told.in_file(&*loaded.title)]));
    }
    let tell = &mut |diagnostic: &Diagnostic| screen.tell(diagnostic);
    if lock.recover(&loaded.journals, tell).map_err(Failure::input)? {
        loaded = load()?;
    }
    let told = loaded.diagnostics();
    if told.iter().any(Diagnostic::is_error) {
        return Err(Failure::Told(Exit::Input, told));
    }
    screen.tell_all(&told);
    Ok(loaded)
}

/// Everything that all runs of this command have in common.
struct Settings<'a> {
    args: &'a Args,
    loaded: &'a Loaded,
    global: &'a Global,
    folder: PathBuf,
    programs: Programs,
    interrupt: Interrupt,
}

impl<'a> Settings<'a> {
    fn new(args: &'a Args, loaded: &'a Loaded, global: &'a Global) -> Result<Self, Failure> {
        let programs = Programs {
            resolution: args.images.resolution()?,
            allow_exec: args.allow_exec,
            allow_network: args.allow_network,
            pull: args.image_pull_policy,
            engine: args.runtime.clone(),
            stands: std::env::current_dir()?,
            environment: std::env::vars_os().collect::<Environment>(),
        };
        let (folder, interrupt) = (std::fs::canonicalize(&args.dir)?, interrupt::on_signals());
        Ok(Self { args, loaded, global, folder, programs, interrupt })
    }

    /// Runs all pipelines of a package, and hands on what came of it.
    fn run_on<T>(
        &self,
        package: &Package,
        then: impl FnOnce(&Work<'_>, &Rendered<'_, Told>, usize) -> T,
    ) -> Result<T, Failure> {
        let input = |told| Failure::Told(Exit::Input, told);
        let tree = Tree::of(package).map_err(input)?;
        let taken = Items::of(package, |_| true).map_err(input)?;
        if let Some(told) = taken.words(self.args.strict).filter(Diagnostic::is_error) {
            return Err(Failure::input(told));
        }
        let had = taken.items.len();
        let work = Work {
            loaded: self.loaded,
            package,
            tree: &tree,
            programs: &self.programs,
            limits: self.args.limits.limits(),
            interrupt: &self.interrupt,
            folder: &self.folder,
            left_out: taken.words(false),
        };
        let run = |member: usize, function: &Function, items| work.run(member, function, items);
        let rendered = parallel::within(self.global.jobs, || render(&tree, taken.items, &run));
        Ok(then(&work, &rendered, had))
    }

    /// The package with the values that results propose; none where nothing is proposed that can be set.
    fn mended(&self, screen: &mut Screen) -> Result<Option<Package>, Failure> {
        let package = &self.loaded.package;
        let fixes = self.run_on(package, |_, rendered, _| {
            let ran = rendered.steps.iter().map(|step| &step.report.ran);
            let findings = ran.flat_map(|ran| {
                ran.results.iter().map(|result| Finding { folder: &ran.package, result })
            });
            Fixes::apply(package, &findings.collect::<Vec<_>>(), |_, _| None)
        })?;
        fixes.done.iter().for_each(|words| screen.say(words));
        screen.tell_all(&fixes.left);
        if fixes.texts.is_empty() {
            return Ok(None);
        }
        let file = |file: &PackageFile| match fixes.texts.get(&file.path) {
            Some(text) => file.with_text(text.clone()),
            None => Ok(PackageFile {
                path: file.path.clone(),
                shown: file.shown.clone(),
                is_outside: file.is_outside,
                content: file.content.clone(),
            }),
        };
        let files = package.files().iter().map(file).collect::<Result<Vec<_>, _>>();
        Ok(Some(Package::new(files.map_err(|told| Failure::Told(Exit::Input, told))?)))
    }

    fn keep_results(&self, rendered: &Rendered<'_, Told>) -> Result<(), Failure> {
        let Some(folder) = &self.args.results_dir else { return Ok(()) };
        let text = rendering::report(rendered).to_yaml().map_err(Failure::input)?;
        std::fs::create_dir_all(folder)?;
        std::fs::write(Path::new(folder).join("results.yaml"), text)?;
        Ok(())
    }

    /// Writes or shows what came of it, as far as it may be.
    fn finish(
        &self,
        work: &Work<'_>,
        rendered: &Rendered<'_, Told>,
        had: usize,
        lock: &Lock,
        screen: &mut Screen,
    ) -> Outcome {
        let package = work.package;
        let failed = match rendered.failed {
            true => Some(rendering::failures(rendered, self.loaded)),
            false => None,
        };
        if !self.args.allow_delete
            && let Some(told) = rendering::dangerous(rendered, had)
        {
            return Err(Failure::Told(Exit::Function, vec![told]));
        }
        let mut texts = match failed.is_none() || work.tree.outermost().pipeline.save_on_failure {
            true => self.texts(package, &rendered.items)?,
            false => BTreeMap::new(),
        };
        if self.args.write_status {
            self.with_status(package, rendered, failed.as_deref(), &mut texts)?;
        }
        let exit = self.write(package, texts, lock, screen)?;
        match failed {
            None => Ok(exit),
            Some(told) if rendering::are_findings(rendered) => {
                Err(Failure::Told(Exit::Findings, told))
            }
            Some(told) => Err(Failure::Told(Exit::Function, told)),
        }
    }

    /// New texts of files; none for one that goes away.
    fn texts(&self, package: &Package, items: &[Item]) -> Result<Texts, Failure> {
        todo!("{package:?} {items:?}")
    }

    /// The outermost Kptfile gets a status.
    fn with_status(
        &self,
        package: &Package,
        rendered: &Rendered<'_, Told>,
        failed: Option<&[Diagnostic]>,
        texts: &mut Texts,
    ) -> Result<(), Failure> {
        let kptfile = package.files().iter().find(|file| file.path.as_str() == "Kptfile");
        let Some(kptfile) = kptfile else { return Ok(()) };
        let file = match texts.get(&kptfile.path) {
            Some(None) => return Ok(()),
            Some(Some(text)) => kptfile.with_text(text.clone()),
            None => kptfile.with_text(kptfile.file().map_or("", File::text).to_owned()),
        };
        let file = file.map_err(|told| Failure::Told(Exit::Input, told))?;
        let Some(content) = file.file() else { return Ok(()) };
        let steps: Vec<(Role, &Ran)> =
            rendered.steps.iter().map(|it| (it.function.role, &it.report.ran)).collect();
        let words = failed.and_then(<[_]>::last).map(|told| told.message.as_str());
        let text = kptfile::with_status(content, &steps, words)
            .map_err(|told| Failure::input(told.in_file(&*kptfile.shown)))?;
        texts.insert(kptfile.path.clone(), Some(text));
        Ok(())
    }

    /// Shows the result, or writes it.
    fn write(
        &self,
        package: &Package,
        mut texts: Texts,
        lock: &Lock,
        screen: &mut Screen,
    ) -> Outcome {
        for file in package.files() {
            let text = || file.file().map(|file| file.text().to_owned());
            texts.entry(file.path.clone()).or_insert_with(text);
        }
        match &self.args.output {
            None => {
                let plan = self.plan(texts)?;
                writing::finish(self.loaded.under_all_names(plan), &self.args.preview, lock, screen)
            }
            Some(output) => self.print(output, texts, screen),
        }
    }

    fn plan(&self, texts: Texts) -> Result<Plan, Failure> {
        let mut plan = Plan::default();
        for (path, new) in texts {
            let file = self.loaded.package.files().iter().find(|file| file.path == path);
            let old = file.and_then(PackageFile::file).map(|file| file.text().to_owned());
            if old == new {
                continue;
            }
            if let Some(file) = file.filter(|file| file.is_outside) {
                let words = "the link leads out of the package, and what is outside is not written";
                return Err(Failure::input(Diagnostic::error(words).in_file(&*file.shown)));
            }
            let shown =
                file.map_or_else(|| self.loaded.shown(path.as_str()), |it| it.shown.clone());
            plan.add(Change { path: shown, old, new });
        }
        Ok(plan)
    }

    /// The result somewhere else: the package stays as it is.
    fn print(&self, output: &Output, texts: Texts, screen: &mut Screen) -> Outcome {
        let texts = texts.into_iter().filter_map(|(path, text)| Some((path, text?)));
        if let Output::Folder(folder) = output {
            let mut plan = Plan::default();
            for (path, text) in texts {
                let path = folder::joined(folder, path.as_str());
                plan.add(Change { path, old: None, new: Some(text) });
            }
            let lock = writing::lock_folder(folder, &self.args.preview, screen)?;
            return writing::finish(plan, &self.args.preview, &lock, screen);
        }
        let files = texts.map(|(path, text)| PackageFile::of_text(path.as_str(), text));
        let wrong = |error: PackagePathError| Failure::input(Diagnostic::error(error.to_string()));
        let package = Package::new(files.collect::<Result<_, _>>().map_err(wrong)?);
        let taken = Items::of(&package, |_| true);
        let items = taken.map_err(|told| Failure::Told(Exit::Input, told))?.items;
        let text = match output {
            Output::Stdout => {
                let sending =
                    Sending::of(&items, &SendOptions::default()).map_err(Failure::input)?;
                sending.text().to_owned()
            }
            _ => {
                let texts = items.iter().map(|item| subtree::end_line(item.text().to_owned()));
                texts.collect::<Vec<_>>().join("---\n")
            }
        };
        screen.print(&text)?;
        Ok(Exit::Done)
    }
}

/// New texts of files; none for one that goes away.
type Texts = BTreeMap<PackagePath, Option<String>>;
