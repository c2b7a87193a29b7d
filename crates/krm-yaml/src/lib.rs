//! A lossless YAML engine.
