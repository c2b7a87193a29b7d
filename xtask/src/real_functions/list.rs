//! Third-party functions, and small ones of ours that use third-party libraries: the source of each, and the changes
//! that it must make.

/// A function, its configuration, and the expected changes.
pub(super) struct RealFunction {
    pub(super) name: &'static str,
    pub(super) source: Source,
    /// Arguments of the program.
    pub(super) arguments: &'static [&'static str],
    /// The functionConfig; empty for none.
    pub(super) config: &'static str,
    pub(super) expected: Expected,
}

pub(super) enum Source {
    /// A Go package, and versions to try in order.
    Go(&'static str, &'static [&'static str]),
    /// One of the functions of `xtask/peers/go`.
    Gopeer(&'static str),
    /// `xtask/peers/node` with this npm package.
    Node(&'static str),
}

pub(super) enum Expected {
    /// Exactly these changed lines.
    Lines(&'static [&'static str]),
    /// The same changes as the built-in function of this name.
    BuiltIn,
}

/// The input package; much of its formatting would change if it were serialized again.
pub(super) const PACKAGE: &[(&str, &str)] = &[
    (
        "web.yaml",
        "# the shop\n\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web # it\n  namespace: shop\n  labels: {app: 'web', \"tier\": front}\n  annotations:\n    example.com/team: shop # ours\nspec:\n    replicas:   3 # for now\n\n    # who is meant\n    selector:\n        matchLabels: {app: web}\n    template:\n        metadata:\n          labels: {app: web}\n        spec:\n            containers:\n              - name: web\n                image: \"web:1.0\" # kpt-set: web:${tag}\n                command: [sh, -c, 'echo \"hi\"']\n                args:\n                - |\n                  one\n                  two\n",
    ),
    (
        "others.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop, annotations: {example.com/team: shop}}\nspec:\n  selector: {app: web}\n  ports: [{port: 80}] # one\n---\n# second\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop # here\n  annotations:\n    example.com/team: 'shop'\ndata: {x: \"1\", mode: \"0644\"}\n",
    ),
];

/// The changes of our own functions.
const SCALED: Expected = Expected::Lines(&[
    "-    replicas:   3 # for now",
    "+    replicas:   5 # for now",
    "-                image: \"web:1.0\" # kpt-set: web:${tag}",
    "+                image: \"web:2.0\" # kpt-set: web:${tag}",
]);

const NEWEST: &[&str] = &["latest"];

const fn other(
    name: &'static str,
    source: Source,
    arguments: &'static [&'static str],
    config: &'static str,
    lines: &'static [&'static str],
) -> RealFunction {
    RealFunction { name, source, arguments, config, expected: Expected::Lines(lines) }
}

const fn ours(name: &'static str, source: Source) -> RealFunction {
    RealFunction { name, source, arguments: &[], config: "", expected: SCALED }
}

/// A function of kpt's catalog, compared with the built-in one.
const fn catalog(name: &'static str, package: &'static str, config: &'static str) -> RealFunction {
    let source = Source::Go(package, NEWEST);
    RealFunction { name, source, arguments: &[], config, expected: Expected::BuiltIn }
}

/// The Go package of a catalog function.
macro_rules! go {
    ($name:literal) => {
        concat!("github.com/kptdev/krm-functions-catalog/functions/go/", $name)
    };
}

/// A ConfigMap with this data.
macro_rules! config_map {
    ($data:literal) => {
        concat!("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: ", $data, "\n")
    };
}

pub(super) const FUNCTIONS: &[RealFunction] = &[
    // The newest kyaml may need a newer Go.
    other(
        "example of kyaml",
        Source::Go("sigs.k8s.io/kustomize/kyaml/fn/framework/example", &["latest", "v0.21.2"]),
        &[],
        "apiVersion: example.com/v1\nkind: Tester\nmetadata: {name: config}\nvalue: foo\n",
        &[
            "-metadata: {name: web, namespace: shop, annotations: {example.com/team: shop}}",
            "+metadata: {name: web, namespace: shop, annotations: {example.com/team: shop, value: foo}}",
            "+    value: foo",
            "+apiVersion: v1",
            "+kind: ServiceAccount",
            "+metadata:",
            "+  name: foo",
            "+  annotations:",
            "+    value: foo",
            "+    value: foo",
        ],
    ),
    other(
        "annotate of kustomize 4",
        Source::Go("sigs.k8s.io/kustomize/kustomize/v4", &["v4.5.7"]),
        &["cfg", "annotate", "--kind", "Deployment", "--kv", "example.com/team=pay"],
        "",
        &["-    example.com/team: shop # ours", "+    example.com/team: pay # ours"],
    ),
    other(
        "fmt of kustomize 4",
        Source::Go("sigs.k8s.io/kustomize/kustomize/v4", &["v4.5.7"]),
        &["cfg", "fmt"],
        "",
        &[],
    ),
    other(
        "yq",
        Source::Go("github.com/mikefarah/yq/v4", &["latest", "v4.54.1"]),
        &["(.items[] | select(.kind == \"Deployment\")).spec.replicas = 5"],
        "",
        &["-    replicas:   3 # for now", "+    replicas:   5 # for now"],
    ),
    ours("ours on kyaml", Source::Gopeer("fn-kyaml")),
    ours("ours on sigs.k8s.io/yaml", Source::Gopeer("fn-sigs")),
    ours("ours on go-yaml", Source::Gopeer("fn-goyaml")),
    ours("ours on kpt's TypeScript SDK", Source::Node("kpt-functions@0.16.1")),
    catalog("set-namespace", go!("set-namespace"), config_map!("{namespace: prod}")),
    catalog("set-labels", go!("set-labels"), config_map!("{tier: back}")),
    catalog("set-annotations", go!("set-annotations"), config_map!("{example.com/team: pay}")),
    catalog("set-image", go!("set-image"), config_map!("{name: web, newTag: \"2.0\"}")),
    catalog("apply-setters", go!("apply-setters"), config_map!("{tag: \"2.0\"}")),
    catalog("ensure-name-substring", go!("ensure-name-substring"), config_map!("{prepend: prod-}")),
    catalog(
        "search-replace",
        go!("search-replace"),
        config_map!("{by-path: spec.replicas, put-value: \"5\"}"),
    ),
    catalog(
        "starlark",
        go!("starlark"),
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: StarlarkRun\nmetadata: {name: config}\nsource: |\n  for it in ctx.resource_list[\"items\"]:\n    it[\"metadata\"][\"namespace\"] = \"prod\"\n",
    ),
    catalog(
        "upsert-resource",
        go!("upsert-resource"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {x: \"2\"}\n",
    ),
    catalog(
        "apply-replacements",
        go!("apply-replacements"),
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: ApplyReplacements\nmetadata: {name: config}\nreplacements:\n- source: {kind: ConfigMap, name: settings, fieldPath: data.x}\n  targets:\n  - select: {kind: Service, name: web}\n    fieldPaths: [\"metadata.annotations.[example.com/team]\"]\n",
    ),
];
