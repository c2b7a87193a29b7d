//! What process 1 gives up before it becomes the program of the image.

use caps::CapSet;
use nix::unistd::{Gid, Uid};
use rustix::process::{Resource, Rlimit, getgid, getrlimit, getuid, setrlimit};

use super::{Failure, failed};
use crate::sandbox::spec::Spec;

/// Becomes the user of the function, without capabilities and without a way to get any.
pub(super) fn drop_privileges(spec: &Spec) -> Result<(), Failure> {
    let attempt = failed::<caps::errors::CapsError>("drop capabilities");
    caps::runtime::thread_all_supported()
        .into_iter()
        .try_for_each(|capability| caps::drop(None, CapSet::Bounding, capability))
        .map_err(&attempt)?;
    // Only root has to change: the only identity of any other user is the one of the function.
    if getuid().as_raw() != spec.user || getgid().as_raw() != spec.group {
        let (user, group) = (Uid::from_raw(spec.user), Gid::from_raw(spec.group));
        nix::unistd::setgroups(&[])
            .and_then(|()| nix::unistd::setresgid(group, group, group))
            .and_then(|()| nix::unistd::setresuid(user, user, user))
            .map_err(failed("change the user"))?;
    }
    for set in [CapSet::Ambient, CapSet::Effective, CapSet::Permitted, CapSet::Inheritable] {
        caps::clear(None, set).map_err(&attempt)?;
    }
    nix::sys::prctl::set_no_new_privs().map_err(failed("set no_new_privs"))
}

/// Limits what a control group does not limit.
pub(super) fn limit_resources(spec: &Spec) -> Result<(), Failure> {
    limit(Resource::Core, 0)?;
    if spec.memory > 0 {
        // Private writable memory. Not the address space: runtimes such as Go's and V8 reserve much more of it than they use.
        limit(Resource::Data, spec.memory)?;
    }
    if spec.processes > 0 {
        limit(Resource::Nproc, spec.processes)?;
    }
    Ok(())
}

pub(super) fn limit(resource: Resource, value: u64) -> Result<(), Failure> {
    let value = getrlimit(resource).maximum.map_or(value, |old| old.min(value));
    let limit = Rlimit { current: Some(value), maximum: Some(value) };
    setrlimit(resource, limit).map_err(failed("set a resource limit"))
}
