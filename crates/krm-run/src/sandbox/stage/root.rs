//! The root that the function sees: the image, read-only, with `/proc`, `/dev`, `/tmp` and the mounts of the user.
//!
//! The image is the lower layer of an overlay, whose upper layer is in memory: mount points that an image lacks can be created, and a
//! writable root is forgotten at the end. The store is never written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use rustix::process::{chdir, fchdir, pivot_root};

use super::mounts::{NEW, OLD, PointKind, Root, mount_bind, mount_new, path_of, remount};
use super::{Failure, failed};
use crate::sandbox::spec::Spec;

/// The options of `/tmp`, and of file systems in memory that the user asks for. Compat: those of the container engines.
const TMP: &str = "size=256m,mode=1777";
/// Files of `/proc` that show the kernel or the host, and directories that change it. Compat: the lists of container engines.
const MASKED: [&str; 9] = [
    "acpi",
    "asound",
    "kcore",
    "keys",
    "latency_stats",
    "scsi",
    "sched_debug",
    "timer_list",
    "timer_stats",
];
const READ_ONLY: [&str; 5] = ["bus", "fs", "irq", "sys", "sysrq-trigger"];
/// The devices that every program may expect.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// What the kernel allowed beyond what is necessary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Inside of a container `/proc` often cannot be mounted. Then the function has none.
    pub(super) has_proc: bool,
}

pub(super) fn build(spec: &Spec) -> Result<Facts, Failure> {
    let (old, new) = mount_image(spec)?;
    let has_proc = mount_proc(&new)?;
    mount_devices(&new, &old)?;
    let plain = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount_new(&new, Path::new("/tmp"), ("tmpfs", TMP), plain)?;
    if spec.has_network {
        for name in ["/etc/resolv.conf", "/etc/hosts"].map(Path::new) {
            if let Ok(source) = old.resolve(name) {
                mount_bind(&new, (&source, name), false)?;
            }
        }
    }
    for it in &spec.mounts {
        match &it.source {
            None => drop(mount_new(&new, &it.target, ("tmpfs", TMP), plain)?),
            Some(source) => {
                let attempt = format!("mount {}", source.display());
                let source = old.resolve(source).map_err(failed(&attempt))?;
                mount_bind(&new, (&source, &it.target), it.is_writable)?;
            }
        }
    }
    new.point(Path::new(&spec.working_directory), PointKind::Directory)?;
    if !spec.is_root_writable {
        remount(Path::new(NEW), false)?;
    }
    drop((old, new));
    leave_host()?;
    Ok(Facts { has_proc })
}

/// Makes a file system in memory the root of this process, with the host and the image in directories of it.
fn mount_image(spec: &Spec) -> Result<(Root, Root), Failure> {
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>)
        .map_err(failed("separate mounts"))?;
    // Any directory will do as long as it is the root of the host.
    let size = if spec.is_root_writable { "size=256m,mode=755" } else { "size=4m,mode=755" };
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), &spec.root, Some("tmpfs"), flags, Some(size))
        .map_err(failed("mount a tmpfs"))?;
    chdir(&spec.root).map_err(failed("enter the new root"))?;
    for name in [OLD, NEW, "/upper", "/work"] {
        fs::create_dir(name.trim_start_matches('/')).map_err(failed("create directories"))?;
    }
    pivot_root(".", OLD.trim_start_matches('/')).map_err(failed("change the root"))?;
    chdir("/").map_err(failed("enter the new root"))?;
    let old = Root::open(OLD)?;
    let image = old.resolve(&spec.root).map_err(failed("open the image"))?;
    // By its relative name, because a path may contain characters that separate options.
    fchdir(&image).map_err(failed("open the image"))?;
    let options = "lowerdir=.,upperdir=/upper,workdir=/work";
    mount(Some("overlay"), NEW, Some("overlay"), flags, Some(options))
        .map_err(failed("mount the image as an overlay"))?;
    chdir("/").map_err(failed("leave the image"))?;
    Ok((old, Root::open(NEW)?))
}

/// Mounts `/proc` of the new process namespace. Returns false where the kernel does not allow that.
fn mount_proc(new: &Root) -> Result<bool, Failure> {
    let path = Path::new("/proc");
    let point = new.point(path, PointKind::Directory)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    match mount(Some("proc"), &path_of(&point), Some("proc"), flags, None::<&str>) {
        Ok(()) => {}
        Err(nix::errno::Errno::EPERM) => return Ok(false),
        Err(error) => return Err(failed("mount /proc")(error)),
    }
    let proc = new.resolve(path).map_err(failed("open /proc"))?;
    let attempt = failed("mask /proc");
    for name in MASKED {
        let path = path_of(&proc).join(name);
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_dir() {
            let flags = flags | MsFlags::MS_RDONLY;
            mount(Some("tmpfs"), &path, Some("tmpfs"), flags, Some("size=0")).map_err(&attempt)?;
        } else {
            let (null, bind) = (format!("{OLD}/dev/null"), MsFlags::MS_BIND);
            mount(Some(&*null), &path, None::<&str>, bind, None::<&str>).map_err(&attempt)?;
        }
    }
    for name in READ_ONLY {
        let path = path_of(&proc).join(name);
        if fs::symlink_metadata(&path).is_err() {
            continue;
        }
        let bind = MsFlags::MS_BIND | MsFlags::MS_REC;
        mount(Some(&path), &path, None::<&str>, bind, None::<&str>).map_err(&attempt)?;
        remount(&path, false)?;
    }
    Ok(true)
}

fn mount_devices(new: &Root, old: &Root) -> Result<(), Failure> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    let dev = mount_new(new, Path::new("/dev"), ("tmpfs", "size=64k,mode=755"), flags)?;
    let directory = path_of(&dev);
    let attempt = failed("create /dev");
    for name in DEVICES {
        let Ok(source) = old.resolve(&Path::new("/dev").join(name)) else { continue };
        let target = directory.join(name);
        fs::write(&target, "").map_err(failed("create /dev"))?;
        let (source, bind) = (path_of(&source), MsFlags::MS_BIND);
        mount(Some(&source), &target, None::<&str>, bind, None::<&str>).map_err(&attempt)?;
    }
    let links = [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")];
    for (name, number) in links {
        symlink(format!("/proc/self/fd{number}"), directory.join(name))
            .map_err(failed("create /dev"))?;
    }
    let shared = directory.join("shm");
    fs::create_dir(&shared).map_err(failed("create /dev/shm"))?;
    let plain = flags | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), &shared, Some("tmpfs"), plain, Some("size=64m,mode=1777"))
        .map_err(&attempt)?;
    let read_only = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | flags;
    mount(None::<&str>, &directory, None::<&str>, read_only, None::<&str>).map_err(&attempt)
}

/// Makes the image the root, and forgets the host.
fn leave_host() -> Result<(), Failure> {
    chdir(NEW).map_err(failed("enter the image"))?;
    pivot_root(".", ".").map_err(failed("change the root to the image"))?;
    umount2(".", MntFlags::MNT_DETACH).map_err(failed("unmount the host"))?;
    chdir("/").map_err(failed("enter the image"))
}
