//! The one test binary of `krm-catalog`: what each function does, as cases, and the examples of their pages.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cases;
mod corpora;
mod pages;
mod setters;
mod trial;
