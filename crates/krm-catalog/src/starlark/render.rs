//! Values as new text, a line for each entry.

use krm_yaml::{Edit, File, Value};

/// The value as YAML by lines.
pub(super) fn block(value: &Value<'static>) -> Result<String, String> {
    let ground = File::parse("x\n".to_owned()).map_err(|error| error.to_string())?;
    let root = ground.documents().find_map(|document| document.root());
    let root = root.ok_or("there is nothing to write on")?;
    let mut edit = Edit::new(&ground);
    edit.overwrite(root, value.clone()).map_err(|error| error.to_string())?;
    edit.apply().map_err(|error| error.to_string())
}
