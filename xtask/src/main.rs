//! One door for automation.
fn main() {}
