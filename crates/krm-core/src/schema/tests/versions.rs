//! The tables of older versions.

use super::super::table_writer::digest;
use super::super::versions::{table_difference, text_at};
use super::*;

#[test]
fn every_older_table_is_what_its_documents_gave() {
    let count = kubernetes_versions().count();
    assert!(count >= 5, "{count} versions");
    for (position, version) in kubernetes_versions().enumerate() {
        let text = text_at(position).unwrap();
        let (head, body) = text.split_at(text.find("package ").unwrap());
        assert!(head.contains(&format!("\nkubernetes {version}\n")), "{head}");
        let expected = format!("digest {:016x}\n", digest(body.as_bytes()));
        assert!(head.ends_with(&expected), "{version}: {head}");
        let schema = Schema::kubernetes_at(version).unwrap();
        for (api_version, kind) in schema.kinds() {
            assert!(schema.resource_type(api_version, kind).is_some(), "{api_version} {kind}");
        }
    }
}

#[test]
fn a_version_is_found_by_its_minor_number() {
    let [newest, next] = [0, 1].map(|at| kubernetes_versions().nth(at).unwrap());
    assert_eq!(newest, kubernetes_version());
    let minor = next.rsplit_once('.').unwrap().0;
    for text in [next, minor, minor.trim_start_matches('v'), &format!("{minor}.99")] {
        assert!(Schema::kubernetes_at(text).is_some(), "{text}");
    }
    for text in ["", "1", "v1.2", "1.x", "master", "1.36.1.1", "1.36.x"] {
        assert!(Schema::kubernetes_at(text).is_none(), "{text}");
    }
}

#[test]
fn differences_cover_packages_types_and_fields() {
    let newer = "# c\nkubernetes v1.2.0\npackage a x.a\npackage b x.b\ntype a.A kind=a\n one string\n two! string\ntype b.B string\n";
    let older = "# c\nkubernetes v1.1.0\npackage a x.a\npackage c x.c\ntype a.A kind=a\n three string\n two string\ntype c.C\n";
    let difference = table_difference(newer, older).unwrap();
    assert_eq!(
        difference,
        "kubernetes v1.1.0\n-package b\npackage c x.c\n-type b.B\ntype a.A kind=a\n -one\n three string\n two string\ntype c.C\n"
    );
}
