//! Damages a text: inserts, removes and moves a few bytes.

use super::draw::Draw;

/// Pieces with a meaning in YAML.
const PIECES: &[&str] = &[
    " ",
    "\n",
    "\r\n",
    "\r",
    "\t",
    ":",
    ": ",
    "- ",
    "-",
    "? ",
    "#",
    " #",
    "[",
    "]",
    "{",
    "}",
    ",",
    "&a ",
    "*a",
    "!t ",
    "|",
    ">",
    "'",
    "\"",
    "\\",
    "---",
    "...",
    "---\n",
    "%YAML 1.2\n",
    "<<: ",
    "\u{feff}",
    "  ",
    "\n\n",
    "a",
    "é",
    "\0",
    "\u{85}",
    "|+\n",
    ">-\n",
    "@",
    "`",
    "\u{2028}",
];

/// The text after one to four random mutations.
pub(crate) fn mutated(draw: &mut Draw<'_>, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let count = 1 + draw.below(4);
    for _ in 0..count {
        let at = draw.below(chars.len() + 1);
        let most = draw.below(6);
        let end = (at + most).min(chars.len());
        match draw.below(4) {
            0 => {
                chars.splice(at..at, draw.pick(PIECES).chars());
            }
            1 => {
                chars.drain(at..end);
            }
            2 => {
                let piece: Vec<char> = chars[at..end].to_vec();
                let to = draw.below(chars.len() + 1);
                chars.splice(to..to, piece);
            }
            _ => {
                chars.splice(at..end, draw.pick(PIECES).chars());
            }
        }
    }
    chars.into_iter().collect()
}
