//! The page as text and in a browser, in one binary.

#[allow(dead_code)]
#[path = "../../examples/synthetic.rs"]
mod synthetic;

mod browser;
mod page;
