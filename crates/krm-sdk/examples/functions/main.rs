//! Functions for the use cases of the specification in one program: `functions limits < list.yaml`.

mod composed;
mod inject;
mod limits;
mod nginx;
mod pod_security;
mod selectors;
mod t_shirt;
mod tweak;

use krm_sdk::Function;

fn main() {
    krm_sdk::run_many([
        Function::new("composed", composed::run).readme(composed::README),
        Function::new("inject", inject::run).readme(inject::README),
        Function::new("limits", limits::run).readme(limits::README),
        Function::new("nginx", nginx::run).readme(nginx::README),
        Function::new("pod-security", pod_security::run).readme(pod_security::README),
        Function::new("selectors", selectors::run).readme(selectors::README),
        Function::new("t-shirt", t_shirt::run).readme(t_shirt::README),
        Function::new("tweak", tweak::run).readme(tweak::README),
    ])
}
