//! Merging packages.
mod arrange;
