//! The settings of git that name krm as merge driver and as converter for diffs.

/// A setting of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) key: &'static str,
    pub(super) value: &'static str,
}

/// The sections that [`MERGE`] and [`DIFF`] fill.
pub(super) const SECTIONS: [&str; 2] = ["merge.krm", "diff.krm"];

/// git merges files that a person wrote, so nothing is cleared or replaced that nobody asked for: nulls are values, and lists without
/// merge keys are merged element by element.
pub(super) const MERGE: &[Setting] = &[
    Setting { key: "merge.krm.name", value: "krm: merge of YAML by meaning" },
    Setting {
        key: "merge.krm.driver",
        value: "krm yaml merge3 --base %O --local %A --upstream %B --name %P --on-conflict mark --nulls value --sequences diff3",
    },
];

/// The lines of a resource are indented below its name, which git shows in the header of a hunk.
pub(super) const DIFF: &[Setting] = &[
    Setting { key: "diff.krm.textconv", value: "krm git textconv" },
    Setting { key: "diff.krm.xfuncname", value: "^[^ ].*$" },
];
