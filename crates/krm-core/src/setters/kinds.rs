//! Kinds of diagnostics about setters, substitutions and their references.

use krm_yaml::{Excerpt, diagnostic_kinds};

use super::pattern::{Candidate, DeriveError};

diagnostic_kinds! {
    /// What is wrong with a setter, a substitution or a field that follows one.
    pub enum SetterKind {
        /// A name that nothing in the package defines.
        NotDefined { target: String } = "setter-not-defined": "{target} is not defined";
        /// Two definitions of one name.
        DefinedTwice { target: String, first: String } = "setter-defined-twice": "{target} is defined twice; the first definition is at {first}",
            hint "remove one of the definitions";
        /// A new definition has the name of an existing one, which is different.
        AlreadyDefined { target: String } = "setter-already-defined": "{target} already exists";
        /// The name inside a definition differs from its key.
        NameMismatch { found: Excerpt, key: String } = "setter-name-mismatch": "name `{found}` does not match the key, which ends with `{key}`",
            hint "use the same name in both places; fields refer to the key";
        /// A name that references cannot contain.
        InvalidName { name: String } = "setter-name-invalid": "invalid name `{name}`",
            hint "use letters, digits, `-`, `_` and `.`";
        /// The `ref` of a substitution value is not a definition.
        InvalidRef { marker: String, substitution: String } = "setter-ref-invalid": "marker `{marker}` of substitution `{substitution}` does not refer to a setter or substitution",
            hint "write ref: '#/definitions/io.k8s.cli.setters.NAME'";
        /// Substitutions that are made of each other.
        SubstitutionCycle { cycle: String } = "substitution-cycle": "substitutions refer to each other in a cycle: {cycle}";
        /// A substitution whose value grows without need.
        SubstitutionTooLong { name: String } = "substitution-too-long": "value of substitution `{name}` is longer than 1 MiB";
        /// A setter that is still part of something else.
        InUse { name: String, user: String } = "setter-in-use": "`{name}` is used by {user}";

        /// There is no value to write.
        NoValue { name: String } = "setter-no-value": "setter `{name}` has no value";
        /// A required setter that nobody has set.
        RequiredNotSet { name: String } = "setter-required": "setter `{name}` is required, but not set",
            hint "set it with `krm cfg set DIR {name} VALUE`";
        /// A setter that is set without any effect on resources.
        NoFields { name: String } = "setter-no-fields": "no field references setter `{name}`",
            hint "add references with `krm cfg create-setter`, or delete the setter with `krm cfg delete-setter`";
        /// One setter is assigned twice.
        SetTwice { name: String } = "setter-set-twice": "setter `{name}` is set twice";
        /// Several values for a setter that holds one.
        SingleValue { name: String, count: usize } = "setter-single-value": "setter `{name}` holds a single value, but {count} values are given",
            hint "quote a value that contains spaces; a setter for a list has the type array";
        /// A substitution cannot be set, only its setters can.
        IsSubstitution { name: String, setters: String } = "setter-is-substitution": "`{name}` is a substitution, which cannot be set directly",
            hint "set {setters}";
        /// A value breaks a rule of the setter's schema.
        InvalidValue { value: Excerpt, setter: String, expected: String } = "setter-value-invalid": "invalid value `{value}` for setter `{setter}`: expected {expected}";
        /// A type that no setter can have.
        UnknownType { found: Excerpt } = "setter-type-unknown": "unknown type `{found}`",
            hint "use string, integer, number, boolean or array";
        /// The `--type` flag and the schema file disagree.
        TypeConflict { flag: &'static str, schema: Excerpt } = "setter-type-conflict": "--type is {flag}, but the schema has type {schema}";
        /// The regular expression of a schema cannot be compiled.
        InvalidRegex { setter: String, reason: String } = "setter-schema-pattern": "cannot compile the pattern of setter `{setter}`: {reason}",
            hint "look-around, back-references and \\p classes are not supported";
        /// A schema keyword that krm does not evaluate.
        UncheckedKeyword { keyword: &'static str, setter: String } = "setter-schema-keyword": "`{keyword}` in the schema of setter `{setter}` is not checked";
        /// The aliases of a schema file expand without limit.
        SchemaTooLarge = "setter-schema-too-large": "aliases of the schema expand to too many nodes";
        /// A number or boolean becomes a string.
        TypeChanged { was: &'static str, value: Excerpt } = "setter-type-changed": "type changes from {was} to string: `{value}`";

        /// A reference at a node that has no value of its own.
        FieldNotSettable { target: String, found: &'static str } = "setter-field-not-settable": "cannot set {target} here: expected a scalar or a sequence of scalars, found {found}",
            hint "put the reference next to a scalar, or next to the key of a sequence of scalars";
        /// A sequence follows a setter that holds one value.
        SequenceFollowsScalar { target: String } = "setter-list-expected": "cannot set a sequence to {target}, which holds a single value",
            hint "give the setter the type array, or move the reference to an element";
        /// A scalar follows a setter that holds a list.
        ScalarFollowsList { target: String } = "setter-scalar-expected": "cannot set a scalar to {target}, which holds a list",
            hint "put the reference next to the key of a sequence";
        /// A list cannot be part of a string.
        ListInPattern { name: String } = "setter-list-in-pattern": "setter `{name}` holds a list, which cannot be part of a pattern";
        /// A sequence with a pattern that has more than one marker. Compat: the message of apply-setters.
        ArrayPattern { pattern: String } = "setter-array-pattern": "invalid setter pattern for array node: \"{pattern}\"",
            hint "use a single setter for a sequence: ${{name}}";
        /// A sequence follows a value that is not a list. Compat: the message of apply-setters.
        ArrayValue { name: String, found: Excerpt } = "setter-array-value": "input to array setter must be an array of values, but found {found}",
            hint "set `{name}` to a list, such as [a, b]";
        /// New values that are too large together.
        ValuesTooLarge { limit: usize } = "setter-values-too-large": "new values of fields are larger than {} MiB together" (limit >> 20),
            hint "set a shorter value";
        /// Setters without a value whose values can be read from the field in several ways, one of which is taken.
        AmbiguousValue { pattern: String, kept: Candidate, setters: String } = "setter-ambiguous-value": "value matches `{pattern}` in more than one way; it keeps {kept}, as kpt does",
            hint "give values for the setters: {setters}";
        /// Setters without a value whose values cannot be read from the field. Compat: the message of apply-setters.
        ValuesRequired { setters: String, pattern: String, problem: DeriveError } = "setter-values-required": "values for setters [{setters}] must be provided",
            hint "they cannot be derived from the current value and `{pattern}`: {problem}";

        /// A comment with a reference that is next to no field.
        ReferenceWithoutField = "setter-reference-without-field": "reference does not belong to a field",
            hint "put it next to the value that it sets";
        /// The second of two references of a field.
        ReferenceIgnored = "setter-reference-ignored": "field has two references; this one is ignored";
        /// A field that would get a second reference.
        ReferenceExists = "setter-reference-exists": "field already has a reference, which is kept";
        /// A value in the middle of a line.
        NoLineComment = "setter-no-line-comment": "cannot add a reference: no line comment can follow this value";

        /// Neither a value nor a path selects the fields of a new setter.
        NoSelection = "setter-no-selection": "expected a value or a field path to select fields",
            hint "add VALUE or --field";
        /// The fields of a new setter do not agree on its value.
        DifferentValues {
            /// Both values in one excerpt, because both must be masked if one is.
            values: Excerpt,
            location: String,
        } = "setter-different-values": "fields have different values: {values} at {location}",
            hint "narrow --field, or give VALUE";
        /// A new setter without a value, and without a field that has one.
        NoMatchingField = "setter-no-matching-field": "no field matches, so the setter has no initial value",
            hint "give VALUE, or another --field";
        /// Nowhere to write definitions.
        NoPackageFile = "setter-no-package-file": "no Krmfile or Kptfile found to define setters in",
            hint "create one with `krm cfg init`";
        /// Definitions would make a Kptfile unreadable.
        KptfileVersion = "setter-kptfile-version": "cannot add OpenAPI definitions: kpt does not read a Kptfile of this version that has any",
            hint "use kpt-set references, which keep the value in the pipeline, or add a Krmfile with `krm cfg init`";
        /// A package file that is empty or not a mapping.
        InvalidPackageFile = "setter-package-file-invalid": "cannot add definitions: the file is not a mapping",
            hint "start it with apiVersion and kind, as `krm cfg init` does";
        /// The kpt-set dialect outside of a kpt package.
        NoKptfile = "setter-no-kptfile": "no Kptfile found whose pipeline could hold the values",
            hint "kpt-set references are for kpt packages; use another --ref-style, or create a Kptfile";
        /// A values file in a format that krm does not read.
        ValuesFileFormat = "setter-values-file-format": "expected a mapping, or lines NAME=VALUE";

        /// Something that the other dialect cannot express.
        MigrationLoss { dialect: &'static str, what: String } = "setter-migration-loss": "{dialect} cannot represent {what}";
        /// A field that the next render would change.
        FieldDiffers { value: Excerpt } = "setter-field-differs": "field differs from its setter, and rendering sets it to `{value}`",
            hint "set the fields with `krm cfg set --all`, or correct the value of the setter";
        /// kpt reads only references at the start of a comment.
        ReferenceAfterText { text: Excerpt } = "setter-reference-after-text": "kpt does not read a reference after other text, as in `{text}`; krm does";
        /// The values file of a function that is removed.
        ValuesFileUnused = "setter-values-file-unused": "the values file is kept, but nothing reads it any more";
    }
}

diagnostic_kinds! {
    /// What is wrong with a comment that looks like a reference.
    pub enum ReferenceKind {
        /// More than one reference in a comment.
        Multiple = "reference-multiple": "comment has two references, but a field can follow only one";
        /// A reference that is not a JSON object.
        NotJson { key: &'static str } = "reference-not-json": "expected a JSON object: {{\"{key}\":\"…\"}}";
        /// A reference without a name.
        MissingName { key: String } = "reference-missing-name": "expected a quoted name after `{key}`";
        /// A `$ref` to something else than a setter or substitution.
        UnknownDefinition { pointer: String } = "reference-unknown-definition": "`{pointer}` is not the definition of a setter or substitution",
            hint "start it with #/definitions/io.k8s.cli.setters. or #/definitions/io.k8s.cli.substitutions.";
    }
}
