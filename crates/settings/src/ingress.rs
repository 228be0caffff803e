//! The tables of the ingress side: `[ingress]`, `[[ingress.pool]]`, `[[ingress.port]]` and `[[ingress.group]]`.

use crate::check::if_set;
use crate::described::{read_settings, setting_keys, setting_lines};
use crate::diagnostic::{Diagnostic, nearest};
use crate::table::Table;
use forebay_tm::described::{Described, Field, Wrong};
use forebay_tm::ingress::{
    Alpha, GROUPS_PER_PORT, GroupConfig, IngressConfig, Limit, LosslessConfig, MAX_CELLS, PoolConfig, PortConfig,
};
use forebay_tm::{TmConfig, settings};

/// The ingress side of a switch file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngressFile {
    /// Its pools, ports and groups.
    pub config: IngressConfig,
    /// The group of packets of each queue number, where arrivals do not say it.
    pub of_queue: Vec<u8>,
}

settings! {
    /// `[ingress]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct IngressKeys {
        /// Bytes of a cell; default: the cell of the switch.
        pub cell: Option<u32> = None,
        /// Parts of the memory with pools of their own.
        pub partitions: usize = 1,
        /// The group of packets of each queue, if arrivals have no column `pg`; default: the number of the queue.
        pub of_queue: Option<Vec<u8>> = None; if_set(are_groups),
    }
}

settings! {
    /// `[[ingress.pool]]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PoolKeys {
        /// What ports and groups call it.
        pub name: String = String::new() => given "\"lossless\"",
        /// Cells that its groups share, in each partition.
        pub shared: u64 = 0; are_cells => given "10000",
        /// Cells of a shared headroom pool; default: headroom is each group's own.
        pub headroom: Option<u64> = None; if_set(are_cells),
    }
}

settings! {
    /// `[[ingress.port]]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PortKeys {
        /// The ports that it is about; default: all.
        pub ports: Option<Vec<usize>> = None,
        /// Their partition; default: ports are divided in equal blocks.
        pub partition: Option<usize> = None,
        /// The pool in which they have a limit; default: the first.
        pub pool: Option<String> = None,
        /// The limit of all groups of the port together, as a factor of the free cells: a multiple of 1/1024 up to
        /// 1024.
        pub alpha: Option<f64> = None; if_set(is_alpha),
        /// The limit in cells, instead of `alpha`.
        pub limit: Option<u64> = None; if_set(are_cells),
        /// Cells of headroom of all groups of the port together; default: no limit.
        pub headroom: Option<u64> = None; if_set(are_cells),
    }
}

settings! {
    /// `[[ingress.group]]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct GroupKeys {
        /// The ports whose groups it is about; default: all.
        pub ports: Option<Vec<usize>> = None,
        /// The numbers of the groups.
        pub groups: Vec<u8> = Vec::new(); are_groups => given "[3, 4]",
        /// Their pool; default: the first.
        pub pool: Option<String> = None,
        /// Cells that nobody else can take.
        pub minimum: u64 = 0; are_cells,
        /// The limit as a factor of the free cells: a multiple of 1/1024 up to 1024. Without this and `limit`: what is
        /// free.
        pub alpha: Option<f64> = None; if_set(is_alpha),
        /// The limit in cells, instead of `alpha`.
        pub limit: Option<u64> = None; if_set(are_cells),
        /// `alpha` is a factor of what the limit of the port leaves, instead of the free cells.
        pub of_port: bool = false,
        /// Reverie: `alpha * free` meets a low-pass filter of the group's cells, which goes `1 / 2^filter` of the way
        /// when a packet leaves: 0 to 16; default: the cells themselves.
        pub filter: Option<u8> = None,
        /// Cells of headroom; with this, the group is lossless.
        pub headroom: Option<u64> = None; if_set(are_cells),
        /// A paused group resumes with so many cells or fewer; default 0.
        pub xon: Option<u64> = None; if_set(are_cells),
        /// It also resumes so many cells below its limit; default 0.
        pub xon_offset: Option<u64> = None; if_set(are_cells),
    }
}

fn are_cells(cells: &u64) -> Result<(), Wrong> {
    if *cells <= MAX_CELLS {
        return Ok(());
    }
    Err(Wrong::new(format!("{cells} cells are more than any memory has"), format!("give at most {MAX_CELLS}")))
}

fn is_alpha(factor: &f64) -> Result<(), Wrong> {
    let remedy = "give a multiple of 1/1024 up to 1024, such as 0.125";
    Alpha::exactly(*factor).map(|_| ()).ok_or_else(|| Wrong::new(format!("chips have no factor of {factor}"), remedy))
}

#[allow(clippy::ptr_arg, reason = "a check takes what the field has")]
fn are_groups(groups: &Vec<u8>) -> Result<(), Wrong> {
    match groups.iter().find(|number| usize::from(**number) >= GROUPS_PER_PORT) {
        None => Ok(()),
        Some(number) => {
            Err(Wrong::new(format!("there is no group {number}"), format!("give 0 to {}", GROUPS_PER_PORT - 1)))
        }
    }
}

/// The tables as a file has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IngressTables {
    keys: IngressKeys,
    pools: Vec<PoolKeys>,
    ports: Vec<PortKeys>,
    groups: Vec<GroupKeys>,
}

impl IngressTables {
    /// Reads the table `[ingress]`.
    ///
    /// # Errors
    /// If a value is not right by itself.
    pub fn read(table: &Table<'_>) -> Result<Self, Diagnostic> {
        let known: Vec<&str> = setting_keys(IngressKeys::FIELDS).into_iter().chain(["pool", "port", "group"]).collect();
        table.allow(&known, |_| false, "")?;
        let mut keys = IngressKeys::default();
        read_settings(table, &mut keys)?;
        Ok(Self {
            keys,
            pools: rows(table, "pool", PoolKeys::FIELDS)?,
            ports: rows(table, "port", PortKeys::FIELDS)?,
            groups: rows(table, "group", GroupKeys::FIELDS)?,
        })
    }

    /// As TOML; the names of its tables follow `prefix`, such as "tier.leaf.".
    pub fn to_toml(&self, prefix: &str) -> String {
        let mut out = format!("\n[{prefix}ingress]\n{}", setting_lines(&self.keys));
        let mut row = |key: &str, settings: &dyn Described| {
            out.push_str(&format!("\n[[{prefix}ingress.{key}]]\n{}", setting_lines(settings)));
        };
        self.pools.iter().for_each(|pool| row("pool", pool));
        self.ports.iter().for_each(|port| row("port", port));
        self.groups.iter().for_each(|group| row("group", group));
        out
    }
}

/// The settings of each table of a list.
fn rows<S: Described + Default>(table: &Table<'_>, key: &str, fields: &[Field]) -> Result<Vec<S>, Diagnostic> {
    let row = |table: &Table<'_>| {
        table.allow(&setting_keys(fields), |_| false, "")?;
        let mut settings = S::default();
        read_settings(table, &mut settings)?;
        Ok(settings)
    };
    table.tables(key)?.iter().map(row).collect()
}

/// Reads the table `[ingress]` of a switch.
///
/// # Errors
/// If a value is not right. That both sides belong together is for the caller to check.
pub fn read(table: &Table<'_>, switch: &TmConfig) -> Result<IngressFile, Diagnostic> {
    let IngressTables { keys, pools, ports, groups } = IngressTables::read(table)?;
    let cell = keys.cell.unwrap_or(u32::try_from(switch.cell.get()).unwrap_or(u32::MAX));
    let of_queue = keys.of_queue.unwrap_or_else(|| (0..switch.queues).map(|queue| queue as u8).collect());
    if let Some(value) = table.get("of_queue").filter(|_| of_queue.len() != switch.queues) {
        let wanted = format!("give a list of {} group numbers, one for each queue number", switch.queues);
        return Err(value.error("one group is needed for each queue number", wanted));
    }
    let mut reader = Reader { switch, names: vec![], partitions: keys.partitions };
    let pools = reader.pools(&table.tables("pool")?, pools)?;
    if pools.is_empty() {
        return Err(table.missing("pool", "[[ingress.pool]] with a name and shared cells"));
    }
    let ports = reader.ports(&table.tables("port")?, &ports)?;
    let groups = reader.groups(&table.tables("group")?, &groups, &ports)?;
    if groups.is_empty() {
        return Err(table.missing("group", "[[ingress.group]] with groups = [0]"));
    }
    let partitions = keys.partitions;
    Ok(IngressFile { config: IngressConfig { cell, partitions, pools, ports, groups }, of_queue })
}

/// `alpha` or `limit`, or neither.
fn limit(table: &Table<'_>, alpha: Option<f64>, limit: Option<u64>, of_port: bool) -> Result<Limit, Diagnostic> {
    match (alpha.and_then(Alpha::exactly), limit) {
        (Some(_), Some(_)) => Err(table.key_error("limit", "alpha says the limit already", "give one of the two")),
        (Some(alpha), None) => Ok(if of_port { Limit::OfPort(alpha) } else { Limit::Dynamic(alpha) }),
        (None, _) if of_port => {
            Err(table.key_error("of_port", "it is a share of the port's limit, by alpha", "add alpha = 1.0"))
        }
        (None, Some(cells)) => Ok(Limit::Static(cells)),
        (None, None) => Ok(Limit::None),
    }
}

/// Makes the configuration of a switch of the tables, each of which comes with the place where it stands.
struct Reader<'a> {
    switch: &'a TmConfig,
    /// Of the pools so far.
    names: Vec<String>,
    partitions: usize,
}

impl Reader<'_> {
    fn pools(&mut self, tables: &[Table<'_>], pools: Vec<PoolKeys>) -> Result<Vec<PoolConfig>, Diagnostic> {
        let pool = |(table, PoolKeys { name, shared, headroom }): (&Table<'_>, PoolKeys)| {
            if self.names.contains(&name) {
                return Err(table.locate("name", "there is a pool of this name already", "give it another name"));
            }
            self.names.push(name);
            Ok(PoolConfig { shared, headroom })
        };
        tables.iter().zip(pools).map(pool).collect()
    }

    /// The pool that a table names; the first if it names none.
    fn pool_of(&self, table: &Table<'_>, name: Option<&str>) -> Result<usize, Diagnostic> {
        let Some(text) = name else { return Ok(0) };
        self.names.iter().position(|name| name == text).ok_or_else(|| {
            let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
            let remedy = match nearest(text, &names) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => format!("the pools are {}", names.join(", ")),
            };
            table.locate("pool", format!("there is no pool \"{text}\""), remedy)
        })
    }

    /// The ports that a table is about: all of them if it does not say.
    fn ports_of(&self, table: &Table<'_>, ports: Option<&[usize]>) -> Result<Vec<usize>, Diagnostic> {
        let count = self.switch.rates.len();
        let Some(ports) = ports else { return Ok((0..count).collect()) };
        let Some(place) = ports.iter().position(|port| *port >= count) else { return Ok(ports.to_vec()) };
        let value = table.need("ports", "ports = [0]")?;
        let element = value.list().and_then(|list| list.into_iter().nth(place)).unwrap_or(value);
        let remedy = format!("give a list of ports, 0 to {}", count - 1);
        Err(element.error(format!("there is no port {}", ports[place]), remedy))
    }

    fn ports(&self, tables: &[Table<'_>], rows: &[PortKeys]) -> Result<Vec<PortConfig>, Diagnostic> {
        let count = self.switch.rates.len();
        // Ports are divided among the partitions in equal blocks, unless they say otherwise.
        let port = |port: usize| PortConfig { partition: port * self.partitions / count, ..PortConfig::default() };
        let mut ports: Vec<PortConfig> = (0..count).map(port).collect();
        for (table, row) in tables.iter().zip(rows) {
            let limit = limit(table, row.alpha, row.limit, false)?;
            let pool = self.pool_of(table, row.pool.as_deref())?;
            if let Some(partition) = row.partition.filter(|partition| *partition >= self.partitions) {
                let remedy = format!("ingress.partitions is {}, and they count from 0", self.partitions);
                return Err(table.locate("partition", format!("there is no partition {partition}"), remedy));
            }
            for port in self.ports_of(table, row.ports.as_deref())? {
                let port = &mut ports[port];
                if limit != Limit::None {
                    port.limits.resize(port.limits.len().max(pool + 1), Limit::None);
                    port.limits[pool] = limit;
                }
                port.headroom = row.headroom.or(port.headroom);
                port.partition = row.partition.unwrap_or(port.partition);
            }
        }
        Ok(ports)
    }

    fn groups(
        &self,
        tables: &[Table<'_>],
        rows: &[GroupKeys],
        ports: &[PortConfig],
    ) -> Result<Vec<GroupConfig>, Diagnostic> {
        let mut groups: Vec<GroupConfig> = vec![];
        let mut seen = vec![false; ports.len() * GROUPS_PER_PORT];
        for (table, row) in tables.iter().zip(rows) {
            let group = self.group(table, row)?;
            for port in self.ports_of(table, row.ports.as_deref())? {
                let of_port = ports[port].limits.get(group.pool).copied().unwrap_or_default();
                if matches!(group.limit, Limit::OfPort(_)) && of_port == Limit::None {
                    let remedy = "add [[ingress.port]] with alpha for that pool, or remove of_port";
                    return Err(table.key_error("of_port", format!("port {port} has no limit in that pool"), remedy));
                }
                for number in &row.groups {
                    let place = port * GROUPS_PER_PORT + usize::from(*number);
                    if std::mem::replace(&mut seen[place], true) {
                        let problem = format!("port {port} has group {number} already");
                        return Err(table.locate("groups", problem, "describe each group once"));
                    }
                    groups.push(GroupConfig { port, number: *number, ..group });
                }
            }
        }
        Ok(groups)
    }

    fn group(&self, table: &Table<'_>, row: &GroupKeys) -> Result<GroupConfig, Diagnostic> {
        for key in ["xon", "xon_offset"] {
            if row.headroom.is_none() && table.has(key) {
                let remedy = "add headroom = 100, or remove it";
                return Err(table.key_error(key, "only a group with headroom pauses", remedy));
            }
        }
        let lossless =
            |headroom| LosslessConfig { headroom, xon: row.xon.unwrap_or(0), xon_offset: row.xon_offset.unwrap_or(0) };
        Ok(GroupConfig {
            pool: self.pool_of(table, row.pool.as_deref())?,
            minimum: row.minimum,
            limit: limit(table, row.alpha, row.limit, row.of_port)?,
            lossless: row.headroom.map(lossless),
            filter: row.filter,
            ..GroupConfig::default()
        })
    }
}
