//! What survives when resources are generated again.

use proptest::prelude::*;

use super::*;
use crate::testing;

const OWNER: &str = "web-app/shop";

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector:
    app: web
  ports:
  - port: 80
    targetPort: 80
";

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: web
        image: web:1
        envFrom:
        - configMapRef:
            name: web
";

fn resources(texts: &[&str]) -> Vec<Resource> {
    texts.iter().map(|text| Resource::parse(*text).unwrap()).collect()
}

fn sync(list: &mut ResourceList, texts: &[&str]) -> Synced {
    list.sync_generated(OWNER, resources(texts)).unwrap()
}

fn texts(list: &ResourceList) -> Vec<String> {
    list.items.iter().map(|it| it.text().to_owned()).collect()
}

fn generated() -> ResourceList {
    let mut list = ResourceList::default();
    let synced = sync(&mut list, &[SERVICE, DEPLOYMENT]);
    assert_eq!(synced.added, ["Service web", "Deployment web"]);
    list
}

fn edit(list: &mut ResourceList, at: usize, from: &str, to: &str) {
    let text = list.items[at].text().replace(from, to);
    assert_ne!(text, list.items[at].text(), "{from}");
    list.items[at].replace(text).unwrap();
}

#[test]
fn new_resources_have_an_annotation_and_a_record() {
    let list = generated();
    let paths: Vec<_> = list.items.iter().map(|it| it.path().unwrap().as_str()).collect();
    assert_eq!(
        paths,
        [
            "config/web_service.yaml",
            "config/web_deployment.yaml",
            "config/web-app-shop_generated.yaml"
        ]
    );
    assert_eq!(
        list.items[0].text(),
        SERVICE.replace(
            "  name: web\n",
            "  name: web\n  annotations:\n    krm-toolkit.github.io/generated-by: 'web-app/shop: Service web'\n"
        ).replacen("'web-app/shop: Service web'", "\"web-app/shop: Service web\"", 1)
    );
    let indented =
        |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    let record = "\
# What was generated last. The next run merges the changes since then; do not edit.
apiVersion: v1
kind: ConfigMap
metadata:
  name: web-app-shop-generated
  annotations:
    config.kubernetes.io/local-config: \"true\"
    krm-toolkit.github.io/generated-record: web-app/shop
data:
  Service_web.yaml: |
";
    let rest =
        format!("{}  Deployment.apps_web.yaml: |\n{}", indented(SERVICE), indented(DEPLOYMENT));
    assert_eq!(list.items[2].text(), format!("{record}{rest}"));
}

#[test]
fn second_run_changes_nothing() {
    let mut list = generated();
    let before = texts(&list);
    assert_eq!(sync(&mut list, &[SERVICE, DEPLOYMENT]), Synced::default());
    assert_eq!(texts(&list), before);
    assert!(list.results.is_empty());
}

#[test]
fn changes_of_people_survive_and_lists_merge_by_the_schema() {
    let mut list = generated();
    edit(
        &mut list,
        0,
        "  - port: 80\n",
        "  - port: 80 # web\n    nodePort: 30080\n    name: http\n",
    );
    edit(
        &mut list,
        0,
        "    targetPort: 80\n",
        "    targetPort: 80\n  - port: 9090\n    name: metrics\n",
    );
    edit(
        &mut list,
        1,
        "            name: web\n",
        "            name: web\n        - secretRef:\n            name: mine\n",
    );
    edit(&mut list, 1, "  replicas: 1\n", "  replicas: 1\n  paused: true\n");
    let before = texts(&list);
    sync(&mut list, &[SERVICE, DEPLOYMENT]);
    assert_eq!(texts(&list), before);
    let next = DEPLOYMENT.replace("web:1", "web:2");
    let service = SERVICE.replace("targetPort: 80", "targetPort: 8080");
    let synced = sync(&mut list, &[&service, &next]);
    assert_eq!((synced.changed.len(), synced.conflicts), (2, 0));
    assert_eq!(list.items[0].text(), before[0].replace("targetPort: 80", "targetPort: 8080"));
    assert_eq!(list.items[1].text(), before[1].replace("web:1", "web:2"));
}

#[test]
fn resource_and_fields_that_are_no_longer_generated_are_removed() {
    let mut list = generated();
    let next = DEPLOYMENT.replace("  replicas: 1\n", "");
    let synced = sync(&mut list, &[&next]);
    assert_eq!((synced.removed.as_slice(), list.items.len()), (&["Service web".to_owned()][..], 2));
    assert!(!list.items[0].text().contains("replicas") && list.results.is_empty());
    assert!(!list.items[1].text().contains("Service_web"));
    let synced = sync(&mut list, &[]);
    assert_eq!((synced.removed.len(), list.items.len()), (1, 0));
}

#[test]
fn changed_field_that_is_no_longer_generated_stays_and_is_reported() {
    let mut list = generated();
    edit(&mut list, 1, "replicas: 1", "replicas: 3");
    sync(&mut list, &[SERVICE, &DEPLOYMENT.replace("  replicas: 1\n", "")]);
    assert_eq!(list.items[1].read_at("spec.replicas").unwrap(), Some(3));
    assert_eq!(
        list.results[0].message,
        "conflict at `spec.replicas`: 3 here, not set generated; kept what is here"
    );
    list.results.clear();
    sync(&mut list, &[SERVICE, &DEPLOYMENT.replace("  replicas: 1\n", "")]);
    assert_eq!(list.items[1].read_at("spec.replicas").unwrap(), Some(3));
    assert!(list.results.is_empty());
}

#[test]
fn conflict_is_a_result_and_the_side_is_an_option() {
    for (side, replicas, current) in
        [(ConflictSide::Existing, 3, "3"), (ConflictSide::Generated, 5, "5")]
    {
        let mut list = generated();
        edit(&mut list, 1, "replicas: 1", "replicas: 3");
        let next = DEPLOYMENT.replace("replicas: 1", "replicas: 5");
        let generation = Generation::new(OWNER).conflicts(side);
        let synced = list.sync_generated(generation, resources(&[SERVICE, &next])).unwrap();
        assert_eq!(synced.conflicts, 1);
        assert_eq!(list.items[1].read_at("spec.replicas").unwrap(), Some(replicas));
        let result = &list.results[0];
        assert!(result.message.starts_with("conflict at `spec.replicas`: 3 here, 5 generated"));
        let field = result.field.as_ref().unwrap();
        let json = |value: &krm_yaml::Value<'_>| krm_core::print::json::display(value);
        assert_eq!(
            (field.path.as_str(), json(field.current.as_ref().unwrap()).as_str()),
            ("spec.replicas", current)
        );
        assert_eq!(field.proposed.len(), 1);
        assert_eq!(&*result.file.as_ref().unwrap().path, "config/web_deployment.yaml");
    }
}

#[test]
fn renamed_and_moved_resources_are_still_found() {
    let mut list = generated();
    edit(
        &mut list,
        1,
        "  name: web\n  annotations",
        "  name: my-web\n  namespace: shop\n  annotations",
    );
    let synced = sync(&mut list, &[SERVICE, &DEPLOYMENT.replace("web:1", "web:2")]);
    assert_eq!((synced.added.len(), synced.removed.len(), list.items.len()), (0, 0, 3));
    assert_eq!(
        (list.items[1].name().as_str(), list.items[1].namespace().as_str()),
        ("my-web", "shop")
    );
    assert!(list.items[1].text().contains("web:2"));
    let synced = sync(&mut list, &[SERVICE]);
    assert_eq!(synced.removed, ["Deployment shop/my-web"]);
    assert_eq!(list.results.len(), 1);
    assert!(
        list.results[0]
            .message
            .contains("with its changes of `metadata.name`, `metadata.namespace`"),
        "{}",
        list.results[0].message
    );
}

#[test]
fn only_what_is_certainly_of_the_owner_is_removed() {
    // Without the annotation it belongs to somebody else.
    let mut list = generated();
    list.items[0].remove_annotation(GENERATED_BY).unwrap();
    sync(&mut list, &[DEPLOYMENT]);
    assert_eq!(list.items[0].kind(), "Service");
    // A copy stays, the original goes.
    let mut list = generated();
    let mut copy = list.items[0].clone();
    copy.set("metadata.name", "copy").unwrap();
    list.items.push(copy);
    assert_eq!(sync(&mut list, &[DEPLOYMENT]).removed, ["Service web"]);
    assert!(list.find("Service", "copy").is_some());
    // Another owner's resource is not touched.
    let mut list = generated();
    let other = SERVICE.replace("name: web", "name: other");
    list.sync_generated("other", resources(&[&other])).unwrap();
    assert_eq!(sync(&mut list, &[DEPLOYMENT]).removed, ["Service web"]);
    assert!(list.find("Service", "other").is_some());
}

#[test]
fn two_owners_cannot_generate_the_same_resource() {
    let mut list = generated();
    let error = list.sync_generated("other", resources(&[SERVICE])).unwrap_err();
    assert_eq!(error.to_string(), "Service web is generated by `web-app/shop` already");
    // A renamed owner takes the resource over once the annotation is gone, with what people changed.
    list.items[0].remove_annotation(GENERATED_BY).unwrap();
    list.items[0].set("spec.type", "NodePort").unwrap();
    let synced = list.sync_generated("other", resources(&[SERVICE])).unwrap();
    assert_eq!((synced.added.len(), synced.conflicts), (0, 0));
    assert_eq!(list.items[0].get_text("spec.type").unwrap().as_deref(), Some("NodePort"));
}

#[test]
fn without_the_record_nothing_is_lost_or_removed() {
    let mut list = generated();
    edit(&mut list, 1, "replicas: 1", "replicas: 3 # mine");
    list.items.remove(2);
    let synced = sync(&mut list, &[&DEPLOYMENT.replace("replicas: 1", "replicas: 2")]);
    assert_eq!((synced.removed.len(), synced.conflicts, list.items.len()), (0, 1, 3));
    assert!(list.items[1].text().contains("replicas: 3 # mine"));
    let messages: Vec<&str> = list.results.iter().map(|it| it.message.as_str()).collect();
    assert!(messages[1].starts_with("Service web is no longer generated"), "{messages:?}");
}

#[test]
fn element_that_is_no_longer_generated_goes_and_those_of_people_stay() {
    let mut list = generated();
    let two = SERVICE.replace(
        "    targetPort: 80\n",
        "    targetPort: 80\n  - port: 443\n    targetPort: 8443\n",
    );
    sync(&mut list, &[&two, DEPLOYMENT]);
    edit(
        &mut list,
        0,
        "  - port: 443\n",
        "  - port: 9090 # mine\n    nodePort: 30090\n  - port: 443\n",
    );
    sync(&mut list, &[SERVICE, DEPLOYMENT]);
    assert!(
        list.items[0].text().ends_with(
            "  - port: 80\n    targetPort: 80\n  - port: 9090 # mine\n    nodePort: 30090\n"
        ),
        "{}",
        list.items[0].text()
    );
    assert!(list.results.is_empty());
}

#[test]
fn renamed_resources_are_not_taken_for_new_ones_of_their_name() {
    // A later function adds a prefix, and the generator starts to generate a resource of the prefixed name.
    let mut list = generated();
    edit(&mut list, 0, "  name: web\n", "  name: my-web\n");
    let other = SERVICE.replace("name: web", "name: my-web");
    let synced = sync(&mut list, &[SERVICE, &other, DEPLOYMENT]);
    assert_eq!(
        (synced.added.as_slice(), synced.changed.len()),
        (&["Service my-web".to_owned()][..], 0)
    );
}

#[test]
fn aliases_and_nulls_in_existing_resources_survive() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  labels: &l {app: web}\nspec:\n  replicas:\n  selector: {matchLabels: *l}\n";
    let mut list = testing::list(&[text]);
    sync(&mut list, &[DEPLOYMENT]);
    let before = texts(&list);
    assert!(
        before[0].contains("labels: &l {app: web}") && before[0].contains("matchLabels: *l"),
        "{}",
        before[0]
    );
    list.results.clear();
    assert_eq!(sync(&mut list, &[DEPLOYMENT]).changed, [] as [&str; 0]);
    assert_eq!(texts(&list), before);
}

#[test]
fn existing_resource_is_adopted_and_its_values_kept() {
    let mut list = testing::list(&[&DEPLOYMENT.replace("replicas: 1", "replicas: 7 # mine")]);
    let synced =
        sync(&mut list, &[&DEPLOYMENT.replace("web:1", "web:1\n        imagePullPolicy: Always")]);
    assert_eq!((synced.added.len(), synced.conflicts), (0, 1));
    assert!(list.items[0].text().contains("replicas: 7 # mine"));
    assert!(list.items[0].text().contains("imagePullPolicy: Always"));
}

#[test]
fn fill_only_adds_fields_and_changes_none() {
    let mut list = testing::list(&[&DEPLOYMENT.replace("replicas: 1", "replicas: 7")]);
    let next =
        DEPLOYMENT.replace("spec:\n  replicas: 1", "spec:\n  minReadySeconds: 5\n  replicas: 2");
    for _ in 0..2 {
        list.sync_generated(Generation::new(OWNER).fill_only(), resources(&[&next])).unwrap();
        assert_eq!(list.items[0].read_at("spec.replicas").unwrap(), Some(7));
        assert_eq!(list.items[0].read_at("spec.minReadySeconds").unwrap(), Some(5));
        assert!(list.results.is_empty());
    }
}

#[test]
fn record_is_beside_the_function_config() {
    let mut list = ResourceList::default();
    let mut config =
        Resource::parse("apiVersion: example.com/v1\nkind: WebApp\nmetadata: {name: shop}\n")
            .unwrap();
    config.move_to(krm_core::PackagePath::new("apps/shop.yaml").unwrap());
    list.items.push(config.clone());
    // kustomize, if it gets a functionConfig by its path, gives it another one.
    for of_config in ["apps/shop.yaml", "function.yaml"] {
        let mut list = list.clone();
        config.move_to(krm_core::PackagePath::new(of_config).unwrap());
        list.function_config = Some(config.clone());
        sync(&mut list, &[SERVICE]);
        assert_eq!(list.items[2].path().unwrap().as_str(), "apps/shop_generated.yaml");
    }
}

#[test]
fn generating_the_same_resource_twice_is_an_error() {
    let error = ResourceList::default().sync_generated(OWNER, resources(&[SERVICE, SERVICE]));
    assert_eq!(error.unwrap_err().to_string(), "Service web is generated twice");
}

/// A version of a generated Deployment: which fields it has, and their values.
fn version() -> impl Strategy<Value = Vec<Option<u8>>> {
    prop::collection::vec(prop::option::of(0_u8..3), 4)
}

fn deployment(fields: &[Option<u8>]) -> String {
    let mut text = DEPLOYMENT.replace("  replicas: 1\n", "");
    for (at, value) in fields.iter().enumerate() {
        if let Some(value) = value {
            text += &format!("  field{at}: {value}\n");
        }
    }
    // The fields follow the template, which is one of theirs.
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn merge_is_stable_and_local_changes_win(base in version(), next in version(), changes in version()) {
        let mut list = ResourceList::default();
        sync(&mut list, &[&deployment(&base)]);
        for (at, value) in changes.iter().enumerate() {
            if let Some(value) = value {
                list.items[0].set(&format!("spec.field{at}"), value + 10).unwrap();
            }
        }
        sync(&mut list, &[&deployment(&next)]);
        for (at, value) in changes.iter().enumerate() {
            let expected = value.map(|it| it + 10).or(next[at]);
            prop_assert_eq!(list.items[0].read_at::<u8>(&format!("spec.field{at}")).unwrap(), expected);
        }
        let before = texts(&list);
        list.results.clear();
        prop_assert_eq!(sync(&mut list, &[&deployment(&next)]), Synced::default());
        prop_assert_eq!(texts(&list), before);
    }
}
