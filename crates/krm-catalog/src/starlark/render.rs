//! Writing values as YAML.

use krm_yaml::{Edit, File, Value};

/// The value in block style.
pub(super) fn block(value: &Value<'static>) -> Result<String, String> {
    let file = File::parse("x\n".to_owned()).map_err(|error| error.to_string())?;
    let root = file.documents().find_map(|document| document.root());
    let root = root.ok_or("the document is empty")?;
    let mut edit = Edit::new(&file);
    edit.overwrite(root, value.clone()).map_err(|error| error.to_string())?;
    edit.apply().map_err(|error| error.to_string())
}
