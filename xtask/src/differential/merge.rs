//! The same merges by krm and by kyaml: every difference falls into a class that has a reason.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use krm_core::diff::Differ;
use krm_core::merge::node::{NamedFile, Rules, three_way_files, two_way_files};
use krm_core::schema::Schema;
use krm_yaml::{DocumentRef, File, NodeRef, Value};

use super::classes::{self, Case};
use super::tree::{self, Tree};
use crate::corpus::dice::Dice;
use crate::{Outcome, shell};

/// How many merges of each kind are compared.
const PAIRS: usize = 3_000;

/// More help nobody.
const MOST_SHOWN: usize = 5;

/// Merges on both sides and says where they differ; one difference without a class is a failure.
pub(super) fn run(gopeer: &Path) -> Outcome {
    let questions: Vec<Question> =
        (0..PAIRS).flat_map(|number| [two(number), three(number)]).collect();
    let answers = ask(gopeer, &questions)?;
    let schema = Schema::kubernetes();
    let (mut same, mut found, mut strange) = (0, BTreeMap::<&str, usize>::new(), Vec::new());
    for (question, theirs) in questions.iter().zip(&answers) {
        match compare(question, theirs, &schema)? {
            Verdict::Same => same += 1,
            Verdict::Known(classes) => {
                classes.into_iter().for_each(|class| *found.entry(class).or_default() += 1);
            }
            Verdict::Strange(words) => strange.push((question, words)),
        }
    }
    println!("merging: {same} of {} merges mean the same to krm and kyaml", questions.len());
    for (name, count) in &found {
        println!("  {count:5} {name}: {}", classes::reason(name));
    }
    for (question, words) in strange.iter().take(MOST_SHOWN) {
        println!("\nno class for this: {words}\n{question}");
    }
    match strange.len() {
        0 => Ok(()),
        count => Err(format!("{count} differences from kyaml fall into no class").into()),
    }
}

/// One merge.
struct Question {
    ways: usize,
    base: String,
    upstream: String,
    local: String,
}

impl std::fmt::Display for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.ways == 3 {
            write!(f, "-- base --\n{}", self.base)?;
        }
        write!(f, "-- upstream --\n{}-- local --\n{}", self.upstream, self.local)
    }
}

fn two(number: usize) -> Question {
    let mut dice = Dice::new("two-way", number);
    let base = tree::resource(&mut dice);
    let source = tree::part(&tree::changed(&base, &mut dice), &mut dice, 0);
    let local = tree::changed(&base, &mut dice);
    question(2, &base, &source, &local)
}

fn three(number: usize) -> Question {
    let mut dice = Dice::new("three-way", number);
    let base = tree::resource(&mut dice);
    let upstream = tree::changed(&base, &mut dice);
    let local = tree::changed(&base, &mut dice);
    question(3, &base, &upstream, &local)
}

fn question(ways: usize, base: &Tree, upstream: &Tree, local: &Tree) -> Question {
    let [base, upstream, local] = [base, upstream, local].map(tree::write);
    Question { ways, base, upstream, local }
}

/// What kyaml says: the text, or why there is none.
type Answer = Result<String, String>;

fn ask(gopeer: &Path, questions: &[Question]) -> Outcome<Vec<Answer>> {
    let lines: String = questions.iter().map(line).collect();
    let mut command = shell::program(gopeer);
    command.arg("merge").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().ok_or("gopeer takes no questions")?;
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| "the questions were not asked")??;
    let said = String::from_utf8(output.stdout)?;
    let answers: Vec<Answer> = said.lines().map(answer).collect::<Outcome<_>>()?;
    if answers.len() != questions.len() {
        return Err("gopeer did not answer everything; `cargo xtask peers` builds it anew".into());
    }
    Ok(answers)
}

fn line(question: &Question) -> String {
    let ways = Value::int(i64::try_from(question.ways).unwrap_or_default());
    let texts =
        [("base", &question.base), ("upstream", &question.upstream), ("local", &question.local)];
    let mut entries = vec![(Value::from("ways"), ways)];
    entries.extend(texts.map(|(name, text)| (Value::from(name), Value::string(text.as_str()))));
    krm_core::print::json::write(&Value::Mapping(entries)) + "\n"
}

fn answer(line: &str) -> Outcome<Answer> {
    let file = File::parse(line.to_owned())?;
    let root = root(&file).ok_or("gopeer said nothing")?;
    let field = |name| root.as_mapping()?.get(name)?.as_scalar().map(|it| it.value().into_owned());
    Ok(match field("error") {
        Some(error) => Err(error),
        None => Ok(field("text").unwrap_or_default()),
    })
}

fn root(file: &File) -> Option<NodeRef<'_>> {
    file.document(0).and_then(DocumentRef::root)
}

enum Verdict {
    Same,
    Known(Vec<&'static str>),
    Strange(String),
}

fn compare(question: &Question, theirs: &Answer, schema: &Schema) -> Outcome<Verdict> {
    let [base, upstream, local] =
        [&question.base, &question.upstream, &question.local].map(|text| File::parse(text.clone()));
    let (base, upstream, local) = (base?, upstream?, local?);
    let rules = Rules { schema: Some(schema), ..Rules::default() };
    let named = |name, file| NamedFile { name, file };
    let (source, destination) = (named("upstream", &upstream), named("local", &local));
    let ours = match question.ways {
        2 => two_way_files(source, destination, &rules),
        _ => three_way_files(named("base", &base), destination, source, &rules),
    };
    let case = Case {
        ways: question.ways,
        base: root(&base),
        upstream: root(&upstream),
        local: root(&local),
    };
    let (ours, theirs) = match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => (File::parse(ours.text)?, File::parse(theirs.clone())?),
        (Ok(_), Err(error)) => return Ok(one(classes::of_their_error(error), error)),
        (Err(error), _) => {
            return Ok(Verdict::Strange(format!("krm refuses: {}", error.message())));
        }
    };
    let (Some(ours), Some(theirs)) = (root(&ours), root(&theirs)) else {
        return Ok(Verdict::Strange("there is no result".to_owned()));
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
                return Ok(Verdict::Strange(format!(
                    "{}: {:?}, kyaml {}, krm {}",
                    change.path,
                    change.what,
                    show(change.old),
                    show(change.new)
                )));
            }
        }
    }
    Ok(if known.is_empty() { Verdict::Same } else { Verdict::Known(known) })
}

fn one(class: Option<&'static str>, words: &str) -> Verdict {
    class.map_or_else(|| Verdict::Strange(words.to_owned()), |class| Verdict::Known(vec![class]))
}
