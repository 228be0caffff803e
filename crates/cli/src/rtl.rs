//! `forebay rtl`: the circuits, what they cost, and how accurate they are.

use crate::Failure;
use crate::args::RtlArgs;
use crate::output::{cannot_write, print, print_json};
use crate::outputs::{Ours, Outputs};
use forebay_rtl::page::{self, Results};
use forebay_rtl::sources;
use forebay_runner::scenario_file::read_text;
use std::path::PathBuf;

pub(crate) fn run(args: &RtlArgs) -> Result<(), Failure> {
    if let Some(directory) = &args.write {
        std::fs::create_dir_all(directory).map_err(|error| cannot_write(&directory.display().to_string(), &error))?;
        let file = |name: &str| directory.join(format!("{name}.v"));
        let mut outputs = Outputs::new(args.replace.force);
        for (name, text) in sources::SOURCES {
            outputs.check(&file(name), Ours::Is(text))?;
        }
        return Ok(sources::write(directory)?);
    }
    let results = match &args.render {
        Some(file) => {
            let (name, text) = (file.display().to_string(), read_text(file)?);
            let value = serde_json::from_str(&text)
                .map_err(|error| Failure::refused(&name, error, "make it again: forebay rtl --docs DIR"))?;
            Results::from_json(value, &name)?
        }
        None => {
            let directory = tempfile::tempdir().map_err(|error| cannot_write("a temporary directory", &error))?;
            let kept = args.out.clone().unwrap_or_else(|| PathBuf::from("results/rtl"));
            let tell = |what: &str| {
                if !args.quiet {
                    eprintln!("{what}");
                }
            };
            if args.quick {
                let quick = page::quick(directory.path(), &kept, &tell)?;
                return if args.json { print_json(&quick.to_json()) } else { print(&quick.to_text()) };
            }
            page::make(directory.path(), &kept, &tell)?
        }
    };
    if let Some(docs) = &args.docs {
        std::fs::create_dir_all(docs).map_err(|error| cannot_write(&docs.display().to_string(), &error))?;
        for (name, text) in [("rtl.md", results.to_markdown()), ("rtl.json", format!("{:#}\n", results.to_json()))] {
            Outputs::new(args.replace.force).write(&docs.join(name), &text)?;
        }
    }
    if args.json { print_json(&results.to_json()) } else { print(&results.to_markdown()) }
}
