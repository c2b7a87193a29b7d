//! The one test binary of `krm-yaml`.

mod actions;
mod cases;
mod certain;
mod conformance;
mod grafts;
mod hostile;
mod laws;
mod properties;
mod quick;
mod refusals;
mod runner;
mod together;
mod written;
