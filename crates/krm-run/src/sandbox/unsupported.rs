//! Systems without namespaces: images run in a container engine only.

use super::function::Running;
use super::{Builder, Sandbox, UnpackedImage};
use crate::{ContainerSettings, Environment, Limits};

/// Why a sandbox cannot be used here.
const REASON: &str = "it needs Linux on x86_64 or aarch64";

pub(super) const FAILED: i32 = 125;
pub(super) const PROGRAM_FAILED: &str = "program";

/// Never constructed.
#[derive(Debug)]
pub(super) enum Group {}

#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    Run,
    Check,
}

pub(super) fn start(
    _: (&Sandbox, Builder),
    _: UnpackedImage,
    _: (&ContainerSettings, &Environment),
    _: (&Limits, Purpose),
) -> Result<Running, String> {
    Err(REASON.to_owned())
}

pub(super) fn obstacle() -> Option<&'static str> {
    Some(REASON)
}

pub(super) fn remedy() -> Option<String> {
    None
}

pub(super) fn bubblewrap_remedy(_: &Environment) -> Option<String> {
    None
}
