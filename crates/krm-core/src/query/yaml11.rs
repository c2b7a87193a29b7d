//! Finding scalars that YAML 1.1 and YAML 1.2 resolve differently. Kubernetes uses YAML 1.1.

use krm_yaml::{DocumentRef, File, NodeRef, Scalar, ScalarType};

use crate::Diagnostic;
use crate::query::{QueryKind, ScalarReading};

/// The scalars of a document, including keys, that the two versions resolve differently.
///
/// ```
/// let file = krm_yaml::File::parse("on: 017\nport: 80\n".to_owned())?;
/// assert_eq!(krm_core::query::yaml11_scalars(file.document(0).expect("there is one")).len(), 2);
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn find(document: DocumentRef<'_>) -> Vec<Scalar<'_>> {
    let mut found = Vec::new();
    if let Some(root) = document.root() {
        visit(root, &mut found);
    }
    found
}

fn visit<'a>(node: NodeRef<'a>, found: &mut Vec<Scalar<'a>>) {
    found.extend(node.as_scalar().filter(|scalar| scalar.resolve() != scalar.resolve_1_1()));
    node.children().for_each(|child| visit(child, found));
}

/// A warning with both types.
pub fn warning(scalar: Scalar<'_>, file: &File) -> Diagnostic {
    let (yaml12, yaml11) = (scalar.resolve(), scalar.resolve_1_1());
    let help = match yaml12 {
        ScalarType::String => "quote it if a string is meant",
        _ => "quote it if a string is meant, or write a number in plain digits",
    };
    let text = scalar.raw().into();
    let reading = |value| ScalarReading::of(scalar.raw(), value);
    let (yaml12, yaml11) = (reading(yaml12), reading(yaml11));
    let kind = QueryKind::Yaml11 { text, yaml12, yaml11, help };
    Diagnostic::warning(kind).at(file, scalar.node().span())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_names_both_types() {
        let file =
            File::parse("- yes\n- 'no'\n- 0o17\n- 017\n- 1_000\n- !!str on\n".to_owned()).unwrap();
        let messages: Vec<String> = find(file.document(0).unwrap())
            .into_iter()
            .map(|it| warning(it, &file).message().to_owned())
            .collect();
        let expected = [
            "`yes` is a string in YAML 1.2, but the boolean true in YAML 1.1",
            "`0o17` is the number 15 in YAML 1.2, but a string in YAML 1.1",
            "`017` is the number 17 in YAML 1.2, but the number 15 in YAML 1.1",
            "`1_000` is a string in YAML 1.2, but the number 1000 in YAML 1.1",
        ];
        assert_eq!(messages, expected);
    }
}
