//! `krm cfg list-setters`: which setters there are, what they hold, and which fields follow them.

use krm_core::Diagnostic;
use krm_core::print::Record;
use krm_core::setters::{
    ListSetters, ReferenceTarget, SetterField, SetterList, Setters, fields_to_value,
    referenced_names,
};
use krm_yaml::Value;

use super::setters::{self, Where};
use super::{Format, finish};
use crate::cli::Global;
use crate::console::{Console, Table};
use crate::{CommandResult, Exit};

const EXAMPLES: &str = "\
Examples:
  krm cfg list-setters shop
  krm cfg list-setters shop replicas -o json
  krm cfg list-setters shop --include-subst --markdown
  krm cfg list-setters shop -R --unused";

/// List setters, their values, and how many fields follow them.
///
/// COUNT is the number of fields that `krm cfg set` would write. With -o json every one of them is listed with its place.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    at: Where,

    /// Only this setter
    name: Option<String>,

    /// Print tables of Markdown
    #[arg(long, conflicts_with = "output")]
    markdown: bool,

    /// List substitutions, too
    #[arg(long)]
    include_subst: bool,

    /// Only setters that no field follows
    #[arg(long, conflicts_with = "undefined")]
    unused: bool,

    /// Only references to setters and substitutions that are not defined
    #[arg(long)]
    undefined: bool,

    /// Print the list in this format
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Format>,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let (loaded, openapi) = args.at.load(global)?;
    let parts = setters::read(&loaded, &openapi, global);
    let mut told: Vec<Diagnostic> = Vec::new();
    let mut records: Vec<Record<'_>> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let list = ListSetters { name: args.name.clone(), unused: args.unused };
        let listed = list.compute(&part.setters);
        told.extend(part.setters.errors().iter().chain(part.setters.warnings()).cloned());
        if args.output.is_some() {
            records.extend(data(args, &listed, &part.setters).into_iter().map(|record| {
                let package =
                    ("package", Value::string(part.display_path.trim_end_matches('/').to_owned()));
                [vec![package], record].concat()
            }));
            continue;
        }
        let gap = if at > 0 { "\n" } else { "" };
        console.print(&format!("{gap}{}\n", part.display_path))?;
        for table in tables(args, &listed, &part.setters) {
            console.print(&table.render(args.markdown))?;
        }
    }
    if let Some(format) = args.output {
        console.print(&format.write(&records))?;
    }
    console.flush()?;
    console.report_all(&told);
    let exit = if told.iter().any(Diagnostic::is_error) { Exit::Input } else { Exit::Success };
    finish(&loaded, exit, global, console)
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
            setter.value.shown(),
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
