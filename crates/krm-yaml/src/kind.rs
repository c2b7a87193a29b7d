//! Kinds of diagnostics: a stable id, typed parameters, and the message made from them.
//!
//! Code matches on kinds and never on messages, so that wording can change freely. Each area of krm declares its kinds in one
//! enum with [`diagnostic_kinds!`](crate::diagnostic_kinds); that enum is the only place where its messages are written.

use std::any::Any;
use std::fmt;

/// A kind of error or warning, with its parameters.
pub trait DiagnosticKind: Any + fmt::Debug + Send + Sync {
    /// The stable id, such as `missing-colon`.
    fn id(&self) -> &'static str;

    /// What is wrong: lower case, one line, no full stop. Excerpts for which `hides` is true are masked.
    fn message(&self, hides: &dyn Fn(&str) -> bool) -> String;

    /// What to do about it, where that follows from the kind.
    fn hint(&self, hides: &dyn Fn(&str) -> bool) -> Option<String>;
}

/// Text that is quoted from a document. It may be the value of a Secret, so it can be masked when a message is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt(String);

/// What is shown instead of a masked excerpt.
const MASK: &str = "***";

impl<T: Into<String>> From<T> for Excerpt {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A parameter of a kind.
pub trait KindParameter: Sized {
    /// The parameter as it is shown instead, where it quotes something that must be hidden.
    fn masked(&self, _hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        None
    }
}

impl KindParameter for Excerpt {
    fn masked(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        hides(&self.0).then(|| Self(MASK.to_owned()))
    }
}

impl KindParameter for String {}
impl KindParameter for &'static str {}
impl KindParameter for Box<str> {}
impl KindParameter for char {}
impl KindParameter for bool {}
impl KindParameter for i32 {}
impl KindParameter for u32 {}
impl KindParameter for u64 {}
impl KindParameter for usize {}
impl KindParameter for core::time::Duration {}
impl KindParameter for Vec<String> {}
impl KindParameter for Vec<u32> {}
impl<T: KindParameter> KindParameter for Option<T> {
    fn masked(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        self.as_ref()?.masked(hides).map(Some)
    }
}

/// Declares an enum of [`DiagnosticKind`]s: for each variant its parameters, its id, its message and, after `hint`, its hint.
///
/// Parameters are captured by the format strings by name; further format arguments may follow in parentheses.
/// `hint if (CONDITION) "…"` is a hint that not every value of the parameters has.
///
/// ```
/// use krm_yaml::{DiagnosticKind, Excerpt};
///
/// krm_yaml::diagnostic_kinds! {
///     /// What is wrong with a port.
///     pub enum PortKind {
///         /// The port is not a number.
///         NotANumber { text: Excerpt } = "port-not-a-number": "expected a port number, found `{text}`", hint "use a number from 1 to 65535";
///         /// The port is missing.
///         Missing = "port-missing": "port is missing";
///     }
/// }
///
/// let kind = PortKind::NotANumber { text: "http".into() };
/// assert_eq!(kind.id(), "port-not-a-number");
/// assert_eq!(kind.to_string(), "expected a port number, found `http`");
/// assert_eq!(kind.message(&|_| true), "expected a port number, found `***`");
/// assert_eq!(PortKind::IDS, ["port-not-a-number", "port-missing"]);
/// ```
#[macro_export]
macro_rules! diagnostic_kinds {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $(
                $(#[$doc:meta])*
                $variant:ident $({ $($(#[$field_doc:meta])* $field:ident : $type:ty),* $(,)? })? = $id:literal :
                    $message:literal $(($($argument:expr),* $(,)?))?
                    $(, hint $(if ($condition:expr))? $hint:literal $(($($hint_argument:expr),* $(,)?))?)?;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $visibility enum $name {
            $(
                $(#[$doc])*
                $variant $({ $(
                    $(#[$field_doc])*
                    #[allow(missing_docs, reason = "parameters are named for what they are")]
                    $field: $type
                ),* })?,
            )*
        }

        impl $name {
            /// The ids of all variants, in the order of their declaration.
            $visibility const IDS: &'static [&'static str] = &[$($id),*];
        }

        impl $crate::DiagnosticKind for $name {
            fn id(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $id,)*
                }
            }

            #[allow(unused_variables, reason = "not every message shows every parameter")]
            fn message(&self, hides: &dyn Fn(&str) -> bool) -> String {
                match self {
                    $(Self::$variant $({ $($field),* })? => {
                        $($(
                            let masked = $crate::KindParameter::masked($field, hides);
                            let $field = masked.as_ref().unwrap_or($field);
                        )*)?
                        format!($message $(, $($argument),*)?)
                    })*
                }
            }

            #[allow(unused_variables, reason = "not every hint shows every parameter")]
            fn hint(&self, hides: &dyn Fn(&str) -> bool) -> Option<String> {
                match self {
                    $(Self::$variant $({ $($field),* })? => {
                        $($(
                            let masked = $crate::KindParameter::masked($field, hides);
                            let $field = masked.as_ref().unwrap_or($field);
                        )*)?
                        let hint: Option<String> = None;
                        $(let hint = (true $(&& $condition)?).then(|| format!($hint $(, $($hint_argument),*)?));)?
                        hint
                    })*
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&$crate::DiagnosticKind::message(self, &|_| false))
            }
        }

        impl ::std::error::Error for $name {}
    };
}
