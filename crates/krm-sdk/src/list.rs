//! The input and output of a function.

use krm_core::Severity;
use krm_core::functions::resource_list::FunctionResult;

use crate::Resource;

/// The input of a function, which the function changes into its output.
#[derive(Clone, Debug, Default)]
pub struct ResourceList {
    /// The resources.
    pub items: Vec<Resource>,
    /// The configuration of this call.
    pub function_config: Option<Resource>,
    /// Messages for people and tools. An error among them makes the function fail.
    pub results: Vec<FunctionResult>,
    /// Lines for stderr that are not about a resource.
    pub log: Vec<String>,
}

impl ResourceList {
    /// Adds a result that is not about a resource; [`Resource::result`] makes one that is.
    pub fn add_result(&mut self, severity: Severity, message: impl Into<String>) {
        self.results.push(FunctionResult::new(severity, message));
    }
}
