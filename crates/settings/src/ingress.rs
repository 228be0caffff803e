//! The tables of the ingress side: `[ingress]`, `[[ingress.pool]]`, `[[ingress.port]]` and `[[ingress.group]]`.

use crate::diagnostic::{Diagnostic, nearest};
use crate::table::{Table, Value};
use forebay_tm::TmConfig;
use forebay_tm::ingress::{
    Alpha, GROUPS_PER_PORT, GroupConfig, IngressConfig, Limit, LosslessConfig, MAX_CELLS, PoolConfig, PortConfig,
};

/// The ingress side of a switch file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngressFile {
    /// Its pools, ports and groups.
    pub config: IngressConfig,
    /// The group of packets of each queue number, where arrivals do not say it.
    pub of_queue: Vec<u8>,
}

const KEYS: [&str; 6] = ["cell", "partitions", "of_queue", "pool", "port", "group"];
const POOL_KEYS: [&str; 3] = ["name", "shared", "headroom"];
const PORT_KEYS: [&str; 6] = ["ports", "partition", "headroom", "pool", "alpha", "limit"];
const GROUP_KEYS: [&str; 11] =
    ["ports", "groups", "pool", "minimum", "alpha", "limit", "of_port", "filter", "headroom", "xon", "xon_offset"];

/// Reads the table `[ingress]` of a switch.
///
/// # Errors
/// If a value is not right. That both sides belong together is for the caller to check.
pub fn read(table: &Table<'_>, switch: &TmConfig) -> Result<IngressFile, Diagnostic> {
    table.allow(&KEYS, |_| false, "")?;
    let partitions = table.get("partitions").map_or(Ok(1), |value| value.number())?;
    let cell = match table.get("cell") {
        Some(value) => value.number()?,
        None => u32::try_from(switch.cell.get()).unwrap_or(u32::MAX),
    };
    let of_queue = match table.get("of_queue") {
        Some(value) => of_queue(&value, switch.queues)?,
        None => (0..switch.queues).map(|queue| queue as u8).collect(),
    };
    let mut reader = Reader { switch, names: vec![], partitions };
    let mut pools = vec![];
    for pool in table.tables("pool")? {
        pools.push(reader.pool(&pool)?);
    }
    if pools.is_empty() {
        return Err(table.missing("pool", "[[ingress.pool]] with a name and shared cells"));
    }
    let ports = reader.ports(table)?;
    let groups = reader.groups(table, &ports)?;
    Ok(IngressFile { config: IngressConfig { cell, partitions, pools, ports, groups }, of_queue })
}

fn of_queue(value: &Value<'_>, queues: usize) -> Result<Vec<u8>, Diagnostic> {
    let wanted = format!("give a list of {queues} group numbers, one for each queue number");
    let groups = value.list().filter(|list| list.len() == queues);
    let groups = groups.ok_or_else(|| value.error("one group is needed for each queue number", wanted))?;
    groups.iter().map(group_number).collect()
}

fn group_number(value: &Value<'_>) -> Result<u8, Diagnostic> {
    let number = value.integer()?;
    u8::try_from(number)
        .ok()
        .filter(|number| usize::from(*number) < GROUPS_PER_PORT)
        .ok_or_else(|| value.error(format!("there is no group {number}"), format!("give 0 to {}", GROUPS_PER_PORT - 1)))
}

fn cells(table: &Table<'_>, key: &str) -> Result<Option<u64>, Diagnostic> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let cells = value.integer()?;
    if cells > MAX_CELLS {
        return Err(
            value.error(format!("{cells} cells are more than any memory has"), format!("give at most {MAX_CELLS}"))
        );
    }
    Ok(Some(cells))
}

/// `alpha` or `limit`, or neither.
fn limit(table: &Table<'_>) -> Result<Limit, Diagnostic> {
    let of_port = table.get("of_port").map_or(Ok(false), |value| value.boolean())?;
    match (table.get("alpha"), cells(table, "limit")?) {
        (Some(_), Some(_)) => Err(table.key_error("limit", "alpha says the limit already", "give one of the two")),
        (Some(value), None) => {
            let factor = value.real()?;
            let alpha = Alpha::exactly(factor).ok_or_else(|| {
                let remedy = "give a multiple of 1/1024 up to 1024, such as 0.125";
                value.error(format!("chips have no factor of {factor}"), remedy)
            })?;
            Ok(if of_port { Limit::OfPort(alpha) } else { Limit::Dynamic(alpha) })
        }
        (None, _) if of_port => {
            Err(table.key_error("of_port", "it is a share of the port's limit, by alpha", "add alpha = 1.0"))
        }
        (None, Some(cells)) => Ok(Limit::Static(cells)),
        (None, None) => Ok(Limit::None),
    }
}

struct Reader<'a> {
    switch: &'a TmConfig,
    /// Of the pools so far.
    names: Vec<String>,
    partitions: usize,
}

impl Reader<'_> {
    fn pool(&mut self, table: &Table<'_>) -> Result<PoolConfig, Diagnostic> {
        table.allow(&POOL_KEYS, |_| false, "")?;
        let name = table.need("name", "name = \"lossless\"")?;
        let text = name.text()?;
        if self.names.iter().any(|known| known == text) {
            return Err(name.error("there is a pool of this name already", "give it another name"));
        }
        self.names.push(text.to_owned());
        table.need("shared", "shared = 10000")?;
        Ok(PoolConfig { shared: cells(table, "shared")?.unwrap_or(0), headroom: cells(table, "headroom")? })
    }

    /// The pool that a table names; the first if it names none.
    fn pool_of(&self, table: &Table<'_>) -> Result<usize, Diagnostic> {
        let Some(value) = table.get("pool") else { return Ok(0) };
        let text = value.text()?;
        self.names.iter().position(|name| name == text).ok_or_else(|| {
            let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
            let remedy = match nearest(text, &names) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => format!("the pools are {}", names.join(", ")),
            };
            value.error(format!("there is no pool \"{text}\""), remedy)
        })
    }

    /// The ports that a table is about: all of them if it does not say.
    fn ports_of(&self, table: &Table<'_>) -> Result<Vec<usize>, Diagnostic> {
        let count = self.switch.rates.len();
        let Some(value) = table.get("ports") else { return Ok((0..count).collect()) };
        let wanted = format!("give a list of ports, 0 to {}", count - 1);
        let list = value.list().ok_or_else(|| value.error("this is not a list", wanted.clone()))?;
        let port = |value: &Value<'_>| {
            let port: usize = value.number()?;
            if port < count { Ok(port) } else { Err(value.error(format!("there is no port {port}"), wanted.clone())) }
        };
        list.iter().map(port).collect()
    }

    fn ports(&self, table: &Table<'_>) -> Result<Vec<PortConfig>, Diagnostic> {
        let count = self.switch.rates.len();
        // Ports are divided among the partitions in equal blocks, unless they say otherwise.
        let port = |port: usize| PortConfig { partition: port * self.partitions / count, ..PortConfig::default() };
        let mut ports: Vec<PortConfig> = (0..count).map(port).collect();
        for table in table.tables("port")? {
            table.allow(&PORT_KEYS, |_| false, "")?;
            let (limit, pool) = (limit(&table)?, self.pool_of(&table)?);
            let headroom = cells(&table, "headroom")?;
            let partition = table.get("partition").map(|value| self.partition(&value)).transpose()?;
            for port in self.ports_of(&table)? {
                let port = &mut ports[port];
                if limit != Limit::None {
                    port.limits.resize(port.limits.len().max(pool + 1), Limit::None);
                    port.limits[pool] = limit;
                }
                port.headroom = headroom.or(port.headroom);
                port.partition = partition.unwrap_or(port.partition);
            }
        }
        Ok(ports)
    }

    fn partition(&self, value: &Value<'_>) -> Result<usize, Diagnostic> {
        let partition: usize = value.number()?;
        if partition < self.partitions {
            return Ok(partition);
        }
        let remedy = format!("ingress.partitions is {}, and they count from 0", self.partitions);
        Err(value.error(format!("there is no partition {partition}"), remedy))
    }

    fn groups(&self, table: &Table<'_>, ports: &[PortConfig]) -> Result<Vec<GroupConfig>, Diagnostic> {
        let mut groups: Vec<GroupConfig> = vec![];
        let mut seen = vec![false; ports.len() * GROUPS_PER_PORT];
        for table in table.tables("group")? {
            table.allow(&GROUP_KEYS, |_| false, "")?;
            let group = self.group(&table)?;
            let numbers = table.need("groups", "groups = [3, 4]")?;
            let list =
                numbers.list().ok_or_else(|| numbers.error("this is not a list", "give a list such as [3, 4]"))?;
            let list: Vec<u8> = list.iter().map(group_number).collect::<Result<_, _>>()?;
            for port in self.ports_of(&table)? {
                let of_port = ports[port].limits.get(group.pool).copied().unwrap_or_default();
                if matches!(group.limit, Limit::OfPort(_)) && of_port == Limit::None {
                    let remedy = "add [[ingress.port]] with alpha for that pool, or remove of_port";
                    return Err(table.key_error("of_port", format!("port {port} has no limit in that pool"), remedy));
                }
                for number in &list {
                    let place = port * GROUPS_PER_PORT + usize::from(*number);
                    if std::mem::replace(&mut seen[place], true) {
                        let problem = format!("port {port} has group {number} already");
                        return Err(numbers.error(problem, "describe each group once"));
                    }
                    groups.push(GroupConfig { port, number: *number, ..group });
                }
            }
        }
        if groups.is_empty() {
            return Err(table.missing("group", "[[ingress.group]] with groups = [0]"));
        }
        Ok(groups)
    }

    fn group(&self, table: &Table<'_>) -> Result<GroupConfig, Diagnostic> {
        let headroom = cells(table, "headroom")?;
        for key in ["xon", "xon_offset"] {
            if headroom.is_none() && table.has(key) {
                return Err(table.key_error(
                    key,
                    "only a group with headroom pauses",
                    "add headroom = 100, or remove it",
                ));
            }
        }
        let lossless = |headroom| {
            let (xon, xon_offset) = (cells(table, "xon")?.unwrap_or(0), cells(table, "xon_offset")?.unwrap_or(0));
            Ok(LosslessConfig { headroom, xon, xon_offset })
        };
        Ok(GroupConfig {
            pool: self.pool_of(table)?,
            minimum: cells(table, "minimum")?.unwrap_or(0),
            limit: limit(table)?,
            lossless: headroom.map(lossless).transpose()?,
            filter: table.get("filter").map(|value| value.number()).transpose()?,
            ..GroupConfig::default()
        })
    }
}
