//! Runs the same merges with krm and kyaml; every difference must belong to a known class.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use krm_core::compare::ListOptions;
use krm_core::diff::Differ;
use krm_core::merge::{MergeOptions, NamedFile, merge_files, merge_files_three_way};
use krm_core::schema::Schema;
use krm_yaml::{DocumentRef, File, NodeRef, Value};

use super::classes::{self, Case};
use super::tree::{self, Tree};
use crate::corpus::random::Random;
use crate::{TaskResult, shell};

/// The number of two-way and of three-way merges.
const PAIRS: usize = 3_000;

/// The maximum number of unexplained differences to print.
const MAX_SHOWN: usize = 5;

/// Compares all merges; an unexplained difference is an error.
pub(super) fn run(gopeer: &Path) -> TaskResult {
    let requests: Vec<MergeRequest> =
        (0..PAIRS).flat_map(|number| [two(number), three(number)]).collect();
    let responses = run_kyaml(gopeer, &requests)?;
    let schema = Schema::built_in();
    let (mut same, mut found, mut unexplained) = (0, BTreeMap::<&str, usize>::new(), Vec::new());
    for (request, theirs) in requests.iter().zip(&responses) {
        match compare(request, theirs, &schema)? {
            Comparison::Same => same += 1,
            Comparison::Explained(classes) => {
                classes.into_iter().for_each(|class| *found.entry(class).or_default() += 1);
            }
            Comparison::Unexplained(description) => unexplained.push((request, description)),
        }
    }
    println!("merging: {same} of {} merges are equal", requests.len());
    for (name, count) in &found {
        println!("  {count:5} {name}: {}", classes::reason(name));
    }
    for (request, description) in unexplained.iter().take(MAX_SHOWN) {
        println!("\nunexplained: {description}\n{request}");
    }
    match unexplained.len() {
        0 => Ok(()),
        count => Err(format!("{count} unexplained differences from kyaml").into()),
    }
}

/// One merge.
struct MergeRequest {
    ways: usize,
    base: String,
    upstream: String,
    local: String,
}

impl std::fmt::Display for MergeRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.ways == 3 {
            write!(f, "-- base --\n{}", self.base)?;
        }
        write!(f, "-- upstream --\n{}-- local --\n{}", self.upstream, self.local)
    }
}

fn two(number: usize) -> MergeRequest {
    let mut random = Random::new("two-way", number);
    let base = tree::resource(&mut random);
    let source = tree::part(&tree::changed(&base, &mut random), &mut random, 0);
    let local = tree::changed(&base, &mut random);
    request(2, &base, &source, &local)
}

fn three(number: usize) -> MergeRequest {
    let mut random = Random::new("three-way", number);
    let base = tree::resource(&mut random);
    let upstream = tree::changed(&base, &mut random);
    let local = tree::changed(&base, &mut random);
    request(3, &base, &upstream, &local)
}

fn request(ways: usize, base: &Tree, upstream: &Tree, local: &Tree) -> MergeRequest {
    let [base, upstream, local] = [base, upstream, local].map(tree::write);
    MergeRequest { ways, base, upstream, local }
}

/// The merged text, or the error of kyaml.
type MergeResponse = Result<String, String>;

fn run_kyaml(gopeer: &Path, requests: &[MergeRequest]) -> TaskResult<Vec<MergeResponse>> {
    let lines: String = requests.iter().map(line).collect();
    let mut command = shell::program(gopeer);
    command.arg("merge").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().ok_or("gopeer has no stdin")?;
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| "cannot write the requests")??;
    let output = String::from_utf8(output.stdout)?;
    let responses: Vec<MergeResponse> =
        output.lines().map(parse_response).collect::<TaskResult<_>>()?;
    if responses.len() != requests.len() {
        return Err(
            "gopeer did not respond to every request; rebuild it with `cargo xtask peers`".into()
        );
    }
    Ok(responses)
}

fn line(request: &MergeRequest) -> String {
    let ways = Value::int(i64::try_from(request.ways).unwrap_or_default());
    let texts =
        [("base", &request.base), ("upstream", &request.upstream), ("local", &request.local)];
    let mut entries = vec![(Value::from("ways"), ways)];
    entries.extend(texts.map(|(name, text)| (Value::from(name), Value::string(text.as_str()))));
    krm_core::print::json::display(&Value::Mapping(entries)) + "\n"
}

fn parse_response(line: &str) -> TaskResult<MergeResponse> {
    let file = File::parse(line.to_owned())?;
    let root = root(&file).ok_or("gopeer printed an empty line")?;
    let field = |name| root.as_mapping()?.get(name)?.as_scalar().map(|it| it.value().into_owned());
    Ok(match field("error") {
        Some(error) => Err(error),
        None => Ok(field("text").unwrap_or_default()),
    })
}

fn root(file: &File) -> Option<NodeRef<'_>> {
    file.document(0).and_then(DocumentRef::root)
}

enum Comparison {
    Same,
    Explained(Vec<&'static str>),
    Unexplained(String),
}

fn compare(
    request: &MergeRequest,
    theirs: &MergeResponse,
    schema: &Schema,
) -> TaskResult<Comparison> {
    let [base, upstream, local] = [&request.base, &request.upstream, &request.local]
        .map(|text| File::parse(text.clone()).map(Arc::new));
    let (base, upstream, local) = (base?, upstream?, local?);
    let lists = ListOptions { schema: Some(schema), ..ListOptions::default() };
    let options = MergeOptions { lists, ..MergeOptions::default() };
    let named = |name, file| NamedFile { name, file };
    let (source, destination) = (named("upstream", &upstream), named("local", &local));
    let ours = match request.ways {
        2 => merge_files(source, destination, &options),
        _ => merge_files_three_way(named("base", &base), destination, source, &options),
    };
    let case = Case {
        ways: request.ways,
        base: root(&base),
        upstream: root(&upstream),
        local: root(&local),
    };
    let (ours, theirs) = match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => (File::parse(ours.text)?, File::parse(theirs.clone())?),
        (Ok(_), Err(error)) => return Ok(error_class(classes::of_kyaml_error(error), error)),
        (Err(error), _) => {
            return Ok(Comparison::Unexplained(format!("krm fails: {}", error.message())));
        }
    };
    let (Some(ours), Some(theirs)) = (root(&ours), root(&theirs)) else {
        return Ok(Comparison::Unexplained("empty result".to_owned()));
    };
    let changes = Differ::default().compare(theirs, ours).fields;
    let mut known = Vec::new();
    for change in &changes {
        match classes::of(&case, change) {
            Some(class) if known.contains(&class) => {}
            Some(class) => known.push(class),
            None => {
                let show = |node: Option<NodeRef<'_>>| {
                    node.map_or("nothing".to_owned(), krm_core::print::one_line)
                };
                return Ok(Comparison::Unexplained(format!(
                    "{}: {:?}, kyaml {}, krm {}",
                    change.path,
                    change.kind,
                    show(change.old),
                    show(change.new)
                )));
            }
        }
    }
    Ok(if known.is_empty() { Comparison::Same } else { Comparison::Explained(known) })
}

fn error_class(class: Option<&'static str>, error: &str) -> Comparison {
    class.map_or_else(
        || Comparison::Unexplained(error.to_owned()),
        |class| Comparison::Explained(vec![class]),
    )
}
