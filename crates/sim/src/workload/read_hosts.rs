//! Sets of hosts as people write them: `"all"`, `"0-31"`, `"host3"`, `"leaf0"` (the hosts at that switch), or a list of
//! numbers and such texts.

use super::WorkloadContext;
use super::pattern::{Pattern, Reach};
use super::racks::Racks;
use forebay_settings::{Diagnostic, Table, Value, nearest};

const FORMS: &str = "write \"all\", a range such as \"0-31\", the name of a host or of a switch (its hosts), or a \
 list of \
                     host numbers and such texts";

/// The words for [`Reach`].
pub(super) const REACHES: [(&str, Reach); 5] = [
    ("uniform", Reach::Uniform),
    ("inter-leaf", Reach::OtherRacks),
    ("other-tor", Reach::OtherRacks),
    ("next-leaf", Reach::NextRack),
    ("next-tor", Reach::NextRack),
];

/// Reads sets of hosts.
pub(super) struct HostReader<'a> {
    context: &'a WorkloadContext<'a>,
    pub(super) racks: Racks,
}

impl<'a> HostReader<'a> {
    pub(super) fn new(context: &'a WorkloadContext<'a>) -> Self {
        Self { context, racks: Racks::of(context.network) }
    }

    /// The hosts of a key, in the order given; `None` if the key is not there.
    pub(super) fn hosts(&self, table: &Table<'_>, key: &str) -> Result<Option<Vec<u32>>, Diagnostic> {
        let Some(value) = table.get(key) else { return Ok(None) };
        let mut hosts = Vec::new();
        let parts = value.list().unwrap_or_else(|| vec![value.clone()]);
        for part in &parts {
            if part.is_text() {
                self.named(part, part.text()?, &mut hosts)?;
            } else {
                hosts.push(self.host(part)?);
            }
        }
        if hosts.is_empty() {
            return Err(value.error("there are no hosts in this set", FORMS));
        }
        let mut seen = vec![false; self.racks.hosts() as usize];
        for host in &hosts {
            if std::mem::replace(&mut seen[*host as usize], true) {
                return Err(value.error(format!("host {host} is there twice"), "give each host once"));
            }
        }
        Ok(Some(hosts))
    }

    /// A single host: its number or its name.
    pub(super) fn host(&self, value: &Value<'_>) -> Result<u32, Diagnostic> {
        if value.is_text() {
            let mut hosts = Vec::new();
            self.named(value, value.text()?, &mut hosts)?;
            return match hosts.as_slice() {
                [host] => Ok(*host),
                _ => Err(value.error(format!("these are {} hosts", hosts.len()), "give one host")),
            };
        }
        self.checked(value, value.integer()?)
    }

    fn checked(&self, value: &Value<'_>, number: u64) -> Result<u32, Diagnostic> {
        let count = u64::from(self.racks.hosts());
        if number < count {
            return Ok(number as u32);
        }
        Err(value.error(format!("there is no host {number}"), format!("give 0 to {}", count.saturating_sub(1))))
    }

    fn named(&self, value: &Value<'_>, text: &str, hosts: &mut Vec<u32>) -> Result<(), Diagnostic> {
        let network = self.context.network;
        if text == "all" {
            hosts.extend(0..self.racks.hosts());
            return Ok(());
        }
        if let Some(host) = network.hosts.iter().position(|name| name == text) {
            hosts.push(host as u32);
            return Ok(());
        }
        if let Some(switch) = network.switches.iter().position(|switch| switch.name == text) {
            let node = network.switch_node(switch);
            return match self.racks.all().iter().find(|rack| rack.switch == Some(node)) {
                Some(rack) => {
                    hosts.extend(&rack.hosts);
                    Ok(())
                }
                None => Err(value.error(format!("there are no hosts at {text}"), FORMS)),
            };
        }
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let number = |digits: &str| digits.trim().parse::<u64>().ok();
            let (Some(first), Some(last)) = (number(first), number(last)) else {
                return Err(value.error(format!("\"{text}\" is not a range of hosts"), FORMS));
            };
            let (first, last) = (self.checked(value, first)?, self.checked(value, last)?);
            if first > last {
                return Err(value.error(format!("\"{text}\" is empty: {first} comes after {last}"), FORMS));
            }
            hosts.extend(first..=last);
            return Ok(());
        }
        let known: Vec<&str> =
            network.hosts.iter().map(String::as_str).chain(network.switches.iter().map(|s| s.name.as_str())).collect();
        let remedy =
            nearest(text, &known).map_or_else(|| FORMS.to_owned(), |meant| format!("did you mean \"{meant}\"?"));
        Err(value.error(format!("\"{text}\" is no host and no switch"), remedy))
    }

    /// `pattern`, `from` and `to`, checked: somebody must be able to send.
    pub(super) fn pattern(&self, table: &Table<'_>) -> Result<Pattern, Diagnostic> {
        let mut reach = Reach::default();
        if let Some(value) = table.get("pattern") {
            reach = value.word(&REACHES)?;
            self.check_reach(&value, reach)?;
        }
        let pattern = Pattern { from: self.hosts(table, "from")?, to: self.hosts(table, "to")?, reach };
        let destinations = super::pattern::Destinations::new(&pattern, &self.racks);
        if destinations.senders().iter().all(|host| destinations.count(&self.racks, *host) == 0) {
            let place = table.get("to").or_else(|| table.get("pattern")).or_else(|| table.get("from"));
            let problem = "no sender has anybody to send to";
            let remedy = "give other hosts in from and to, or another pattern";
            return Err(place.map_or_else(
                || Diagnostic { problem: problem.to_owned(), ..table.missing("to", "to = \"all\"") },
                |value| value.error(problem, remedy),
            ));
        }
        Ok(pattern)
    }

    /// Refuses patterns between racks where there is only one.
    pub(super) fn check_reach(&self, value: &Value<'_>, reach: Reach) -> Result<(), Diagnostic> {
        if reach != Reach::Uniform && self.racks.all().len() < 2 {
            return Err(value.error("all hosts are at the same switch", "give pattern \"uniform\""));
        }
        Ok(())
    }
}
