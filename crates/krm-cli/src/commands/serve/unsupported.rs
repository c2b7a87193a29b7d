//! A build without gRPC.

use krm_core::Diagnostic;
use krm_grpc::GrpcKind;

use super::Args;
use crate::console::Console;
use crate::{CommandResult, Failure};

pub(super) fn run(_: &Args, _: &mut Console) -> CommandResult {
    Err(Failure::usage(Diagnostic::error(GrpcKind::NotBuiltIn)))
}
