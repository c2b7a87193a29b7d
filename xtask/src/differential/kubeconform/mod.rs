//! `--kubeconform`: the built-in kubeconform and the real one, on manifests that are valid and ones with a mistake.
//!
//! The real one reads JSON Schemas from a directory, which are made here from the same OpenAPI documents as the tables of krm. A
//! difference without a class is an error.

mod classes;
mod json;
mod manifests;
mod schemas;
mod verdicts;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use krm_core::schema::kubernetes_versions;

use self::json::Json;
use self::schemas::Definitions;
use self::verdicts::{Group, Schemas, Verdict};
use crate::{TaskResult, peers, shell};

/// The number of manifests, unless `--count` says otherwise.
const COUNT: usize = 500;

/// How many differences are printed.
const SHOWN: usize = 10;

pub(super) fn run(args: &mut lexopt::Parser) -> TaskResult {
    let mut count = COUNT;
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Long("count") => count = args.value()?.to_string_lossy().parse()?,
            _ => return Err(arg.unexpected().into()),
        }
    }
    let program = peers::find("kubeconform")
        .ok_or("kubeconform is not installed; run `cargo xtask peers --only kubeconform`")?;
    let directory = shell::target().join("differential-kubeconform");
    let custom = directory.join("custom");
    schemas::write_custom(&Json::parse(manifests::DEFINITION)?, &custom)?;
    let versions: Vec<&str> = kubernetes_versions().collect();
    let mut documents = Vec::new();
    for version in &versions {
        let definitions = Definitions::download(version)?;
        definitions.write(version, &directory.join("schemas"))?;
        documents.push(definitions);
    }
    let mut survey = Survey::default();
    for (at, version) in versions.iter().enumerate() {
        for strict in [false, true] {
            for schemas in [Schemas::BuiltIn, Schemas::Files] {
                // The last digit chooses what is generated.
                let numbers = (0..count).filter(|it| it / 5 % versions.len() == at);
                // Kinds of all versions, so that some are unknown to an older one.
                let manifests = numbers.map(|number| {
                    let definitions = &documents[if number % 3 == 0 { 0 } else { at }];
                    manifests::manifest(number, definitions)
                });
                let manifests = manifests.collect::<TaskResult<Vec<_>>>()?;
                let group = Group {
                    version,
                    strict,
                    schemas,
                    directory: directory.clone(),
                    program: program.clone(),
                };
                survey.group(&group, &manifests)?;
            }
        }
    }
    survey.report(count)
}

/// What was found so far.
#[derive(Default)]
struct Survey {
    compared: usize,
    verdicts: BTreeMap<&'static str, usize>,
    mutations: BTreeMap<&'static str, usize>,
    classes: BTreeMap<&'static str, usize>,
    unclassified: Vec<String>,
}

impl Survey {
    fn group(&mut self, group: &Group<'_>, manifests: &[(Json, &'static str)]) -> TaskResult {
        let texts: Vec<String> = manifests.iter().map(|(it, _)| it.to_string()).collect();
        let (ours, theirs) = (group.ours(&texts)?, group.theirs(&texts)?);
        for (at, (manifest, mutation)) in manifests.iter().enumerate() {
            self.compared += 1;
            *self.verdicts.entry(theirs[at].status).or_default() += 1;
            *self.mutations.entry(mutation).or_default() += 1;
            if ours[at] == theirs[at] {
                continue;
            }
            match classes::class(manifest, &ours[at], &theirs[at], group) {
                Some(class) => *self.classes.entry(class).or_default() += 1,
                None => self.unclassified.push(difference(
                    group,
                    manifest,
                    mutation,
                    &ours[at],
                    &theirs[at],
                )),
            }
        }
        Ok(())
    }

    fn report(&self, count: usize) -> TaskResult {
        let list = |counts: &BTreeMap<&str, usize>| {
            let parts: Vec<String> =
                counts.iter().map(|(name, it)| format!("{it} {name}")).collect();
            parts.join(", ")
        };
        let same = self.compared - self.classes.values().sum::<usize>() - self.unclassified.len();
        println!(
            "{count} manifests, each strict and not, with built-in schemas and with files: {} comparisons",
            self.compared
        );
        println!("  kubeconform: {}", list(&self.verdicts));
        println!("  mistakes: {}", list(&self.mutations));
        println!("  same verdict and fields: {same}");
        for (id, reason) in classes::CLASSES {
            println!("  {id}: {} ({reason})", self.classes.get(id).unwrap_or(&0));
        }
        for difference in self.unclassified.iter().take(SHOWN) {
            println!("{difference}");
        }
        match self.unclassified.len() {
            0 => Ok(()),
            number => Err(format!("{number} differences without a class").into()),
        }
    }
}

fn difference(
    group: &Group<'_>,
    manifest: &Json,
    mutation: &str,
    ours: &Verdict,
    theirs: &Verdict,
) -> String {
    let path: PathBuf = group.directory.join("unclassified.json");
    // The last one can be given to both tools.
    let _ = fs::write(path, manifest.to_string());
    let text: String = manifest.to_string().chars().take(600).collect();
    format!("{group:?}, {mutation}\n  {text}\n  krm:         {ours:?}\n  kubeconform: {theirs:?}")
}
