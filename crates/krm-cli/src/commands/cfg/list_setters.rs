//! `krm cfg list-setters`: lists setters with their values and the fields that reference them.

use clap_complete::engine::ArgValueCandidates;
use krm_core::Diagnostic;
use krm_core::print::Record;
use krm_core::setters::{
    ListSetters, ReferenceTarget, SetterField, SetterKind, SetterList, Setters, fields_to_value,
    referenced_names,
};
use krm_yaml::Value;

use super::report_load_errors;
use super::setters::SetterPackage;
use crate::cli::Global;
use crate::commands::completion::candidates;
use crate::commands::list_output::ListFormat;
use crate::console::{Console, Table};
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg list-setters
  krm cfg list-setters shop
  krm cfg list-setters shop replicas -o json
  krm cfg list-setters shop --include-subst --markdown
  krm cfg list-setters shop --no-recurse --unused";

/// List setters with their values and the number of their fields.
///
/// COUNT is the number of fields that krm cfg set writes. With -o json each field is listed with its location.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    package: SetterPackage,

    /// Only this setter
    #[arg(add = ArgValueCandidates::new(candidates::setters))]
    name: Option<String>,

    /// Print Markdown tables
    #[arg(long, conflicts_with = "output")]
    markdown: bool,

    /// Also list substitutions
    #[arg(long)]
    include_subst: bool,

    /// Only setters that no field references
    #[arg(long, conflicts_with = "undefined")]
    unused: bool,

    /// Only references to setters and substitutions that are not defined
    #[arg(long)]
    undefined: bool,

    /// Format of the list
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<ListFormat>,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let (dir, names) = args.package.split(&args.name, 0..=1, "NAME")?;
    let name = names.first().map(|&name| name.to_owned());
    let package = args.package.load(dir, global)?;
    let packages = package.setters(global);
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let mut records: Vec<Record<'_>> = Vec::new();
    let mut is_listed = name.is_none() || args.unused || args.undefined;
    for (at, package) in packages.iter().enumerate() {
        let list = ListSetters { name: name.clone(), unused: args.unused };
        let listed = list.compute(&package.setters);
        is_listed |= !listed.setters.is_empty() || !listed.substitutions.is_empty();
        diagnostics
            .extend(package.setters.errors().iter().chain(package.setters.warnings()).cloned());
        if args.output.is_some() {
            records.extend(data(args, &listed, &package.setters).into_iter().map(|record| {
                let package = (
                    "package",
                    Value::string(package.display_path.trim_end_matches('/').to_owned()),
                );
                [vec![package], record].concat()
            }));
            continue;
        }
        if at > 0 {
            console.line("")?;
        }
        console.line(&package.display_path)?;
        for table in tables(args, &listed, &package.setters) {
            console.lines(&table.render(args.markdown))?;
        }
    }
    if let Some(format) = args.output {
        console.data(&format.write(&records)?)?;
    }
    console.flush()?;
    console.report_all(&diagnostics);
    if let Some(name) = name.filter(|_| !is_listed) {
        let kind = SetterKind::NotDefined { target: format!("setter `{name}`") };
        let error = Diagnostic::error(kind).hint("use `krm cfg list-setters` to list the setters");
        return Err(Failure::Diagnostics(Exit::Findings, vec![error]));
    }
    let exit =
        if diagnostics.iter().any(Diagnostic::is_error) { Exit::Input } else { Exit::Success };
    report_load_errors(&package.loaded, exit, global, console)
}

fn data(args: &Args, listed: &SetterList<'_, '_>, setters: &Setters<'_>) -> Vec<Record<'static>> {
    if args.undefined {
        let nothing = setters.undefined();
        return nothing.iter().map(|field| with_places(&target(field), &[field])).collect();
    }
    let mut records: Vec<Record<'static>> = listed.setters.iter().map(|it| it.record()).collect();
    if args.include_subst {
        records.extend(listed.substitutions.iter().map(|it| {
            let names = referenced_names(it, setters).into_iter().map(Value::string);
            vec![
                ("substitution", Value::string(it.name.clone())),
                ("pattern", Value::string(it.pattern.as_str().to_owned())),
                ("references", Value::Sequence(names.collect())),
                ("defined", Value::string(it.location.to_string())),
            ]
        }));
    }
    records.extend(listed.foreign.iter().map(|(name, fields)| {
        let mut record = with_places(name, fields);
        record[0].0 = "imagePolicy";
        record
    }));
    records
}

fn with_places(name: &str, fields: &[&SetterField<'_>]) -> Record<'static> {
    vec![("name", Value::string(name.to_owned())), ("fields", fields_to_value(fields))]
}

fn target(field: &SetterField<'_>) -> String {
    match &field.reference.target {
        ReferenceTarget::Setter(name)
        | ReferenceTarget::Substitution(name)
        | ReferenceTarget::Named(name) => name.clone(),
        ReferenceTarget::Pattern(pattern) => pattern.to_string(),
        ReferenceTarget::Foreign(name) => name.clone(),
    }
}

fn tables(args: &Args, listed: &SetterList<'_, '_>, setters: &Setters<'_>) -> Vec<Table> {
    if args.undefined {
        let mut table = Table::new(&["NAME", "FIELD"]);
        for field in setters.undefined() {
            table.row(vec![target(&field), field.location().to_string()]);
        }
        return vec![table];
    }
    let header = ["NAME", "VALUE", "SET BY", "DESCRIPTION", "COUNT", "REQUIRED", "IS SET"];
    let mut table = Table::new(&header);
    let yes = |it: bool| if it { "Yes" } else { "No" }.to_owned();
    for it in &listed.setters {
        let setter = it.setter;
        table.row(vec![
            setter.name.clone(),
            setter.value.to_string(),
            setter.set_by.clone().unwrap_or_default(),
            setter.description.clone().unwrap_or_default(),
            it.fields.len().to_string(),
            yes(setter.required),
            yes(setter.is_set),
        ]);
    }
    let mut tables = vec![table];
    if args.include_subst && !listed.substitutions.is_empty() {
        let mut table = Table::new(&["SUBSTITUTION", "PATTERN", "REFERENCES"]);
        for it in &listed.substitutions {
            let names = format!("[{}]", referenced_names(it, setters).join(","));
            table.row(vec![it.name.clone(), it.pattern.to_string(), names]);
        }
        tables.push(table);
    }
    if !listed.foreign.is_empty() {
        let mut table = Table::new(&["IMAGE POLICY", "COUNT"]);
        for (name, fields) in &listed.foreign {
            table.row(vec![name.clone(), fields.len().to_string()]);
        }
        tables.push(table);
    }
    tables
}
