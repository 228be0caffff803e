//! The file of a live switch, written from the traffic manager's settings and the lab's cables.

use crate::layout::{Layout, Peer, mac};
use forebay_settings::{SwitchTables, quoted, write_switch_tables};
use forebay_tm::TmConfig;
use std::fmt::Write;
use std::path::Path;

/// How the switch treats packets, beside what the traffic manager does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Treatment {
    /// Classes that hosts tell by the code point of differentiated services: code point n is class n.
    pub classes: usize,
    /// A packet's rank is 63 less its code point.
    pub rank_by_dscp: bool,
    /// How frames come and go: "xdp" or "packet"; the switch's own choice if there is none.
    pub backend: Option<String>,
    /// Bytes that a frame takes on the wire beside its own; the switch's own choice if there is none.
    pub overhead: Option<u32>,
}

/// The largest rank that a code point can say.
pub const TOP_RANK: u32 = 63;

/// The file of one switch of a lab. Results and the control socket go into `directory`.
pub fn write(layout: &Layout, number: usize, config: &TmConfig, treatment: &Treatment, directory: &Path) -> String {
    let switch = &layout.switches[number];
    let mut out = format!("buffer = {}\nqueues = {}\n", config.buffer.get(), config.queues);
    let _ = writeln!(out, "cell = {}\nseed = {}", config.cell.get(), config.seed);
    if let Some(capacity) = config.queue_capacity {
        let _ = writeln!(out, "queue_capacity = {capacity}");
    }
    let tables = SwitchTables {
        policy: Some(config.policy.clone()),
        scheduler: Some((config.scheduler.clone(), config.rank.clone())),
        mark: config.mark.clone().map(Some),
        trim: config.trim.clone().map(Some),
    };
    write_switch_tables("", &tables, &mut out);
    for port in &switch.ports {
        let _ = write!(out, "\n[[interface]]\nname = {}\nrate = \"{}bps\"\n", quoted(&port.interface), port.rate.bps());
    }
    write_forwarding(layout, number, &mut out);
    if treatment.rank_by_dscp {
        out.push_str("\n[rank]\nfrom = \"dscp\"\n");
    } else {
        for class in 1..treatment.classes {
            let queue = if config.queues > 1 { class } else { 0 };
            let _ = write!(out, "\n[[classify]]\ndscp = {class}\nqueue = {queue}\nclass = {class}\n");
        }
    }
    let path = |name: &str| quoted(&directory.join(name).to_string_lossy());
    // The hosts need the cores as well as the switch does.
    let _ = write!(out, "\n[live]\nidle = \"wait\"\nout = {}\ncontrol = {}\n", path(""), path("control.sock"));
    if let Some(backend) = &treatment.backend {
        let _ = writeln!(out, "backend = {}", quoted(backend));
    }
    if let Some(overhead) = treatment.overhead {
        let _ = writeln!(out, "overhead = {overhead}");
    }
    out
}

/// Where hosts are: nothing has to be learned.
fn write_forwarding(layout: &Layout, number: usize, out: &mut String) {
    let switch = &layout.switches[number];
    let kind = if layout.is_routed() { "routes" } else { "learn" };
    let _ = write!(out, "\n[forwarding]\nkind = \"{kind}\"\n");
    for (host, own) in layout.hosts.iter().enumerate() {
        let Some(place) = layout.port_to(number, host) else { continue };
        let port = &switch.ports[place];
        if !layout.is_routed() {
            let _ = write!(
                out,
                "\n[[forwarding.entry]]\nmac = \"{}\"\nport = {}\n",
                own.mac(host),
                quoted(&port.interface)
            );
            continue;
        }
        let next = match port.peer {
            Peer::Host(to) => layout.hosts[to].mac(to),
            Peer::Switch(to, far) => mac(2, to, far),
        };
        let _ = write!(
            out,
            "\n[[forwarding.route]]\nprefix = \"{}/32\"\nport = {}\nnext_hop = \"{next}\"\nsource = \"{}\"\n",
            own.address,
            quoted(&port.interface),
            mac(2, number, place)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_settings::Document;
    use forebay_tm::{Bytes, Rate};

    fn config(ports: usize) -> TmConfig {
        let mut config = TmConfig::new(vec![Rate::from_bps(100_000_000); ports], Bytes::new(410_000));
        config.queues = 2;
        config
    }

    #[test]
    fn the_file_has_an_interface_and_a_station_for_each_host() {
        let layout = Layout::star("fb", &[Rate::from_bps(100_000_000); 3]).unwrap();
        let treatment =
            Treatment { classes: 2, backend: Some("packet".to_owned()), overhead: Some(0), ..Treatment::default() };
        let text = write(&layout, 0, &config(3), &treatment, Path::new("/run/x"));
        let document = Document::parse("sw.toml", &text).unwrap();
        let root = document.root();
        let names = |key: &str, name: &str| -> Vec<String> {
            let tables = root.tables(key).unwrap();
            tables.iter().map(|table| table.get(name).unwrap().text().unwrap().to_owned()).collect()
        };
        assert_eq!(names("interface", "name"), ["fb-h1", "fb-h2", "fb-h3"]);
        let entries = root.table("forwarding").unwrap().unwrap().tables("entry").unwrap();
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[1].get("mac").unwrap().text().unwrap(), "02:fb:01:02:00:01");
        let rules = root.tables("classify").unwrap();
        assert_eq!(rules.len(), 1);
        assert_eq!(rules[0].get("queue").unwrap().integer().unwrap(), 1);
        let live = root.table("live").unwrap().unwrap();
        assert_eq!(live.get("control").unwrap().text().unwrap(), "/run/x/control.sock");
        assert_eq!(live.get("overhead").unwrap().integer().unwrap(), 0);
    }

    #[test]
    fn switches_of_a_leaf_spine_route_to_every_host() {
        let layout = Layout::leaf_spine("fb", 4, 2, 1, Rate::from_bps(100_000_000)).unwrap();
        for switch in 0..3 {
            let text = write(&layout, switch, &config(3), &Treatment::default(), Path::new("/run/x"));
            let document = Document::parse("sw.toml", &text).unwrap();
            let forwarding = document.root().table("forwarding").unwrap().unwrap();
            assert_eq!(forwarding.get("kind").unwrap().text().unwrap(), "routes");
            assert_eq!(forwarding.tables("route").unwrap().len(), 4);
        }
    }
}
