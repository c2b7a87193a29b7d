//! Version constraints in the `tag` of an image.

use std::fmt;

/// A constraint on versions: `~0.4`, `>=0.2 <0.5`, `0.4.1 - 0.4.3`, `^1 || 2.x`.
///
/// ```
/// use krm_run::Constraint;
///
/// let constraint: Constraint = "~0.4 || >= 1.2, < 2".parse()?;
/// assert!(constraint.allows("v0.4.3") && constraint.allows("1.9"));
/// assert!(!constraint.allows("0.5") && !constraint.allows("latest"));
/// # Ok::<(), krm_run::InvalidConstraint>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Alternatives, each of which is a list of ranges that must all match.
    any: Vec<Vec<VersionRange>>,
}

/// A string that is not a version constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidConstraint(String);

impl fmt::Display for InvalidConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a version constraint", self.0)
    }
}

impl std::error::Error for InvalidConstraint {}

/// Major, minor and patch.
type Version = [u64; 3];

/// From a version up to, but without, another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct VersionRange {
    from: Version,
    to: Version,
    is_negated: bool,
}

const FIRST: Version = [0; 3];
const LAST: Version = [u64::MAX; 3];

impl Constraint {
    /// Whether a tag is a version that satisfies the constraint. Pre-releases never do.
    pub fn allows(&self, tag: &str) -> bool {
        let Some((version, _)) = version(tag) else { return false };
        let matches = |range: &VersionRange| {
            (range.from <= version && version < range.to) != range.is_negated
        };
        self.any.iter().any(|all| all.iter().all(matches))
    }
}

impl std::str::FromStr for Constraint {
    type Err = InvalidConstraint;

    fn from_str(text: &str) -> Result<Self, InvalidConstraint> {
        let any = text.split("||").map(alternative).collect::<Option<Vec<_>>>();
        any.map(|any| Self { any }).ok_or_else(|| InvalidConstraint(text.to_owned()))
    }
}

fn alternative(text: &str) -> Option<Vec<VersionRange>> {
    if let Some((from, to)) = text.split_once(" - ") {
        return Some(vec![range(">=", from.trim())?, range("<=", to.trim())?]);
    }
    let parts: Vec<&str> = text.split([',', ' ']).filter(|part| !part.is_empty()).collect();
    let mut ranges = Vec::new();
    let mut open = "";
    for part in &parts {
        let start = part.find(|c: char| !"=!<>~^".contains(c)).unwrap_or(part.len());
        let (operator, version) = part.split_at(start);
        match (open, operator, version) {
            // An operator may be separated from its version.
            ("", operator, "") => open = operator,
            ("", operator, version) => ranges.push(range(operator, version)?),
            (_, "", version) => ranges.push(range(std::mem::take(&mut open), version)?),
            _ => return None,
        }
    }
    (open.is_empty() && !ranges.is_empty()).then_some(ranges)
}

fn range(operator: &str, text: &str) -> Option<VersionRange> {
    let (from, given) = version(text)?;
    let next = after(from, given);
    let within = |from, to| Some(VersionRange { from, to, is_negated: false });
    match operator {
        "" | "=" | "==" => within(from, next),
        "!=" => Some(VersionRange { from, to: next, is_negated: true }),
        ">=" | "=>" => within(from, LAST),
        "<" => within(FIRST, from),
        ">" => within(next, LAST),
        "<=" | "=<" => within(FIRST, next),
        "~" | "~>" => within(from, after(from, given.min(2))),
        "^" => {
            // Up to the next change of the first non-zero number.
            let first = from.iter().position(|number| *number > 0).unwrap_or(2);
            within(from, after(from, (first + 1).min(given.max(1))))
        }
        _ => None,
    }
}

/// The version after all those that share the given leading numbers of this one.
fn after(version: Version, given: usize) -> Version {
    let Some(last) = given.checked_sub(1) else { return LAST };
    let mut next = FIRST;
    next[..given].copy_from_slice(&version[..given]);
    next[last] = next[last].saturating_add(1);
    next
}

/// A version, and how many of its numbers are given; `x` and `*` match any.
fn version(text: &str) -> Option<(Version, usize)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let text = text.split_once('+').map_or(text, |(version, _)| version);
    let (mut version, mut given) = (FIRST, 0);
    let parts: Vec<&str> = text.split('.').collect();
    if parts.len() > 3 {
        return None;
    }
    for (at, part) in parts.iter().enumerate() {
        match *part {
            "x" | "X" | "*" => break,
            number if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                version[at] = number.parse().ok()?;
                given = at + 1;
            }
            _ => return None,
        }
    }
    Some((version, given))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_follow_semver_conventions() {
        for (constraint, yes, no) in [
            ("0.4.1 - 0.4.3", vec!["v0.4.1", "0.4.3"], vec!["0.4", "0.4.4"]),
            ("~0.2", vec!["0.2", "0.2.9"], vec!["0.3", "0.1.9"]),
            ("~1", vec!["1.9.9"], vec!["2"]),
            ("^0.2.3", vec!["0.2.3", "0.2.9"], vec!["0.3", "0.2.2"]),
            ("^1.2", vec!["1.2", "1.9"], vec!["2", "1.1"]),
            ("^0", vec!["0.9"], vec!["1"]),
            ("1.x", vec!["1.2.3"], vec!["2"]),
            ("*", vec!["0.0.1", "9"], vec!["latest", "1.0.0-rc1"]),
            ("> 1.2, <=2", vec!["1.3", "2.9"], vec!["1.2.7", "3"]),
            ("!=1.2", vec!["1.3"], vec!["1.2", "1.2.5"]),
            ("v0.4.1", vec!["v0.4.1"], vec!["v0.4.2"]),
        ] {
            let read: Constraint = constraint.parse().unwrap();
            assert!(yes.iter().all(|tag| read.allows(tag)), "{constraint}");
            assert!(!no.iter().any(|tag| read.allows(tag)), "{constraint}");
        }
    }

    #[test]
    fn invalid_constraints_are_rejected() {
        for text in ["", "latest", ">", "1 ||", "> > 1", "1.2.3.4", "~~1", "1 - "] {
            assert!(text.parse::<Constraint>().is_err(), "{text:?}");
        }
    }
}
