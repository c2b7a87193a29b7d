//! `t-shirt`: sets the resources of all containers by a size in an annotation.

use std::collections::BTreeMap;

use krm_sdk::{Error, ResourceList, Severity};
use serde::Deserialize;

/// The documentation.
pub(crate) const README: &str = "# t-shirt

Sets the CPU and memory of containers by the size in the annotation `example.com/t-shirt-size`.

`sizes` adds sizes to `small`, `medium` and `large`, or changes them.
";

/// The annotation with the size.
const SIZE: &str = "example.com/t-shirt-size";

/// The functionConfig, which is optional.
#[derive(Debug, Default, Deserialize)]
struct Config {
    #[serde(default)]
    sizes: BTreeMap<String, Size>,
}

#[derive(Clone, Debug, Deserialize)]
struct Size {
    cpu: String,
    memory: String,
}

/// Sets the resources of all containers in workloads with a size.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config: Config = list.config_or_default()?;
    let mut sizes = standard();
    sizes.extend(config.sizes);
    for resource in &mut list.items {
        let Some(name) = resource.annotation(SIZE) else { continue };
        let Some(size) = sizes.get(&name) else {
            let known: Vec<&str> = sizes.keys().map(String::as_str).collect();
            let message = format!("unknown size `{name}`: expected one of {}", known.join(", "));
            let result = resource.result(Severity::Error, message);
            let field = format!("metadata.annotations.\"{SIZE}\"");
            list.results.push(result.field(&field).into());
            continue;
        };
        for container in resource.containers() {
            for kind in ["requests", "limits"] {
                resource
                    .set(&container.field(&format!("resources.{kind}.cpu")), size.cpu.as_str())?;
                resource.set(
                    &container.field(&format!("resources.{kind}.memory")),
                    size.memory.as_str(),
                )?;
            }
        }
    }
    Ok(())
}

fn standard() -> BTreeMap<String, Size> {
    let sizes = [("small", "100m", "128Mi"), ("medium", "500m", "512Mi"), ("large", "2", "2Gi")];
    let size = |(name, cpu, memory): (&str, &str, &str)| {
        (name.to_owned(), Size { cpu: cpu.to_owned(), memory: memory.to_owned() })
    };
    sizes.into_iter().map(size).collect()
}
