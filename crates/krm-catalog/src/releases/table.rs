//! The table of releases, oldest first. Sources are tags of kptdev/krm-functions-catalog unless they say otherwise.

use super::{Change, Release};

/// A release that is only known as the tag of an image.
const IMAGE: &str = "tag of the image only";

/// What was never released.
const MASTER: &str = "master of June 2025 (76fe3817)";

pub(crate) const ANNOTATE_APPLY_TIME_MUTATIONS: &[Release] =
    &[Release::new(0, 1, 0, "annotate-apply-time-mutations/v0.1.0")];

pub(crate) const APPLY_REPLACEMENTS: &[Release] = &[
    Release::new(0, 1, 0, "apply-replacements/v0.1.0"),
    Release::new(0, 1, 1, "apply-replacements/v0.1.1"),
    Release::new(
        0,
        1,
        2,
        "apply-replacements/v0.1.2, with kustomize/api v0.19.0 instead of v0.10.1",
    )
    .changing(&[
        Change::followed("a target without the field is an error; before, it is skipped"),
        Change::accepted("`*` in the path of a target"),
        Change::corrected(
            "the type of a value stays that of the target; before, it is that of the source",
        ),
    ]),
    Release::new(0, 1, 3, IMAGE),
    Release::new(0, 1, 4, IMAGE),
    Release::new(0, 1, 5, IMAGE),
];

pub(crate) const APPLY_SETTERS: &[Release] = &[
    Release::new(0, 1, 0, "apply-setters/v0.1.0"),
    Release::new(0, 1, 1, "apply-setters/v0.1.1").changing(&[
        Change::followed("it fails if there are no setters, or if no field refers to them"),
        Change::corrected("empty values and lists are set; before, they stay"),
        Change::unified("each field that is set is a result"),
    ]),
    Release::new(0, 2, 0, "apply-setters/v0.2.0").changing(&[Change::followed(
        "it succeeds if no field refers to a setter, and reports that",
    )]),
    Release::new(0, 2, 1, "apply-setters/v0.2.1"),
    Release::new(0, 3, 0, "documentation of v0.3; pull request 1266 of kptdev/krm-functions-catalog").changing(&[
        Change::followed("values of fields and setters with the name of a secret, and values that look like keys or tokens, are `<redacted>` in results; others are cut to 128 bytes"),
        Change::unified("results have the old and the new value as fields; krm has the new value in the message on every tag, because `krm fix` would write redacted values"),
    ]),
];

pub(crate) const CREATE_SETTERS: &[Release] = &[Release::new(0, 1, 0, "create-setters/v0.1.0")];

pub(crate) const DELETE_ANNOTATIONS: &[Release] = &[Release::new(0, 1, 0, IMAGE)];

pub(crate) const ENSURE_NAME_SUBSTRING: &[Release] = &[
    Release::new(0, 1, 0, "ensure-name-substring/v0.1.0"),
    Release::new(0, 1, 1, "ensure-name-substring/v0.1.1")
        .changing(&[Change::accepted("`additionalNameFields`, which replaces `fieldSpecs`")]),
    Release::new(0, 2, 0, "ensure-name-substring/v0.2.0").changing(&[
        Change::followed("names in the annotation `config.kubernetes.io/depends-on` are updated"),
        Change::followed("the Kptfile is not renamed"),
    ]),
];

pub(crate) const FORMAT: &[Release] = &[Release::new(0, 1, 0, "format/v0.1.0")];

pub(crate) const ENABLE_GCP_SERVICES: &[Release] =
    &[Release::new(0, 1, 0, "enable-gcp-services/v0.1.0")];

pub(crate) const EXPORT_TERRAFORM: &[Release] = &[
    Release::new(0, 1, 0, "export-terraform/v0.1.0"),
    Release::new(0, 2, 0, "export-terraform/v0.2.0").changing(&[Change::followed(
        "log sinks with their destinations, audit configurations and networks are exported",
    )]),
    Release::new(0, 3, 0, "export-terraform/v0.3.0")
        .changing(&[Change::followed("routes and host projects of shared networks are exported")]),
];

pub(crate) const FIX: &[Release] = &[
    Release::new(0, 2, 0, "fix/v0.2.0"),
    Release::new(0, 2, 1, "fix/v0.2.1").changing(&[
        Change::followed("setters are in `setters.yaml`; before, in `setters-config.yaml`"),
        Change::followed("the file of a functionConfig gets its name; before, it keeps the name that it has. krm gives a functionConfig that shares its file another one on every tag, because the pipeline reads the whole file"),
        Change::corrected("comments `$ref` of lists are converted; before, they stay and refer to nothing"),
    ]),
    Release::unreleased(MASTER).changing(&[
        Change::followed("apply-setters:v0.2 is added to the pipeline; before, apply-setters:v0.1"),
        Change::followed("the setters of every tag of apply-setters move to `setters.yaml`; before, those of v0.1"),
    ]),
];

pub(crate) const GENERATE_FOLDERS: &[Release] = &[
    Release::new(0, 1, 1, "generate-folders/v0.1.1"),
    Release::unreleased(MASTER).changing(&[Change::followed(
        "resources with a namespace depend on their parent (`config.kubernetes.io/depends-on`)",
    )]),
];

pub(crate) const GENERATE_KPT_PKG_DOCS: &[Release] = &[Release::unreleased(MASTER)];

#[cfg(feature = "gatekeeper")]
pub(crate) const GATEKEEPER: &[Release] = &[
    Release::new(0, 1, 0, "enforce-gatekeeper/v0.1.0"),
    Release::new(0, 1, 1, "gatekeeper/v0.1.1").changing(&[Change::accepted("the name `gatekeeper`; before, `enforce-gatekeeper`")]),
    Release::new(0, 1, 2, "gatekeeper/v0.1.2").changing(&[Change::unified("results are sorted")]),
    Release::new(0, 1, 3, "gatekeeper/v0.1.3"),
    Release::new(0, 2, 0, "gatekeeper/v0.2.0"),
    Release::new(0, 2, 1, "gatekeeper/v0.2.1")
        .changing(&[Change::corrected("ConstraintTemplates of `templates.gatekeeper.sh/v1` count; before, their constraints are errors")]),
    Release::new(0, 3, 0, IMAGE),
];

pub(crate) const KUBECONFORM: &[Release] = &[
    Release::new(0, 1, 0, IMAGE),
    Release::new(0, 1, 1, IMAGE),
    Release::new(0, 1, 2, IMAGE),
    Release::new(0, 1, 3, IMAGE),
];

pub(crate) const KUBEVAL: &[Release] = &[
    Release::new(0, 1, 0, "kubeval/v0.1.0"),
    Release::new(0, 1, 1, "kubeval/v0.1.1"),
    Release::new(0, 1, 2, "kubeval/v0.1.2").changing(&[Change::corrected(
        "a kind without a schema is reported with a hint; before, it fails without a result",
    )]),
    Release::new(0, 2, 0, "kubeval/v0.2.0").changing(&[Change::unified(
        "the schemas are those of Kubernetes 1.20; krm has its own on every tag",
    )]),
    Release::new(0, 2, 1, "kubeval/v0.2.1"),
    Release::new(0, 3, 0, "kubeval/v0.3.0"),
];

pub(crate) const LIST_SETTERS: &[Release] = &[Release::new(0, 1, 0, "list-setters/v0.1.0")];

pub(crate) const NO_OP: &[Release] = &[Release::new(0, 1, 0, IMAGE)];

pub(crate) const REMOVE_LOCAL_CONFIG_RESOURCES: &[Release] =
    &[Release::new(0, 1, 0, "remove-local-config-resources/v0.1.0")];

pub(crate) const RENDER_HELM_CHART: &[Release] = &[
    Release::new(0, 1, 0, "render-helm-chart/v0.1.0"),
    Release::new(0, 2, 0, "render-helm-chart/v0.2.0").changing(&[Change::accepted(
        "`chartArgs` and `templateOptions` in a RenderHelmChart; before, their fields are in the chart itself, which krm accepts on every tag, too",
    )]),
    Release::new(0, 2, 1, "render-helm-chart/v0.2.1").changing(&[Change::corrected(
        "an error names the file with values that cannot be read",
    )]),
    Release::new(0, 2, 2, "render-helm-chart/v0.2.2").changing(&[Change::corrected(
        "`---` inside a line does not end a resource; before, the resource is cut there",
    )]),
    Release::new(0, 3, 0, "render-helm-chart/v0.3.0"),
];

pub(crate) const SEARCH_REPLACE: &[Release] = &[
    Release::new(0, 1, 0, "search-replace/v0.1.0"),
    Release::new(0, 1, 1, "search-replace/v0.1.1").changing(&[
        Change::corrected(
            "an unknown key of the functionConfig is an error; before, it is ignored",
        ),
        Change::unified("it is reported if nothing matches"),
    ]),
    Release::new(0, 2, 0, "search-replace/v0.2.0")
        .changing(&[Change::accepted("`by-file-path`, alone or with another matcher")]),
];

pub(crate) const SET_ANNOTATIONS: &[Release] = &[
    Release::new(0, 1, 0, "set-annotation/v0.1.0"),
    Release::new(0, 1, 1, "set-annotation/v0.1.1"),
    Release::new(0, 1, 2, "set-annotation/v0.1.2"),
    Release::new(0, 1, 3, "set-annotations/v0.1.3")
        .changing(&[Change::accepted("the name `set-annotations`; before, `set-annotation`")]),
    Release::new(0, 1, 4, "set-annotations/v0.1.4").changing(&[Change::accepted(
        "the functionConfig `SetAnnotations` with `additionalAnnotationFields`, which replaces `SetAnnotationConfig` with `fieldSpecs`",
    )]),
    Release::new(0, 1, 5, IMAGE).changing(&[Change::unified("the annotations that were set are results")]),
];

pub(crate) const SET_ENFORCEMENT_ACTION: &[Release] =
    &[Release::new(0, 1, 0, "set-enforcement-action/v0.1.0")];

pub(crate) const SET_IMAGE: &[Release] = &[
    Release::new(0, 1, 0, "set-image/v0.1.0"),
    Release::new(0, 1, 1, "set-image/v0.1.1"),
    Release::new(0, 1, 2, MASTER).changing(&[
        Change::unified("the number of images is reported; before, each image is a result"),
        Change::corrected("only some kinds are changed, and no init containers; krm changes both on every tag, as before"),
    ]),
    Release::new(0, 1, 3, IMAGE),
    Release::new(0, 1, 4, IMAGE),
    Release::new(0, 2, 0, "documentation of v0.2; functions/go/set-image of 2026 (32db7f16)").changing(&[
        Change::corrected("init containers of Pods and of Deployments, StatefulSets, ReplicaSets and DaemonSets of apps/v1 are changed; krm changes those of all kinds on every tag"),
        Change::corrected("a tag that is kept follows the new name after a colon; before, the colon may be missing"),
    ]),
];

pub(crate) const SET_LABELS: &[Release] = &[
    Release::new(0, 1, 0, "set-label/v0.1.0"),
    Release::new(0, 1, 1, "set-label/v0.1.1"),
    Release::new(0, 1, 2, "set-label/v0.1.2"),
    Release::new(0, 1, 3, "set-labels/v0.1.3").changing(&[Change::accepted("the name `set-labels`; before, `set-label`")]),
    Release::new(0, 1, 4, "set-labels/v0.1.4"),
    Release::new(0, 1, 5, "set-labels/v0.1.5").changing(&[Change::accepted(
        "the functionConfig `SetLabels` with `additionalLabelFields`, which replaces `SetLabelConfig` with `fieldSpecs`",
    )]),
    Release::new(0, 2, 0, "go/set-labels/v0.2.0").changing(&[
        Change::followed("selectors of Jobs, PodDisruptionBudgets, NetworkPolicies, affinities and spread constraints keep their labels, and only existing ones get the new value; before, all labels are added to them"),
        Change::followed("local configuration is not changed"),
        Change::followed("affinities and spread constraints in the pod templates of all kinds count; before, only those of Deployments and StatefulSets"),
        Change::followed("`fieldSpecs` and `additionalLabelFields` are errors"),
        Change::followed("no labels are a warning, and before an error; the number of labels is reported"),
    ]),
    Release::new(0, 2, 1, "set-labels/v0.2.1"),
    Release::new(0, 2, 2, IMAGE),
    Release::new(0, 2, 3, IMAGE),
    Release::new(0, 2, 4, IMAGE),
    Release::new(0, 2, 5, IMAGE),
];

pub(crate) const SET_NAME_PREFIX: &[Release] = &[
    Release::new(0, 0, 1, "go/set-name-prefix/v0.0.1"),
    Release::new(0, 0, 2, "set-name-prefix/v0.0.2"),
    Release::new(0, 0, 3, "set-name-prefix/v0.0.3"),
];

pub(crate) const SET_NAMESPACE: &[Release] = &[
    Release::new(0, 1, 0, "set-namespace/v0.1.0"),
    Release::new(0, 1, 1, "set-namespace/v0.1.1"),
    Release::new(0, 1, 2, "set-namespace/v0.1.2"),
    Release::new(0, 1, 3, "set-namespace/v0.1.3"),
    Release::new(0, 1, 4, "set-namespace/v0.1.4").changing(&[
        Change::accepted("the functionConfig `SetNamespace` with `additionalNamespaceFields`, which replaces `SetNamespaceConfig` with `fieldSpecs`"),
        Change::followed("the webhook of a CustomResourceDefinition gets the namespace"),
    ]),
    Release::new(0, 2, 0, "set-namespace/v0.2.0").changing(&[Change::followed(
        "subjects that are ServiceAccounts of the package get the namespace; before, only subjects with the name `default` do",
    )]),
    Release::new(0, 3, 0, "set-namespace/v0.3.0").changing(&[
        Change::followed("one namespace is replaced: that of `namespaceMatcher`, of the only Namespace, or of all resources; resources without a namespace stay so. Before, all resources but those of cluster-scoped kinds get the namespace"),
        Change::followed("local configuration is not changed"),
        Change::followed("subjects of ClusterRoleBindings that have the namespace are changed, and those of RoleBindings are not"),
        Change::followed("annotations `config.kubernetes.io/depends-on` are updated"),
        Change::followed("`fieldSpecs` and `additionalNamespaceFields` are errors"),
        Change::accepted("the package context as functionConfig"),
    ]),
    Release::new(0, 3, 1, "set-namespace/v0.3.1"),
    Release::new(0, 3, 2, "set-namespace/v0.3.2")
        .changing(&[Change::followed("subjects of RoleBindings that have the namespace are changed")]),
    Release::new(0, 3, 3, "set-namespace/v0.3.3").changing(&[
        Change::corrected("no namespace at all is reported as an error; before, the function crashes"),
        Change::unified("the number of changes is reported"),
    ]),
    Release::new(0, 3, 4, "set-namespace/v0.3.4"),
    Release::new(0, 4, 0, "set-namespace/v0.4.0").changing(&[
        Change::followed("all namespaces are replaced, and resources of kinds that Kubernetes knows as namespaced get one"),
        Change::corrected("`namespaceMatcher` is ignored, and every namespace changes; krm does what it says on every tag"),
        Change::corrected("webhooks and services are added to CustomResourceDefinitions and APIServices that have none; krm adds none on any tag"),
    ]),
    Release::new(0, 4, 1, "set-namespace/v0.4.1").changing(&[Change::corrected("a missing functionConfig is an error; before, a crash")]),
    Release::new(0, 4, 2, MASTER).changing(&[
        Change::accepted("`namespaceMatcher`, which also selects by the upstream namespace"),
        Change::unified("changes of `depends-on` are reported, too"),
    ]),
    Release::new(0, 4, 3, IMAGE),
    Release::new(0, 4, 4, IMAGE),
    Release::new(0, 4, 5, IMAGE),
];

pub(crate) const SET_PROJECT_ID: &[Release] = &[
    Release::new(0, 1, 0, "set-project-id/v0.1.0"),
    Release::new(0, 2, 0, "set-project-id/v0.2.0").changing(&[Change::followed(
        "apply-setters:v0.2 is added to a Kptfile without setters; before, apply-setters:v0.1",
    )]),
];

#[cfg(feature = "starlark")]
pub(crate) const STARLARK: &[Release] = &[
    Release::new(0, 1, 0, "starlark/v0.1.0"),
    Release::new(0, 1, 1, "starlark/v0.1.1"),
    Release::new(0, 1, 2, "starlark/v0.1.2"),
    Release::new(0, 2, 0, "starlark/v0.2.0").changing(&[
        Change::accepted("a ConfigMap with `source`, `params`, and a functionConfig without a name"),
        Change::corrected("resources of kind StarlarkRun are passed on; before, they are removed from the package"),
    ]),
    Release::new(0, 2, 1, "starlark/v0.2.1"),
    Release::new(0, 2, 2, "starlark/v0.2.2"),
    Release::new(0, 3, 0, "starlark/v0.3.0").changing(&[Change::accepted("`load` of the libraries of starlib")]),
    Release::new(0, 4, 0, "starlark/v0.4.0"),
    Release::new(0, 4, 1, "starlark/v0.4.1").changing(&[Change::accepted("`load` of `krmfn.star`")]),
    Release::new(0, 4, 2, "starlark/v0.4.2"),
    Release::new(0, 4, 3, "starlark/v0.4.3"),
    Release::new(0, 5, 0, "starlark/v0.5.0"),
    Release::new(0, 5, 1, "starlark/v0.5.1").changing(&[Change::corrected(
        "`krmfn.match_gvk` never matches a resource with a group; krm compares the whole apiVersion on every tag, as before",
    )]),
    Release::new(0, 5, 2, IMAGE),
    Release::new(0, 5, 3, IMAGE),
    Release::new(0, 5, 4, IMAGE),
    Release::new(0, 5, 5, IMAGE),
];

pub(crate) const UPSERT_RESOURCE: &[Release] = &[
    Release::new(0, 1, 0, "upsert-resource/v0.1.0"),
    Release::new(0, 2, 0, "upsert-resource/v0.2.0").changing(&[
        Change::accepted(
            "a List of resources, and the annotation `config.kubernetes.io/target-path`",
        ),
        Change::corrected(
            "resources of different groups are different; before, one replaces the other",
        ),
    ]),
];
