//! What functions may access: what the user allows, compared with what a package requests.

use std::path::Path;

use krm_core::Diagnostic;

use crate::kinds::PermissionKind;
use crate::{Mount, RuntimeRequest, User, Variable};

/// What the user allows functions to access.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    /// Whether commands run that a package declares.
    pub allow_exec: bool,
    /// Whether containers may use the network of the host.
    pub allow_network: bool,
    /// Mounts for containers.
    pub mounts: Vec<Mount>,
    /// Environment variables for functions.
    pub variables: Vec<Variable>,
    /// The user that containers run as.
    pub user: User,
    /// Whether the root file system of containers is writable.
    pub writable_root: bool,
}

impl Permissions {
    /// A package may mount its own files read-only. For every other mount the user passes the same mount. A list from standard input has
    /// no files of its own.
    pub(crate) fn granted_mounts(
        &self,
        request: &RuntimeRequest,
        working_directory: &Path,
    ) -> Result<Vec<Mount>, Diagnostic> {
        let own = request.package_directory.as_deref();
        let is_own = |mount: &Mount| own.is_some_and(|own| mount.is_readonly_inside(own));
        let parse = |text: &String| {
            Mount::parse(text, own.unwrap_or(working_directory))
                .map_err(|reason| Diagnostic::error(PermissionKind::InvalidMount { reason }))
        };
        let requested = request.mounts.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let allowed = &self.mounts;
        let is_refused = |mount: &&Mount| !is_own(mount) && !allowed.contains(mount);
        if let Some(mount) = requested.iter().find(is_refused) {
            let source = mount.source().to_string();
            return Err(Diagnostic::error(PermissionKind::MountNotAllowed { source }));
        }
        let requested = requested.into_iter().filter(|mount| !allowed.contains(mount));
        Ok(requested.chain(allowed.iter().cloned()).collect())
    }

    /// A package may set variables to values. Variables of the user's environment are passed only if the user names them.
    pub(crate) fn granted_variables(
        &self,
        request: &RuntimeRequest,
    ) -> Result<Vec<Variable>, Diagnostic> {
        let parse = |text: &String| {
            text.parse::<Variable>()
                .map_err(|reason| Diagnostic::error(PermissionKind::InvalidVariable { reason }))
        };
        let requested = request.variables.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let allowed = &self.variables;
        let is_allowed =
            |variable: &Variable| allowed.iter().any(|it| it.name() == variable.name());
        let is_refused = |it: &&Variable| matches!(it, Variable::Pass(_)) && !is_allowed(it);
        if let Some(variable) = requested.iter().find(is_refused) {
            let name = variable.name().to_owned();
            return Err(Diagnostic::error(PermissionKind::VariableNotAllowed { name }));
        }
        let requested = requested.into_iter().filter(|it| !is_allowed(it));
        Ok(requested.chain(allowed.iter().cloned()).collect())
    }
}
