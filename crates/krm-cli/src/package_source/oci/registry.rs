//! Packages in registries: each revision is an artifact in the form of Flux, and a tag is a reference.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use krm_core::{Diagnostic, PackagePath};
use krm_oci::{
    AnyManifest, ArchiveLimits, Client, ClientSettings, Control, Credentials, Digest, Package,
    PackageFile, Reference,
};

use super::super::{
    FetchedFile, FetchedPackage, PackageSource, RESERVED, Revision, SourceKind, is_reserved,
};
use super::settings::Settings;

/// The tag of an address without one.
const DEFAULT_TAG: &str = "latest";

pub(super) fn open(
    image: &str,
    directory: &str,
    settings: &Settings,
) -> Result<Box<dyn PackageSource>, Diagnostic> {
    Ok(Box::new(OciSource {
        client: client(settings),
        image: image.to_owned(),
        directory: directory.to_owned(),
        pulled: RefCell::default(),
    }))
}

pub(super) fn push(
    reference: &Reference,
    package: &FetchedPackage,
    annotations: &BTreeMap<String, String>,
    settings: &Settings,
    is_preview: bool,
) -> Result<String, Diagnostic> {
    let file = |(path, file): (&PackagePath, &FetchedFile)| PackageFile {
        path: path.as_str().to_owned(),
        data: file.content.to_vec(),
        executable: file.is_executable,
    };
    let files: Vec<PackageFile> = package.files.iter().map(file).collect();
    let digest = match is_preview {
        true => krm_oci::package_digest(&files, annotations),
        false => client(settings).push_package(reference, &files, annotations),
    };
    Ok(digest.map_err(Diagnostic::error)?.to_string())
}

pub(super) fn image_digest(
    reference: &Reference,
    settings: &Settings,
) -> Result<String, Diagnostic> {
    let digest = client(settings).resolve(reference).map_err(Diagnostic::error)?;
    Ok(digest.to_string())
}

fn client(settings: &Settings) -> Client {
    observed_client(settings, Control::default())
}

/// A client that can be stopped, and whose transfers are observed.
pub(super) fn observed_client(settings: &Settings, control: Control) -> Client {
    Client::new(ClientSettings {
        credentials: Credentials::from_environment(std::env::vars_os()),
        insecure: settings.insecure.clone(),
        mirrors: settings.mirrors.clone(),
        control,
        ..ClientSettings::default()
    })
}

/// A directory of an image, in all its tags.
struct OciSource {
    client: Client,
    /// The image without tag and digest.
    image: String,
    /// The directory, without a slash at its start.
    directory: String,
    /// Packages that were pulled, by digest: commands ask for several versions, and for some of them twice.
    pulled: RefCell<BTreeMap<String, Arc<Package>>>,
}

impl OciSource {
    /// The artifact of a tag or digest.
    fn reference(&self, version: &str) -> Result<Reference, Diagnostic> {
        let separator = if Digest::parse(version).is_ok() { '@' } else { ':' };
        let text = format!("{}{separator}{version}", self.image);
        Reference::parse(&text).map_err(Diagnostic::error)
    }

    fn pull(&self, revision: &Revision) -> Result<Arc<Package>, Diagnostic> {
        if let Some(package) = self.pulled.borrow().get(&revision.id) {
            return Ok(Arc::clone(package));
        }
        let reference = self.reference(&revision.id)?;
        let package = self.client.pull_package(&reference, &ArchiveLimits::of_package());
        let package = Arc::new(package.map_err(Diagnostic::error)?);
        self.pulled.borrow_mut().insert(revision.id.clone(), Arc::clone(&package));
        Ok(package)
    }

    /// The path within the directory of this source; none if a file is elsewhere.
    fn inside<'a>(&self, path: &'a str) -> Option<&'a str> {
        match &*self.directory {
            "" => Some(path),
            directory => path.strip_prefix(directory)?.strip_prefix('/'),
        }
    }
}

impl PackageSource for OciSource {
    fn resolve(&self, reference: Option<&str>) -> Result<Revision, Diagnostic> {
        let version = reference.unwrap_or(DEFAULT_TAG);
        let digest = self.client.resolve(&self.reference(version)?).map_err(Diagnostic::error)?;
        Ok(Revision { reference: version.to_owned(), id: digest.to_string() })
    }

    fn content_id(&self, revision: &Revision) -> Result<String, Diagnostic> {
        // The same files can have another digest, because annotations say when and from where they were pushed.
        let reference = self.reference(&revision.id)?;
        let found = self.client.manifest(&reference).map_err(Diagnostic::error)?;
        Ok(match found.manifest {
            AnyManifest::Image(manifest) => {
                let layers: Vec<&str> = manifest.layers.iter().map(|it| &*it.digest).collect();
                format!("{}/{}", layers.join("+"), self.directory)
            }
            AnyManifest::Index(_) => revision.id.clone(),
        })
    }

    fn fetch(&self, revision: &Revision) -> Result<FetchedPackage, Diagnostic> {
        let package = self.pull(revision)?;
        let mut fetched = FetchedPackage::default();
        for file in &package.files {
            let Some(path) = self.inside(&file.path) else { continue };
            if is_reserved(path) {
                fetched.skipped.push((path.to_owned(), RESERVED));
                continue;
            }
            let path = PackagePath::new(path).map_err(Diagnostic::error)?;
            let content = file.data.as_slice().into();
            fetched.files.insert(path, FetchedFile { content, is_executable: file.executable });
        }
        let skipped = package.skipped.iter();
        let skipped = skipped.filter_map(|it| Some((self.inside(&it.path)?.to_owned(), it.what)));
        fetched.skipped.extend(skipped);
        if fetched.files.is_empty() && !self.directory.is_empty() {
            let directory = self.directory.clone();
            let revision = format!("{}@{}", self.image, revision.id);
            return Err(Diagnostic::error(SourceKind::NoSuchDirectory { directory, revision }));
        }
        Ok(fetched)
    }

    /// Tags have no order.
    fn count_newer(&self, from: &Revision, to: &Revision) -> Result<Option<usize>, Diagnostic> {
        Ok((from.id == to.id).then_some(0))
    }
}
