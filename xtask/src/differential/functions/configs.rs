//! The functionConfigs of the compared functions: valid ones of every form, and invalid ones now and then.

use super::resources::{NAMES, NAMESPACES, index};
use crate::corpus::random::Random;

fn head(version: &str, kind: &str) -> String {
    format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: config\n")
}

/// A ConfigMap with these entries in `data`.
fn config_map(entries: &[(&str, String)]) -> String {
    let data = mapping("data", entries);
    head("v1", "ConfigMap") + &data
}

fn custom(kind: &str, rest: &str) -> String {
    head("fn.kpt.dev/v1alpha1", kind) + rest
}

/// A mapping whose values are quoted, or written as block scalars.
fn mapping(key: &str, entries: &[(&str, String)]) -> String {
    if entries.is_empty() {
        return format!("{key}: {{}}\n");
    }
    let mut out = format!("{key}:\n");
    for (key, value) in entries {
        match value.contains('\n') {
            true => {
                let lines: String = value.lines().map(|line| format!("    {line}\n")).collect();
                out.push_str(&format!("  {key}: |\n{lines}"));
            }
            false => out.push_str(&format!("  {key}: {value:?}\n")),
        }
    }
    out
}

/// Some of the entries, in order.
fn some<'a>(random: &mut Random, percent: u64, all: &[(&'a str, &str)]) -> Vec<(&'a str, String)> {
    let mut chosen = Vec::new();
    for (key, value) in all {
        if random.chance(percent) {
            chosen.push((*key, (*value).to_owned()));
        }
    }
    chosen
}

pub(super) fn one<'a>(random: &mut Random, all: &[&'a str]) -> &'a str {
    all[index(random, all.len())]
}

pub(super) fn none(_: &mut Random) -> String {
    String::new()
}

pub(super) fn set_namespace(random: &mut Random) -> String {
    let new = one(random, &["shop", "new", "prod"]);
    let matcher = random.chance(35).then(|| one(random, &NAMESPACES).to_owned());
    let mut entries = vec![("namespace", new.to_owned())];
    entries.extend(matcher.map(|it| ("namespaceMatcher", it)));
    match random.between(0, 9) {
        0..=5 => config_map(&entries),
        6 | 7 => {
            let fields: String =
                entries.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
            custom("SetNamespace", &fields)
        }
        8 => {
            config_map(&[("name", new.to_owned())]).replace("name: config", "name: kptfile.kpt.dev")
        }
        _ => one(
            random,
            &[
                &config_map(&[]),
                &custom("SetNamespaces", "namespace: shop\n"),
                &custom("SetNamespace", ""),
            ],
        )
        .to_owned(),
    }
}

const LABELS: [(&str, &str); 4] =
    [("app", "shop"), ("tier", "1"), ("env", "true"), ("example.com/team", "web")];

pub(super) fn set_labels(random: &mut Random) -> String {
    let labels = some(random, 50, &LABELS);
    match random.chance(65) {
        true => config_map(&labels),
        false => custom("SetLabels", &mapping("labels", &labels)),
    }
}

pub(super) fn set_annotations(random: &mut Random) -> String {
    let annotations = some(random, 50, &LABELS);
    if random.chance(60) {
        return config_map(&annotations);
    }
    let mut rest = mapping("annotations", &annotations);
    if random.chance(50) {
        let kind = one(random, &["Service", "Widget", "Deployment"]);
        let path = one(
            random,
            &["spec/notes", "spec/template/metadata/annotations", "spec/parts[]/notes"],
        );
        let create = random.chance(60);
        rest.push_str(&format!(
            "additionalAnnotationFields:\n- kind: {kind}\n  path: {path}\n  create: {create}\n"
        ));
    }
    custom("SetAnnotations", &rest)
}

pub(super) fn delete_annotations(random: &mut Random) -> String {
    let keys = one(
        random,
        &[
            "example.com/owner",
            "example.com/owner,config.kubernetes.io/depends-on",
            "example.com/none",
            "example.com/owner, example.com/none",
        ],
    );
    with_data(random, &[("annotationKeys", keys.to_owned())])
}

pub(super) fn set_image(random: &mut Random) -> String {
    let name = one(
        random,
        &[
            "nginx",
            "nginx",
            "registry.example.com/nginx",
            "busybox",
            "ngin.",
            "registry.example.com:5000/web",
        ],
    );
    let mut entries = vec![("name", name.to_owned())];
    entries.extend(some(
        random,
        45,
        &[
            ("newName", "mirror.example.com/nginx"),
            ("newTag", "1.21.4"),
            ("digest", "sha256:0000000000000000000000000000000000000000000000000000000000000000"),
        ],
    ));
    if random.chance(60) {
        return config_map(&entries);
    }
    let mut rest = mapping("image", &entries);
    if random.chance(50) {
        rest.push_str(
            "additionalImageFields:\n- group: example.com\n  kind: Widget\n  path: spec/image\n",
        );
    }
    custom("SetImage", &rest)
}

pub(super) fn ensure_name_substring(random: &mut Random) -> String {
    match random.between(0, 4) {
        0 | 1 => config_map(&[("prepend", one(random, &["dev-", "my-"]).to_owned())]),
        2 => config_map(&[("append", one(random, &["-dev", "-2"]).to_owned())]),
        _ => {
            let mut rest = format!("substring: {:?}\n", one(random, &["dev-", "-2"]));
            if random.chance(60) {
                rest.push_str(&format!("editMode: {}\n", one(random, &["prepend", "append"])));
            }
            if random.chance(30) {
                rest.push_str("additionalNameFields:\n- kind: Widget\n  path: spec/parts[]/name\n");
            }
            custom("EnsureNameSubstring", &rest)
        }
    }
}

/// ConfigMaps, and other kinds: the setter functions read `data` of any.
fn with_data(random: &mut Random, entries: &[(&str, String)]) -> String {
    let text = match random.between(0, 9) {
        0 => custom("Setters", &mapping("data", entries)),
        _ => config_map(entries),
    };
    // Numbers without quotes, which the functions read as strings.
    if random.chance(15) { text.replace("\"3\"", "3").replace("\"8080\"", "8080") } else { text }
}

pub(super) fn apply_setters(random: &mut Random) -> String {
    let mut entries = some(
        random,
        45,
        &[
            ("app", "shop"),
            ("image", "ubuntu"),
            ("tag", "1.18.0"),
            ("replicas", "5"),
            ("namespace", "new"),
            ("stage", "prod"),
            ("port", "9090"),
        ],
    );
    if random.chance(45) {
        entries.push((
            "list",
            one(random, &["[prod, test]", "- prod\n- dev\n", "[]", "", "[8080, all]", "prod"])
                .to_owned(),
        ));
    }
    with_data(random, &entries)
}

pub(super) fn create_setters(random: &mut Random) -> String {
    let mut entries = some(
        random,
        45,
        &[
            ("app", "web"),
            ("image", "nginx"),
            ("tag", "1.16.1"),
            ("namespace", "shop"),
            ("stage", "dev"),
            ("port", "8080"),
            ("replicas", "3"),
        ],
    );
    if random.chance(45) {
        entries.push((
            "list",
            one(random, &["[run, all]", "- dev\n- run\n", "[]", "[8080]"]).to_owned(),
        ));
    }
    with_data(random, &entries)
}

pub(super) fn search_replace(random: &mut Random) -> String {
    let mut entries = match random.between(0, 2) {
        0 => {
            vec![("by-value", one(random, &["web", "dev", "8080", "3", "nginx:1.16.1"]).to_owned())]
        }
        1 => vec![(
            "by-value-regex",
            one(random, &["(.*)-(.*)", "nginx:(.*)", "^dev$", "ngin", "[a-z]+"]).to_owned(),
        )],
        _ => Vec::new(),
    };
    if entries.is_empty() || random.chance(35) {
        let paths = [
            "metadata.name",
            "metadata.namespace",
            "spec.**.image",
            "spec.replicas",
            "spec.environments",
            "spec.environments[*]",
            "spec.parts[0].name",
            "**.name",
            "data.stage",
            "data.new.deep",
            "spec.template.spec.containers[*].image",
        ];
        entries.push(("by-path", one(random, &paths).to_owned()));
    }
    if random.chance(20) {
        entries.push((
            "by-file-path",
            one(random, &["file-0.yaml", "*.yaml", "**/file-1.yaml", "other/*"]).to_owned(),
        ));
    }
    if random.chance(65) {
        entries.push((
            "put-value",
            one(random, &["new", "8", "new-${1}", "true", "\"x\""]).to_owned(),
        ));
    }
    if random.chance(40) {
        entries.push((
            "put-comment",
            one(random, &["kpt-set: ${new}", "kpt-set: ${new}-${1}"]).to_owned(),
        ));
    }
    with_data(random, &entries)
}

pub(super) fn set_enforcement_action(random: &mut Random) -> String {
    let action = one(random, &["deny", "warn", "dryrun", "other"]).to_owned();
    with_data(random, &[("enforcementAction", action)])
}

pub(super) fn upsert_resource(random: &mut Random) -> String {
    let resource = |random: &mut Random| {
        let kind = one(random, &["Service", "ConfigMap", "ServiceAccount"]);
        let mut text =
            format!("apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {}\n", one(random, &NAMES));
        if random.chance(65) {
            text.push_str(&format!("  namespace: {}\n", one(random, &NAMESPACES)));
        }
        if random.chance(25) {
            let file = one(random, &["file-0.yaml", "new.yaml"]);
            text.push_str(&format!(
                "  annotations:\n    config.kubernetes.io/target-path: {file}\n"
            ));
        }
        text.push_str(one(
            random,
            &["data: {stage: new}\n", "spec:\n  selector: {app: new}\n  type: NodePort\n", ""],
        ));
        text
    };
    if random.chance(70) {
        return resource(random);
    }
    let mut list = "apiVersion: v1\nkind: List\nitems:\n".to_owned();
    for _ in 0..2 {
        let start = list.len();
        super::cases::indented(&mut list, &resource(random));
        list.replace_range(start..start + 1, "-");
    }
    list
}

pub(super) fn apply_replacements(random: &mut Random) -> String {
    let mut rest = "replacements:\n".to_owned();
    for _ in 0..random.between(1, 2) {
        let kind = one(random, &["ConfigMap", "Deployment", "Service", "Widget"]);
        let field = match kind {
            "ConfigMap" => one(random, &["data.stage", "metadata.name", "data.odd", "data.none"]),
            "Widget" => one(
                random,
                &["spec.image", "spec.environments", "spec.parts.0.name", "spec.nested"],
            ),
            _ => one(random, &["metadata.name", "metadata.namespace", "metadata.labels.app"]),
        };
        rest.push_str(&format!("- source:\n    kind: {kind}\n    fieldPath: {field}\n"));
        if random.chance(20) {
            rest.push_str("    options: {delimiter: '-', index: 0}\n");
        }
        let select = one(
            random,
            &["kind: Widget", "kind: Deployment", "name: web.*", "kind: ConfigMap", "name: web"],
        );
        rest.push_str(&format!("  targets:\n  - select: {{{select}}}\n"));
        if random.chance(15) {
            rest.push_str("    reject: [{name: db}]\n");
        }
        let paths = [
            "metadata.labels.copy",
            "metadata.annotations.[example.com/owner]",
            "spec.template.spec.containers.*.image",
            "spec.template.spec.containers.[name=web].image",
            "spec.parts.*.name",
            "spec.environments.0",
            "data.stage",
            "data.copy",
            "spec.new.*.name",
            "spec.nested.deep.value",
            "spec.template.spec.containers.[name=log].env.[name=STAGE].value",
            "spec.odd",
            "spec.new.[name=one].value",
            "spec.*.name",
        ];
        rest.push_str(&format!("    fieldPaths: [{:?}]\n", one(random, &paths)));
        let options = [
            "{create: true}",
            "{create: true}",
            "{delimiter: '-', index: 1}",
            "{delimiter: ':', index: -1}",
            "{delimiter: '/', index: 9}",
        ];
        if random.chance(60) {
            rest.push_str(&format!("    options: {}\n", one(random, &options)));
        }
    }
    custom("ApplyReplacements", &rest)
}

pub(super) fn starlark(random: &mut Random) -> String {
    let sources = [
        "for it in ctx.resource_list['items']:\n  it['metadata']['namespace'] = 'new'\n",
        "def add(it):\n  it['metadata'].setdefault('labels', {})['n'] = str(len(it['kind']))\nfor it in ctx.resource_list['items']:\n  add(it)\n",
        "items = ctx.resource_list['items']\nctx.resource_list['items'] = [it for it in items if it['kind'] != 'Service']\n",
        "for it in ctx.resource_list['items']:\n  if 'data' in it and 'private_key' in it['data']:\n    fail('no private keys')\n",
        "for it in ctx.resource_list['items']:\n  if 'spec' in it and 'replicas' in it['spec']:\n    it['spec']['replicas'] = 7\n",
    ];
    match random.chance(70) {
        true => {
            custom("StarlarkRun", &mapping("x", &[("source", one(random, &sources).to_owned())]))
                .replace("x:\n  source: |\n", "source: |\n")
        }
        false => config_map(&[("source", one(random, &sources).to_owned())]),
    }
}

pub(super) fn set_name_prefix(random: &mut Random) -> String {
    let old = one(random, &["web", "my", "dev", "packagename"]);
    let new = one(random, &["shop", "packagename-2", "w"]);
    match random.between(0, 9) {
        0 | 1 => String::new(),
        2 => custom("SetNamePrefix", "prefix: shop\n"),
        _ => config_map(&some(random, 60, &[("prefix", new), ("oldPrefix", old)])),
    }
}

/// The resource whose name the placeholder gets.
pub(super) fn bind(random: &mut Random) -> String {
    let (version, kind) = super::config_connector::BOUND[index(random, 4)];
    let mut text = format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: bound\n");
    if random.chance(50) {
        text.push_str(&format!("  namespace: {}\n", one(random, &["shop", "other"])));
    }
    text
}

pub(super) fn set_project_id(random: &mut Random) -> String {
    match random.chance(95) {
        true => with_data(random, &[("project-id", "shop-1234".to_owned())]),
        false => config_map(&[("project", "shop".to_owned())]),
    }
}
