//! Requests and responses: a sequence of strings, each with its length, so that nothing needs to be escaped.

/// A message that is being written.
///
/// ```
/// use krm_catalog::interpreter::{Message, MessageReader};
///
/// let mut message = Message::default();
/// message.text("a\nb").number(2).list(["c", "d"]);
/// let mut reader = MessageReader::new(message.as_str());
/// assert_eq!((reader.text(), reader.number()), (Some("a\nb"), Some(2)));
/// assert_eq!(reader.list(), Some(vec!["c", "d"]));
/// assert_eq!(reader.text(), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    text: String,
}

impl Message {
    /// Adds a string.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.text.push_str(&text.len().to_string());
        self.text.push(':');
        self.text.push_str(text);
        self
    }

    /// Adds a number.
    pub fn number(&mut self, number: usize) -> &mut Self {
        self.text(&number.to_string())
    }

    /// Adds a list of strings.
    pub fn list<T: AsRef<str>>(&mut self, texts: impl IntoIterator<Item = T>) -> &mut Self {
        let texts: Vec<T> = texts.into_iter().collect();
        self.number(texts.len());
        texts.iter().for_each(|text| _ = self.text(text.as_ref()));
        self
    }

    /// The message so far.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The message.
    pub fn into_string(self) -> String {
        self.text
    }
}

/// Reads the strings of a message in the order in which they were written. All methods return none at the end of the message and
/// for text that is not a message.
#[derive(Clone, Debug)]
pub struct MessageReader<'a> {
    rest: &'a str,
}

impl<'a> MessageReader<'a> {
    /// A reader at the beginning of a message.
    pub fn new(message: &'a str) -> Self {
        Self { rest: message }
    }

    /// The next string.
    pub fn text(&mut self) -> Option<&'a str> {
        let (length, rest) = self.rest.split_once(':')?;
        let (text, rest) = rest.split_at_checked(length.parse().ok()?)?;
        self.rest = rest;
        Some(text)
    }

    /// The next number.
    pub fn number(&mut self) -> Option<usize> {
        self.text()?.parse().ok()
    }

    /// The next list of strings.
    pub fn list(&mut self) -> Option<Vec<&'a str>> {
        let count = self.number()?;
        (0..count).map(|_| self.text()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_message_is_none() {
        for text in ["", "3:ab", "x:ab", ":", "-1:", "1:é", "99999999999999999999:a"] {
            assert_eq!(MessageReader::new(text).text(), None, "{text}");
        }
        assert_eq!(MessageReader::new("1:91:a").list(), None);
    }
}
