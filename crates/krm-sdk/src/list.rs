//! What a function gets and gives back: resources, its configuration and what it has to say.

use krm_core::Severity;
use krm_core::functions::resource_list::FunctionResult;

use crate::Resource;

/// The input of a function, which it changes into its output.
#[derive(Clone, Debug, Default)]
pub struct ResourceList {
    /// The resources.
    pub items: Vec<Resource>,
    /// How the function is to do its work.
    pub function_config: Option<Resource>,
    /// What the function has to say.
    pub results: Vec<FunctionResult>,
    /// What the function prints for people to read, a line each; a program writes it to stderr.
    pub log: Vec<String>,
}

impl ResourceList {
    /// Says something.
    pub fn say(&mut self, severity: Severity, message: impl Into<String>) {
        self.results.push(FunctionResult::new(severity, message));
    }
}
