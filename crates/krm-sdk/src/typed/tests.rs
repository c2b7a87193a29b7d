//! Reading into types, and the smallest edits of writing them back.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Container, EnvVar, Pod};
use serde::Deserialize;

use super::*;

const DEPLOYMENT: &str = "\
# the shop
kind: Deployment
apiVersion: apps/v1
metadata:
  name: 'web' # quoted
spec:
  replicas: 3 # for now
  unknownField: {a: [1, 2]} # stays
  selector: {matchLabels: {app: web}}
  template:
    spec:
      containers:
      # the first one
      - name: web
        image: \"nginx:1\"
        x-extension: kept # too
        resources: {limits: {cpu: 1, memory: 1Gi}}
      # the second one
      - image: logs
        name: logs # sidecar
";

fn changed(change: impl FnOnce(&mut Deployment)) -> String {
    let mut resource = Resource::parse(DEPLOYMENT).unwrap();
    let mut deployment: Deployment = resource.read().unwrap();
    change(&mut deployment);
    resource.write(&deployment).unwrap();
    // Writing again what is there changes nothing.
    let before = resource.clone();
    let read: Deployment = resource.read().unwrap();
    assert_eq!(read, deployment);
    resource.write(&read).unwrap();
    assert!(resource.item().shares_text(before.item()));
    resource.text().to_owned()
}

fn containers(deployment: &mut Deployment) -> &mut Vec<Container> {
    let spec = deployment.spec.as_mut().unwrap();
    &mut spec.template.spec.as_mut().unwrap().containers
}

#[test]
fn writing_an_unchanged_object_changes_nothing() {
    assert_eq!(changed(|_| {}), DEPLOYMENT);
}

#[test]
fn changed_scalar_is_one_edit() {
    let text = changed(|it| it.spec.as_mut().unwrap().replicas = Some(5));
    assert_eq!(text, DEPLOYMENT.replace("replicas: 3", "replicas: 5"));
    let text = changed(|it| containers(it)[0].image = Some("nginx:2".to_owned()));
    assert_eq!(text, DEPLOYMENT.replace("nginx:1", "nginx:2"));
}

#[test]
fn removed_element_does_not_shift_the_others() {
    let text = changed(|it| _ = containers(it).remove(0));
    let (start, end) = (text.find("      - image: logs").unwrap(), DEPLOYMENT.len());
    assert!(
        text.ends_with(
            "      # the second one\n      - image: logs\n        name: logs # sidecar\n"
        ),
        "{text}"
    );
    assert!(!text.contains("nginx") && start < end);
}

#[test]
fn new_element_and_new_fields_have_the_conventional_order() {
    let text = changed(|it| {
        let env = EnvVar { name: "A".to_owned(), value: Some("1".to_owned()), ..EnvVar::default() };
        containers(it).insert(
            1,
            Container {
                name: "side".to_owned(),
                args: Some(vec!["-v".to_owned()]),
                env: Some(vec![env]),
                image: Some("side:1".to_owned()),
                ..Container::default()
            },
        );
    });
    let new = "      - name: side\n        image: side:1\n        args:\n        - -v\n        env:\n        - name: A\n          value: \"1\"\n";
    let at = DEPLOYMENT.find("      # the second one").unwrap();
    assert_eq!(text, format!("{}{new}{}", &DEPLOYMENT[..at], &DEPLOYMENT[at..]));
}

#[test]
fn moved_elements_take_their_comments_and_unknown_fields_along() {
    let text = changed(|it| {
        containers(it).reverse();
        containers(it)[0].image = Some("logs:2".to_owned());
    });
    let second = text.find("# the first one\n      - name: web").unwrap();
    assert!(text.find("# the second one\n      - image: logs:2").unwrap() < second, "{text}");
    assert!(text.contains("x-extension: kept # too"));
}

#[test]
fn renamed_element_keeps_what_the_type_does_not_know() {
    let text = changed(|it| containers(it)[0].name = "front".to_owned());
    assert_eq!(text, DEPLOYMENT.replace("name: web\n", "name: front\n"));
}

#[test]
fn removed_field_is_removed_and_an_absent_default_is_not_written() {
    let text = changed(|it| containers(it)[0].resources = None);
    assert!(!text.contains("limits") && text.contains("x-extension"), "{text}");

    #[derive(Debug, Default, Deserialize, serde::Serialize, PartialEq)]
    #[serde(default, rename_all = "camelCase")]
    struct Spec {
        replicas: u32,
        paused: bool,
    }
    let mut resource = Resource::parse("apiVersion: v1\nkind: X\nspec: {other: 1}\n").unwrap();
    let mut spec: Spec = resource.read_at("spec").unwrap().unwrap();
    spec.paused = true;
    resource.set_at("spec", &spec).unwrap();
    assert_eq!(resource.text(), "apiVersion: v1\nkind: X\nspec: {other: 1, paused: true}\n");
}

#[test]
fn quantities_may_be_numbers() {
    let deployment: Deployment = Resource::parse(DEPLOYMENT).unwrap().read().unwrap();
    let limits = deployment.spec.unwrap().template.spec.unwrap().containers[0].resources.clone();
    let limits = limits.unwrap().limits.unwrap();
    assert_eq!((limits["cpu"].0.as_str(), limits["memory"].0.as_str()), ("1", "1Gi"));
}

#[test]
fn errors_name_the_resource_the_field_and_the_location() {
    let pod = Resource::parse(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: 5\n",
    );
    let error = pod.unwrap().read::<Pod>().unwrap_err();
    let error = &error.diagnostics[0];
    assert_eq!(error.message(), "expected a string, found integer `5`");
    assert_eq!(error.field.as_deref(), Some("spec.containers[0].name"));
    assert_eq!(
        (error.location.as_ref().unwrap().line, error.resource.as_deref()),
        (6, Some("Pod a"))
    );
    let pod = Resource::parse("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n").unwrap();
    #[derive(Debug, Deserialize)]
    struct Object {
        #[expect(dead_code, reason = "only the error is of interest")]
        spec: BTreeMap<String, String>,
    }
    let error = pod.read::<Object>().unwrap_err();
    assert_eq!(error.to_string(), "missing field `spec` in Pod a");
}

#[test]
fn aliases_are_read_and_not_written_through() {
    let text = "apiVersion: v1\nkind: Pod\nspec:\n  a: &x {cpu: 1}\n  b: *x\n";
    let mut pod = Resource::parse(text).unwrap();
    type Spec = BTreeMap<String, BTreeMap<String, u32>>;
    let mut spec: Spec = pod.read_at("spec").unwrap().unwrap();
    assert_eq!(spec["b"]["cpu"], 1);
    spec.get_mut("b").unwrap().insert("cpu".to_owned(), 2);
    assert!(pod.set_at("spec", &spec).is_err());
    assert_eq!(pod.text(), text);
}

#[test]
fn set_at_replaces_what_is_not_of_the_type() {
    let mut pod = Resource::parse("apiVersion: v1\nkind: Pod\nspec: none\n").unwrap();
    pod.set_at(
        "spec",
        &BTreeMap::from([("a", 1)])
            .into_iter()
            .map(|(k, v)| (k.to_owned(), v))
            .collect::<BTreeMap<String, u8>>(),
    )
    .unwrap();
    assert_eq!(pod.read_at::<u8>("spec.a").unwrap(), Some(1));
}
