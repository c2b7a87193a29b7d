//! Networks with their subnetworks, routes, firewalls, routers and peerings.

use krm_sdk::{Diagnostic, Resource};

use super::fields;
use super::graph::{Graph, Id};
use crate::lookup;

/// The file; releases before v0.3 have no routes.
pub(super) fn file(graph: &Graph<'_>, has_routes: bool) -> Result<String, Diagnostic> {
    let mut text = String::new();
    for (id, network) in graph.created("ComputeNetwork") {
        let network = Network { graph, id, item: network, project: graph.name(graph.parent(id)?) };
        text.push_str(&network.module(has_routes));
        text.push_str("# Firewall Rules");
        for (id, firewall) in graph.children_of_kind(network.id, "ComputeFirewall") {
            text.push_str(&network.firewall(id, firewall));
        }
        text.push_str("\n# NAT Router and config");
        for (id, router) in graph.children_of_kind(network.id, "ComputeRouter") {
            text.push_str(&network.router(id, router)?);
        }
        text.push('\n');
        for (id, _) in graph.children_of_kind(network.id, "ServiceNetworkingConnection") {
            text.push_str(&network.connection(id)?);
        }
    }
    Ok(text)
}

struct Network<'g, 'l> {
    graph: &'g Graph<'l>,
    id: Id,
    item: &'l Resource,
    project: String,
}

/// `before`, a string and `after`; empty without a string.
fn optional(item: &Resource, path: &str, before: &str, after: &str) -> String {
    match fields::string(item, path) {
        value if value.is_empty() => String::new(),
        value => format!("{before}{value}{after}"),
    }
}

/// The same for an integer.
fn optional_integer(item: &Resource, path: &str, before: &str, after: &str) -> String {
    fields::integer(item, path).map(|it| format!("{before}{it}{after}")).unwrap_or_default()
}

impl Network<'_, '_> {
    fn name(&self) -> String {
        self.graph.name(self.id)
    }

    fn module(&self, has_routes: bool) -> String {
        let (name, project) = (self.name(), &self.project);
        let subnets = self.graph.children_of_kind(self.id, "ComputeSubnetwork");
        let subnets: String = subnets.into_iter().map(|(id, it)| self.subnet(id, it)).collect();
        format!(
            "\n# VPC and Subnets\nmodule \"{name}\" {{\n    source  = \"terraform-google-modules/network/google\"\n    version = \"~> 5.0\"\n\n    project_id   = module.{project}.project_id\n    network_name = \"{name}\"{}{}\n\n    subnets = [\n       {subnets}\n    ]\n{}}}\n",
            optional(self.item, "spec.routingMode", "\n    routing_mode = \"", "\""),
            optional(self.item, "spec.description", "\n    description  = \"", "\""),
            if has_routes { self.routes() } else { String::new() },
        )
    }

    fn subnet(&self, id: Id, item: &Resource) -> String {
        let (name, range) = (self.graph.name(id), fields::string(item, "spec.ipCidrRange"));
        let region = fields::string(item, "spec.region");
        let access = match fields::boolean(item, "spec.privateIpGoogleAccess") {
            true => "\n            subnet_private_access = true",
            false => "",
        };
        format!(
            "\n        {{\n            subnet_name           = \"{name}\"\n            subnet_ip             = \"{range}\"\n            subnet_region         = \"{region}\"{access}{}\n        }},",
            flow_logs(item)
        )
    }

    fn routes(&self) -> String {
        let routes = self.graph.children_of_kind(self.id, "ComputeRoute");
        if routes.is_empty() {
            return "    \n".to_owned();
        }
        let route = |(id, item): (Id, &Resource)| {
            let gateway = match fields::text(item, "spec.nextHopGateway").as_str() {
                "default-internet-gateway" => "\n        next_hop_internet = \"true\"",
                _ => "",
            };
            let tags = match fields::strings(item, "spec.tags") {
                tags if tags.is_empty() => String::new(),
                tags => format!("\n        tags = \"{}\"", tags.join(",")),
            };
            format!(
                "{{\n        name = \"{}\"{}{}{}{gateway}{tags}\n      }},",
                self.graph.name(id),
                optional(item, "spec.description", "\n        description = \"", "\""),
                optional(item, "spec.destRange", "\n        destination_range = \"", "\""),
                optional_integer(item, "spec.priority", "\n        priority = \"", "\""),
            )
        };
        let routes: String = routes.into_iter().map(route).collect();
        format!("    \n    routes = [\n      {routes}\n    ]\n")
    }

    fn firewall(&self, id: Id, item: &Resource) -> String {
        let (name, network, project) = (self.graph.name(id), self.name(), &self.project);
        let logs = match fields::boolean(item, "spec.enableLogging") {
            true => "\n  log_config {\n      metadata = \"INCLUDE_ALL_METADATA\"\n    }\n",
            false => "",
        };
        let ranges = match fields::strings(item, "spec.sourceRanges") {
            ranges if ranges.is_empty() => String::new(),
            ranges => {
                let ranges: String = ranges.iter().map(|it| format!("\n  \"{it}\",")).collect();
                format!("\n  source_ranges = [{ranges}\n  ]")
            }
        };
        format!(
            "\nresource \"google_compute_firewall\" \"{name}\" {{\n  name      = \"{name}\"\n  network   = module.{network}.network_name\n  project   = module.{project}.project_id{}{}\n{logs}{}{ranges}\n}}",
            optional(item, "spec.direction", "\n  direction = \"", "\""),
            optional_integer(item, "spec.priority", "\n  priority  = ", ""),
            allowed(item),
        )
    }

    fn router(&self, id: Id, item: &Resource) -> Result<String, Diagnostic> {
        let (name, network, project) = (self.graph.name(id), self.name(), &self.project);
        let region = fields::string(item, "spec.region");
        let mut text = format!(
            "\nresource \"google_compute_router\" \"{name}\" {{\n  name    = \"{name}\"\n  project = module.{project}.project_id\n  region  = \"{region}\"\n  network = module.{network}.network_self_link\n}}\n"
        );
        for (id, nat) in self.graph.children_of_kind(id, "ComputeRouterNAT") {
            text.push_str(&self.nat(id, nat, &name)?);
        }
        Ok(text)
    }

    fn nat(&self, id: Id, item: &Resource, router: &str) -> Result<String, Diagnostic> {
        let (name, project) = (self.graph.name(id), &self.project);
        let address = self.graph.required(id, "ComputeAddress")?;
        let address_name = self.graph.name(address);
        let region = fields::string(item, "spec.region");
        let logs = match fields::boolean(item, "spec.logConfig.enable") {
            true => format!(
                "\n  log_config {{ {}\n    enable = true\n  }}",
                optional(item, "spec.logConfig.filter", "\n    filter = \"", "\" ")
            ),
            false => String::new(),
        };
        let location = match self.graph.node(address).item {
            Some(address) => fields::string(address, "spec.location"),
            None => {
                return Err(self
                    .graph
                    .parent(address)
                    .err()
                    .unwrap_or_else(|| unknown(&address_name)));
            }
        };
        Ok(format!(
            "\nresource \"google_compute_router_nat\" \"{name}\" {{\n  name                               = \"{name}\"\n  project                            = module.{project}.project_id\n  router                             = google_compute_router.{router}.name\n  region                             = \"{region}\" {}\n  nat_ips                            = google_compute_address.{address_name}.*.self_link {}\n{logs}\n}}\n\nresource \"google_compute_address\" \"{address_name}\" {{\n  project = module.{project}.project_id\n  name    = \"{address_name}\"\n  region  = \"{location}\"\n}}",
            optional(
                item,
                "spec.natIpAllocateOption",
                "\n  nat_ip_allocate_option             = \"",
                "\""
            ),
            optional(
                item,
                "spec.sourceSubnetworkIpRangesToNat",
                "\n  source_subnetwork_ip_ranges_to_nat = \"",
                "\""
            ),
        ))
    }

    fn connection(&self, id: Id) -> Result<String, Diagnostic> {
        let (name, network, project) = (self.graph.name(id), self.name(), &self.project);
        let address = self.graph.required(id, "ComputeAddress")?;
        let address_name = self.graph.name(address);
        let Some(item) = self.graph.node(address).item else { return Err(unknown(&address_name)) };
        Ok(format!(
            "\n# Service Networking for Cloud SQL & other services\nresource \"google_service_networking_connection\" \"{name}\" {{\n  network                 = module.{network}.network_self_link\n  service                 = \"servicenetworking.googleapis.com\"\n  reserved_peering_ranges = [google_compute_global_address.{address_name}.name]\n}}\n\nresource \"google_compute_global_address\" \"{address_name}\" {{\n  name          = \"{address_name}\"\n  project       = module.{project}.project_id{}{}{}{}\n  network       = module.{network}.network_self_link\n}}\n",
            optional(item, "spec.purpose", "\n  purpose       = \"", "\" "),
            optional(item, "spec.addressType", "\n  address_type  = \"", "\""),
            optional(item, "spec.address", "\n  address       = \"", "\""),
            optional_integer(item, "spec.prefixLength", "\n  prefix_length = \"", "\""),
        ))
    }
}

fn flow_logs(item: &Resource) -> String {
    let interval = fields::string(item, "spec.logConfig.aggregationInterval");
    if interval.is_empty() {
        return String::new();
    }
    let indent = "\n            ";
    let sampling = fields::number(item, "spec.logConfig.flowSampling").map(fields::float);
    let sampling = sampling.map(|it| format!("{indent}subnet_flow_logs_sampling = \"{it}\""));
    let metadata = format!("{indent}subnet_flow_logs_metadata = \"");
    format!(
        "{indent}subnet_flow_logs      = true{}{}{indent}subnet_flow_logs_interval = \"{interval}\"",
        sampling.unwrap_or_default(),
        optional(item, "spec.logConfig.metadata", &metadata, "\""),
    )
}

/// The protocols and ports that a firewall allows.
fn allowed(item: &Resource) -> String {
    let spec = lookup::child(item.root(), "spec");
    let rules = spec.into_iter().flat_map(|spec| lookup::items(spec, "allow"));
    let rule = |node| {
        let protocol = fields::escaped(&lookup::text(node, "protocol").unwrap_or_default());
        let ports = lookup::child(node, "ports").map(fields::strings_of).unwrap_or_default();
        let ports = match ports.is_empty() {
            true => String::new(),
            false => {
                let ports: String = ports.iter().map(|it| format!("\"{it}\",")).collect();
                format!("\n    ports    = [{ports}]")
            }
        };
        format!("\n  allow {{\n    protocol = \"{protocol}\"{ports}\n  }}\n")
    };
    rules.map(rule).collect()
}

fn unknown(name: &str) -> Diagnostic {
    let message = format!("ComputeAddress {name} is not in the package");
    Diagnostic::error(crate::kinds::CatalogKind::Failed { message: message.into() })
        .hint("add the resource to the package")
}
