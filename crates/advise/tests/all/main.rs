//! Tests of advice, in one binary.

mod advise;

use std::path::Path;

/// A file of the SONiC crate's test data.
fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sonic/tests/data").join(name);
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}
