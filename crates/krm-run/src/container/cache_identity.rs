//! What the result of a container depends on, for the result cache.

use std::ffi::OsStr;

use super::{ContainerSettings, Network, arguments};
use crate::Variable;
use crate::result_cache::{FunctionIdentity, directory_digest};
use krm_core::model::ImageName;

/// The identity of an image with its settings, the same for all runtimes; none if its result must not be cached: without a digest the image can be another one tomorrow, and with
/// network or a writable mount a run has effects that a cache would leave out.
///
/// `passed` has the values of variables that the user passes on from the environment.
pub(crate) fn identity<'a>(
    image: &str,
    settings: &ContainerSettings,
    passed: impl Fn(&str) -> Option<&'a OsStr>,
) -> Option<FunctionIdentity> {
    let digest = ImageName::parse(image).ok()?.digest?;
    if settings.network != Network::None {
        return None;
    }
    // An index has an image for each platform.
    let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
    let mut identity = FunctionIdentity::new("container")
        .field("image", digest.as_bytes())
        .field("platform", platform.as_bytes())
        .field("user", arguments::user(settings.user).as_bytes())
        .field("writable root", &[settings.writable_root.into()]);
    for argument in &settings.args {
        identity = identity.field("argument", argument.as_bytes());
    }
    for variable in &settings.variables {
        identity = match variable {
            Variable::Set(name, value) => {
                identity.field("variable", name.as_bytes()).field("value", value.as_bytes())
            }
            Variable::Pass(name) => match passed(name) {
                Some(value) => identity
                    .field("variable", name.as_bytes())
                    .field("value", value.as_encoded_bytes()),
                None => identity.field("no variable", name.as_bytes()),
            },
        };
    }
    let local = settings.local.as_deref().map(arguments::local);
    for mount in local.iter().chain(&settings.mounts) {
        identity = identity.field("mount", mount.target().as_bytes());
        if mount.is_tmpfs() {
            continue;
        }
        let source = mount.readonly_directory()?;
        let content = directory_digest(source)?;
        identity = identity.field("content", &content).read_from_directories();
    }
    Some(identity)
}
