//! Whiteouts: entries that remove something of the lower layers. Spec: OCI image layers, "Whiteouts".

/// What an entry removes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Whiteout<'a> {
    /// Everything in its directory.
    Opaque,
    /// The entry of this name.
    Name(&'a [u8]),
    /// Files of a file system that docker used to have.
    Ignored,
}

impl<'a> Whiteout<'a> {
    /// The whiteout that a name stands for; none for other names.
    pub(super) fn of(name: &'a [u8]) -> Result<Option<Self>, &'static str> {
        let Some(hidden) = name.strip_prefix(b".wh.") else { return Ok(None) };
        match hidden {
            b".wh..opq" => Ok(Some(Self::Opaque)),
            hidden if hidden.starts_with(b".wh.") => Ok(Some(Self::Ignored)),
            b"" | b"." | b".." => Err("a whiteout without a name"),
            hidden => Ok(Some(Self::Name(hidden))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_begin_with_the_prefix_are_whiteouts() {
        assert_eq!(Whiteout::of(b"file"), Ok(None));
        assert_eq!(Whiteout::of(b".wh.file"), Ok(Some(Whiteout::Name(b"file"))));
        assert_eq!(Whiteout::of(b".wh..wh..opq"), Ok(Some(Whiteout::Opaque)));
        assert_eq!(Whiteout::of(b".wh..wh.plnk"), Ok(Some(Whiteout::Ignored)));
        for name in [&b".wh."[..], b".wh..", b".wh..."] {
            assert!(Whiteout::of(name).is_err());
        }
    }
}
