//! Typed access: reading a resource, or a part of it, into a type, and writing the changes of the type back.

mod changes;
mod pairing;
mod serialize;

use krm_core::Diagnostic;
use krm_core::format::{FormatOptions, format, sort_value};
use krm_yaml::{NodeRef, Path, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::{AnyRef, ReadMode, read_node};
use crate::kinds::ResourceKind;
use crate::resource::parse_path;
use crate::{Error, Resource};

pub(crate) use pairing::{field, is_equal};
pub(crate) use serialize::to_value;

/// The fields of the resource: as data of a template, or inside an object that is serialized.
impl Serialize for Resource {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        AnyRef(&self.root().into()).serialize(serializer)
    }
}

impl Resource {
    /// Reads the whole resource into a type, such as those of `k8s-openapi`. Fields that the type does not have are ignored, and a null
    /// field counts as missing.
    ///
    /// ```
    /// use k8s_openapi::api::apps::v1::Deployment;
    /// use krm_sdk::Resource;
    ///
    /// let text = "\
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   replicas: 3 # for now
    ///   selector: {}
    ///   template:
    ///     spec:
    ///       containers:
    ///       - name: web
    ///         resources:
    ///           limits: {cpu: 1}
    /// ";
    /// let mut resource = Resource::parse(text)?;
    /// let mut deployment: Deployment = resource.read()?;
    /// let spec = deployment.spec.as_mut().expect("the Deployment has a spec");
    /// assert_eq!(spec.replicas, Some(3));
    ///
    /// spec.replicas = Some(5);
    /// resource.write(&deployment)?;
    /// assert_eq!(resource.text(), text.replace("3 # for now", "5 # for now"));
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        read_node(self, self.root(), ReadMode::Lenient)
    }

    /// Reads the value at a path into a type; `None` if there is no such field, or if it is null.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::Container;
    /// use krm_sdk::Resource;
    ///
    /// let pod = Resource::parse("apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {name: web, image: nginx}\n")?;
    /// let containers: Vec<Container> = pod.read_at("spec.containers")?.unwrap_or_default();
    /// assert_eq!(containers[0].image.as_deref(), Some("nginx"));
    /// assert_eq!(pod.read_at::<bool>("spec.hostNetwork")?, None);
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn read_at<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, Error> {
        let node = self.get(path)?.filter(|node| !is_null(*node));
        node.map(|node| read_node(self, node, ReadMode::Lenient)).transpose()
    }

    /// Writes an object that was read with [`Resource::read`] and then changed.
    ///
    /// Only the difference between what the document says now and the object is edited: fields that the type does not have stay, and so
    /// do comments, quotes and the order of fields. Elements of lists are paired by their names or other keys, so that a removed element
    /// does not shift the others.
    pub fn write<T: Serialize + DeserializeOwned>(&mut self, object: &T) -> Result<(), Error> {
        let before = to_value(&self.read::<T>()?)?;
        self.apply_changes(&Path::default(), &before, &to_value(object)?)
    }

    /// Writes an object to a path, as [`Resource::write`] does for the whole resource. Missing parents are created, and a new value gets the
    /// conventional order of fields.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::SecurityContext;
    /// use krm_sdk::Resource;
    ///
    /// let mut pod = Resource::parse("apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: web # it\n")?;
    /// let security = SecurityContext { run_as_non_root: Some(true), ..Default::default() };
    /// pod.set_at("spec.containers[name=web].securityContext", &security)?;
    /// assert!(pod.text().ends_with("- name: web # it\n    securityContext:\n      runAsNonRoot: true\n"));
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn set_at<T: Serialize + DeserializeOwned>(
        &mut self,
        path: &str,
        object: &T,
    ) -> Result<(), Error> {
        let after = to_value(object)?;
        let before = match self.read_at::<T>(path) {
            Ok(Some(before)) => to_value(&before)?,
            // What is there is not a `T`, so it is replaced as a whole.
            Ok(None) | Err(_) => Value::Null,
        };
        let path = parse_path(path)?;
        self.apply_changes(&path, &before, &after)
    }

    /// A new resource from an object of a type, in block style and with the conventional order of fields.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ServiceAccount;
    /// use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    /// use krm_sdk::Resource;
    ///
    /// let metadata = ObjectMeta { name: Some("web".to_owned()), ..Default::default() };
    /// let account = ServiceAccount { metadata, automount_service_account_token: Some(false), ..Default::default() };
    /// let resource = Resource::from_typed(&account)?;
    /// assert_eq!(resource.text(), "\
    /// apiVersion: v1
    /// kind: ServiceAccount
    /// metadata:
    ///   name: web
    /// automountServiceAccountToken: false
    /// ");
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn from_typed<T: Serialize>(object: &T) -> Result<Self, Error> {
        let mut value = to_value(object)?;
        sort_value(&mut value);
        Self::from_value(value)
    }

    /// A new resource from a value, in block style: for example from [`crate::value!`]. The fields keep their order.
    ///
    /// ```
    /// use krm_sdk::{Resource, value};
    ///
    /// let name = "web";
    /// let resource = Resource::from_value(value!({
    ///     "apiVersion": "v1",
    ///     "kind": "Service",
    ///     "metadata": { "name": name },
    ///     "spec": { "ports": [{ "port": 80 }] },
    /// }))?;
    /// assert_eq!(resource.text(), "\
    /// apiVersion: v1
    /// kind: Service
    /// metadata:
    ///   name: web
    /// spec:
    ///   ports:
    ///   - port: 80
    /// ");
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn from_value<'v>(value: impl Into<Value<'v>>) -> Result<Self, Error> {
        let Value::Mapping(entries) = crate::resource::owned(value)? else {
            return Err(Diagnostic::error(ResourceKind::NotAMapping).into());
        };
        // A document in block style to which the fields are added, so that they are in block style, too.
        let mut resource = Self::parse("x: x\n")?;
        resource.edit(|edit, root| {
            for (at, (key, value)) in entries.into_iter().enumerate() {
                edit.insert_entry(root, Some(at), key, value)?;
            }
            let placeholder = root.as_mapping().and_then(|it| it.get("x"));
            placeholder.map_or(Ok(()), |it| edit.remove(it, krm_yaml::EmptyParents::Keep))
        })?;
        Self::parse(resource.text())
    }

    /// Sorts the fields by the Kubernetes convention, at every depth, as `krm cfg fmt` does.
    ///
    /// ```
    /// let mut resource = krm_sdk::Resource::parse("kind: Pod # c\nspec: {}\napiVersion: v1\n")?;
    /// resource.format()?;
    /// assert_eq!(resource.text(), "apiVersion: v1\nkind: Pod # c\nspec: {}\n");
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn format(&mut self) -> Result<(), Error> {
        let formatted = format(self.item().file(), FormatOptions::default());
        match formatted.map_err(Error::of_diagnostics)?.text {
            Some(text) => self.replace(text),
            None => Ok(()),
        }
    }
}

pub(crate) fn is_null(node: NodeRef<'_>) -> bool {
    let scalar = node.resolve().as_scalar();
    scalar.is_some_and(|scalar| scalar.resolve() == krm_yaml::ScalarType::Null)
}

#[cfg(test)]
mod tests;
