//! Which congestion controls the kernel has, and what takes the place of one that it has not.

use crate::error::{self, Result};
use crate::program::{need, run};
use forebay_sim::transport::TransportKind;
use std::path::Path;

/// What the kernel offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    controls: Vec<String>,
}

/// The congestion control of a transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The kernel's name of it.
    pub name: String,
    /// It asks for ECN by itself.
    pub brings_ecn: bool,
    /// What was wanted, if this only takes its place.
    pub instead_of: Option<&'static str>,
}

/// The name that `lab/dctcp.bpf.c` gives to its DCTCP.
const OURS: &str = "forebay_dctcp";
/// Names under which DCTCP may be there: the kernel's own, and that of `lab/dctcp.bpf.c`.
const DCTCP: [&str; 2] = ["dctcp", OURS];

impl Kernel {
    /// Asks the kernel.
    pub fn ask() -> Self {
        let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        Self::of(&std::fs::read_to_string(path).unwrap_or_default())
    }

    /// What a list of the kernel says.
    pub fn of(list: &str) -> Self {
        Self { controls: list.split_whitespace().map(str::to_owned).collect() }
    }

    fn has(&self, name: &str) -> bool {
        self.controls.iter().any(|own| own == name)
    }

    /// Whether it has DCTCP, under any name.
    pub fn has_dctcp(&self) -> bool {
        DCTCP.iter().any(|name| self.has(name))
    }

    /// What carries a transport of a scenario; none for UDP. Without DCTCP it is Cubic with ECN.
    pub fn choose(&self, kind: &TransportKind) -> Result<Option<Chosen>> {
        let (wanted, others) = match kind {
            TransportKind::Udp(_) => return Ok(None),
            TransportKind::Cubic(_) => ("cubic", &["cubic"][..]),
            TransportKind::Reno(_) => ("reno", &["reno"][..]),
            TransportKind::Dctcp(_) => ("dctcp", &DCTCP[..]),
            other => {
                return Err(error::problem(
                    format_args!("the kernel has no transport like {}", other.name()),
                    "experiments can have cubic, reno, dctcp and udp",
                ));
            }
        };
        if let Some(name) = others.iter().find(|name| self.has(name)) {
            let brings_ecn = wanted == "dctcp";
            return Ok(Some(Chosen { name: (*name).to_owned(), brings_ecn, instead_of: None }));
        }
        if wanted == "dctcp" && self.has("cubic") {
            return Ok(Some(Chosen { name: "cubic".to_owned(), brings_ecn: false, instead_of: Some("dctcp") }));
        }
        Err(error::problem(
            format_args!("the kernel has no {wanted}"),
            "load its module, or change the scenario's transport",
        ))
    }
}

/// DCTCP as a BPF program in the kernel. It is removed when this goes; connections that have it keep it.
#[derive(Debug)]
pub struct Loaded {
    _own: (),
}

impl Loaded {
    /// Compiles the source of the program in a directory and loads it.
    pub fn load(source: &Path, directory: &Path) -> Result<Self> {
        need(&["clang", "bpftool"])?;
        if !source.is_file() {
            let problem = format!("{}: there is no such file", source.display());
            return Err(error::problem(problem, "keep dctcp.bpf.c beside the experiment"));
        }
        let types = run("bpftool", &["btf", "dump", "file", "/sys/kernel/btf/vmlinux", "format", "c"], "")?;
        let header = directory.join("vmlinux.h");
        std::fs::write(&header, types).map_err(|error| error::of_file(&header, "write", &error))?;
        let object = directory.join("dctcp.o").display().to_string();
        let (source, include) = (source.display().to_string(), format!("-I{}", directory.display()));
        let flags = ["-O2", "-g", "-target", "bpf", "-D__TARGET_ARCH_x86", &include, "-c", &source, "-o", &object];
        run("clang", &flags, "").map_err(|error| error::problem(error, "run: apt-get install clang libbpf-dev"))?;
        run("bpftool", &["struct_ops", "register", &object], "")?;
        Ok(Self { _own: () })
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // Someone else may have removed it.
        let _ = run("bpftool", &["struct_ops", "unregister", "name", OURS], "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_sim::transport::TransportConfig;

    fn choose(list: &str, wanted: &str) -> Result<Option<Chosen>> {
        Kernel::of(list).choose(&TransportConfig::named(wanted).unwrap().kind)
    }

    #[test]
    fn what_the_kernel_has_is_taken() {
        let cubic = choose("reno bbr cubic\n", "cubic").unwrap().unwrap();
        assert_eq!((cubic.name.as_str(), cubic.brings_ecn, cubic.instead_of), ("cubic", false, None));
        let dctcp = choose("reno cubic forebay_dctcp", "dctcp").unwrap().unwrap();
        assert_eq!((dctcp.name.as_str(), dctcp.brings_ecn), ("forebay_dctcp", true));
        let instead = choose("reno cubic", "dctcp").unwrap().unwrap();
        assert_eq!((instead.name.as_str(), instead.instead_of), ("cubic", Some("dctcp")));
        assert_eq!(choose("reno", "udp").unwrap(), None);
        assert!(choose("reno", "cubic").unwrap_err().to_string().contains("the kernel has no cubic"));
        assert!(choose("reno cubic", "ndp").unwrap_err().to_string().contains("no transport like ndp"));
    }
}
