//! One test binary for the command line: cases, the pages' examples, and what needs a process in hand.
#![cfg(unix)]

mod cases;
mod pages;
mod pipes;
mod sandbox;
