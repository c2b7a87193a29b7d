//! Values that YAML 1.2 and YAML 1.1 read differently: what one tool takes for text, Kubernetes takes for a boolean.

use krm_yaml::{DocumentRef, File, NodeRef, Scalar, ScalarType};

use crate::Diagnostic;

/// The scalars of a document, keys among them, that the two versions read differently.
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

/// A warning that says how each version reads it.
pub fn warning(scalar: Scalar<'_>, file: &File) -> Diagnostic {
    let (new, old) = (scalar.resolve(), scalar.resolve_1_1());
    let message =
        format!("`{}` is {} in YAML 1.2, and {} in YAML 1.1", scalar.raw(), words(new), words(old));
    let hint = match new {
        ScalarType::String => "put it in quotes where the text is meant",
        _ => "write it so that both agree: quotes for a text, plain digits for a number",
    };
    Diagnostic::untyped_warning(message).at(file, scalar.node().span()).hint(hint)
}

fn words(value: ScalarType) -> String {
    match value {
        ScalarType::Null => "null".to_owned(),
        ScalarType::Bool(value) => format!("the boolean {value}"),
        ScalarType::Int(Some(value)) => format!("the number {value}"),
        ScalarType::Float(value) => format!("the number {value}"),
        ScalarType::Int(None) => "a number".to_owned(),
        ScalarType::String => "a text".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_readings_are_told() {
        let file =
            File::parse("- yes\n- 'no'\n- 0o17\n- 017\n- 1_000\n- !!str on\n".to_owned()).unwrap();
        let messages: Vec<String> = find(file.document(0).unwrap())
            .into_iter()
            .map(|it| warning(it, &file).message().to_owned())
            .collect();
        let expected = [
            "`yes` is a text in YAML 1.2, and the boolean true in YAML 1.1",
            "`0o17` is the number 15 in YAML 1.2, and a text in YAML 1.1",
            "`017` is the number 17 in YAML 1.2, and the number 15 in YAML 1.1",
            "`1_000` is a text in YAML 1.2, and the number 1000 in YAML 1.1",
        ];
        assert_eq!(messages, expected);
    }
}
