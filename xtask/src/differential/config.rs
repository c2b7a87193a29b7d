//! The functionConfigs of the compared functions, and their known differences from the catalog.

/// A built-in function that also exists as a Go program in the catalog.
pub(super) struct Function {
    pub(super) name: &'static str,
    /// The possible functionConfigs; each package uses one.
    pub(super) configs: &'static [&'static str],
    /// Known differences: the start of the path, and the reason.
    pub(super) reasons: &'static [(&'static str, &'static str)],
}

const TYPES: (&str, &str) =
    (".items", "krm keeps the type of a value: a string stays a string, a number a number");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "set-namespace",
        configs: &[
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {namespace: shop}",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {namespace: shop, namespaceMatcher: default}",
            "apiVersion: fn.kpt.dev/v1alpha1\nkind: SetNamespace\nmetadata: {name: c}\nnamespace: shop",
        ],
        reasons: &[],
    },
    Function {
        name: "set-labels",
        configs: &[
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {tier: web, owner: me}",
            "apiVersion: fn.kpt.dev/v1alpha1\nkind: SetLabels\nmetadata: {name: c}\nlabels: {tier: web}",
        ],
        reasons: &[],
    },
    Function {
        name: "set-annotations",
        configs: &[
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {owner: me}",
            "apiVersion: fn.kpt.dev/v1alpha1\nkind: SetAnnotations\nmetadata: {name: c}\nannotations: {owner: me}\nadditionalAnnotationFields: [{kind: Service, path: spec/notes, create: true}]",
        ],
        reasons: &[],
    },
    Function {
        name: "set-image",
        configs: &[
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {name: registry.example.com/shop/part-1, newTag: v2}",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {name: registry.example.com/shop/part-0, newName: other}",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {newName: other}",
        ],
        reasons: &[],
    },
    Function {
        name: "ensure-name-substring",
        configs: &[
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {prepend: dev-}",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {append: -dev}",
            "apiVersion: fn.kpt.dev/v1alpha1\nkind: EnsureNameSubstring\nmetadata: {name: c}\nsubstring: amber",
        ],
        reasons: &[],
    },
    Function {
        name: "apply-setters",
        configs: &[
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {replicas: '7'}",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {other: x}",
        ],
        reasons: &[TYPES],
    },
    Function {
        name: "create-setters",
        configs: &[
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {tier: backend, place: default}",
        ],
        reasons: &[],
    },
    Function {
        name: "list-setters",
        configs: &["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}"],
        reasons: &[],
    },
    Function {
        name: "search-replace",
        configs: &[
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {by-value: backend, put-value: back}",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {by-path: metadata.namespace, put-value: shop}",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {by-path: 'spec.**.name', by-value-regex: 'part(.*)', put-value: 'piece${1}'}",
        ],
        reasons: &[TYPES],
    },
    Function {
        name: "upsert-resource",
        configs: &[
            "apiVersion: v1\nkind: Service\nmetadata: {name: amber-0, namespace: default}\nspec: {type: NodePort}",
        ],
        reasons: &[],
    },
    Function {
        name: "remove-local-config-resources",
        configs: &["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}"],
        reasons: &[],
    },
    Function {
        name: "delete-annotations",
        configs: &[
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {annotationKeys: 'example.com/checksum,none'}",
        ],
        reasons: &[],
    },
    Function {
        name: "starlark",
        configs: &[
            "apiVersion: fn.kpt.dev/v1alpha1\nkind: StarlarkRun\nmetadata: {name: c}\nsource: |\n  for it in ctx.resource_list['items']:\n    it['metadata']['namespace'] = 'shop'",
        ],
        reasons: &[],
    },
];
