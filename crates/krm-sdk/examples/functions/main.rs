//! Functions for the use cases that the specification names, all in one program: `functions limits < list.yaml`.

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
        Function::new("composed", composed::run).page(composed::PAGE),
        Function::new("inject", inject::run).page(inject::PAGE),
        Function::new("limits", limits::run).page(limits::PAGE),
        Function::new("nginx", nginx::run).page(nginx::PAGE),
        Function::new("pod-security", pod_security::run).page(pod_security::PAGE),
        Function::new("selectors", selectors::run).page(selectors::PAGE),
        Function::new("t-shirt", t_shirt::run).page(t_shirt::PAGE),
        Function::new("tweak", tweak::run).page(tweak::PAGE),
    ])
}
