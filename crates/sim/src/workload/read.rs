//! The `[[workload]]` tables of a scenario.

use super::csv::{self, Limits};
use super::load::{Busiest, Overload, overload};
use super::pattern::{Destinations, Pattern, Reach};
use super::read_hosts::{HostReader, REACHES};
use super::read_sizes::{read_file, size, sizes};
use super::{
    Algorithm, AllReduceConfig, AllToAllConfig, Amount, Arrivals, CsvConfig, IncastConfig, LoadOf, LongLivedConfig,
    OnOffConfig, Pairs, PermutationConfig, PoissonConfig, RequestResponseConfig, WorkloadConfig, WorkloadContext,
    WorkloadKind,
};
use forebay_settings::{Diagnostic, Table, Value, nearest};
use forebay_tm::units::PS_PER_SECOND;
use forebay_tm::{Bytes, Duration, Instant};

/// The keys that every workload has.
const COMMON: [&str; 6] = ["kind", "name", "class", "transport", "start", "stop"];

/// A workload that would start more flows than this is refused: its plan alone would fill gigabytes.
const MOST_FLOWS: f64 = 5e7;

/// What a workload is, in one line.
pub fn about(kind: &str) -> &'static str {
    match kind {
        "poisson" => "flows at random times between random hosts, at a load or a rate",
        "incast" => "queries: many hosts send their responses at the same time",
        "permutation" => "each host sends to one other, and receives from one",
        "all-to-all" => "each host sends to each other",
        "all-reduce" => "rounds of a collective, by a ring or a double binary tree",
        "long-lived" => "infinite flows between pairs of hosts",
        "on-off" => "bursts of flows with a period",
        "request-response" => "closed loop: request, response, think time",
        "csv" => "flows from a file",
        _ => "",
    }
}

/// All keys of a kind of workload.
pub fn keys(kind: &str) -> Vec<&'static str> {
    keys_of(kind).iter().chain(&COMMON).copied().collect()
}

/// The keys of a kind of workload, beside the common ones.
fn keys_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "poisson" => &[
            "sizes",
            "interpolation",
            "load",
            "load_of",
            "with_headers",
            "rate",
            "allow_overload",
            "pattern",
            "from",
            "to",
            "classes",
        ],
        "incast" => &[
            "request",
            "request_share",
            "fan_in",
            "servers_per_host",
            "rate",
            "rate_per_host",
            "arrivals",
            "hosts",
            "responders",
            "from",
            "jitter",
            "request_bytes",
            "allow_overload",
            "classes",
        ],
        "permutation" => &["bytes", "hosts", "spread"],
        "all-to-all" => &["bytes", "hosts", "spread", "every"],
        "all-reduce" => &["bytes", "algorithm", "hosts", "chunks", "every"],
        "long-lived" => &["pairs", "pattern", "from", "to", "count", "spread"],
        "on-off" => &["sizes", "interpolation", "period", "jitter", "phase", "pattern", "from", "to", "allow_overload"],
        "request-response" => {
            &["clients", "servers", "request", "sizes", "interpolation", "think", "think_time", "sessions", "spread"]
        }
        "csv" => &["path", "origin", "limit"],
        _ => &[],
    }
}

/// Reads one `[[workload]]` table.
pub fn read(table: &Table<'_>, context: &WorkloadContext<'_>) -> Result<WorkloadConfig, Diagnostic> {
    let kinds: Vec<(&str, &str)> = WorkloadKind::NAMES.iter().map(|name| (*name, *name)).collect();
    let value = table.need("kind", "kind = \"poisson\"")?;
    let kind = value.word(&kinds)?;
    let known: Vec<&str> = COMMON.iter().chain(keys_of(kind)).copied().collect();
    let elsewhere = |key: &str| WorkloadKind::NAMES.iter().any(|other| keys_of(other).contains(&key));
    table.allow(&known, elsewhere, kind)?;

    let reader = Reader { table, context, hosts: HostReader::new(context) };
    let start = Instant::ZERO + reader.duration("start", Duration::ZERO)?;
    let stop = Instant::ZERO + reader.duration("stop", context.duration)?;
    if stop <= start {
        let place = reader.first(&["stop", "start"]).unwrap_or(value);
        let problem = format!("the workload stops at {stop}, which is not after its start at {start}");
        return Err(place.error(problem, "give an earlier start, a later stop or a longer duration"));
    }
    let class = reader.class()?;
    let config = WorkloadConfig {
        name: table.get("name").map_or(Ok(kind), |value| value.text())?.to_owned(),
        class,
        classes: reader.classes(class)?,
        transport: reader.transport()?,
        start,
        stop,
        allow_overload: reader.optional("allow_overload", false, Value::boolean)?,
        kind: reader.kind(kind, stop.since(start))?,
    };
    reader.check_load(&config)?;
    reader.check_count(&config)?;
    Ok(config)
}

/// Reads the keys of one table.
struct Reader<'a, 'd> {
    table: &'a Table<'d>,
    context: &'a WorkloadContext<'a>,
    hosts: HostReader<'a>,
}

impl<'d> Reader<'_, 'd> {
    fn get(&self, key: &str) -> Option<Value<'d>> {
        self.table.get(key)
    }

    /// A key that may be left out.
    fn optional<T>(
        &self,
        key: &str,
        otherwise: T,
        read: impl FnOnce(&Value<'d>) -> Result<T, Diagnostic>,
    ) -> Result<T, Diagnostic> {
        self.get(key).map_or(Ok(otherwise), |value| read(&value))
    }

    fn duration(&self, key: &str, otherwise: Duration) -> Result<Duration, Diagnostic> {
        self.optional(key, otherwise, Value::duration)
    }

    /// A period, if it is there.
    fn every(&self) -> Result<Option<Duration>, Diagnostic> {
        self.optional("every", None, |value| period(value).map(Some))
    }

    fn need_size(&self, key: &str) -> Result<Bytes, Diagnostic> {
        size(&self.table.need(key, &format!("{key} = \"2MB\""))?)
    }

    /// A count of at least 1.
    fn count(&self, key: &str, otherwise: u32) -> Result<u32, Diagnostic> {
        self.optional(key, otherwise, |value| match value.number()? {
            0 => Err(value.error("0 is not enough", "give at least 1")),
            count => Ok(count),
        })
    }

    fn class(&self) -> Result<u8, Diagnostic> {
        let queues = self.context.queues;
        self.optional("class", 0, |value| match value.integer()? {
            class if class < queues.min(256) as u64 => Ok(class as u8),
            class => {
                let problem = format!("there is no class {class}: a port has {queues} queues");
                Err(value.error(problem, format!("give 0 to {}, or more queues", queues.saturating_sub(1))))
            }
        })
    }

    /// How many classes the flows are spread over, from `first` on: a number, or all of them.
    fn classes(&self, first: u8) -> Result<u8, Diagnostic> {
        let left = self.context.queues.min(256).saturating_sub(usize::from(first)).clamp(1, 255);
        self.optional("classes", 1, |value| match value.integer() {
            Err(_) => value.word(&[("all", left as u8)]),
            Ok(0) => Err(value.error("0 is not enough", "give at least 1")),
            Ok(classes) if classes <= left as u64 => Ok(classes as u8),
            Ok(classes) => {
                let problem = format!("there are no {classes} classes from {first} on");
                Err(value.error(problem, format!("give 1 to {left}, or more queues")))
            }
        })
    }

    fn transport(&self) -> Result<u16, Diagnostic> {
        let transports = self.context.transports;
        match (self.get("transport"), transports) {
            (None, [_]) => Ok(0),
            (None, _) => {
                let example = transports.first().map_or("dctcp", |(name, _)| name.as_str());
                Err(self.table.missing("transport", &format!("transport = \"{example}\"")))
            }
            (Some(value), _) => {
                let text = value.text()?;
                let names: Vec<&str> = transports.iter().map(|(name, _)| name.as_str()).collect();
                names.iter().position(|name| *name == text).map(|index| index as u16).ok_or_else(|| {
                    let remedy = match nearest(text, &names) {
                        Some(meant) => format!("did you mean \"{meant}\"?"),
                        None if names.is_empty() => "describe a transport first".to_owned(),
                        None => format!("give one of \"{}\"", names.join("\", \"")),
                    };
                    value.error(format!("there is no transport \"{text}\""), remedy)
                })
            }
        }
    }

    fn kind(&self, kind: &str, span: Duration) -> Result<WorkloadKind, Diagnostic> {
        Ok(match kind {
            "poisson" => WorkloadKind::Poisson(self.poisson()?),
            "incast" => WorkloadKind::Incast(self.incast()?),
            "permutation" => WorkloadKind::Permutation(PermutationConfig {
                bytes: self.size_or_endless()?,
                hosts: self.group()?,
                spread: self.duration("spread", Duration::ZERO)?,
            }),
            "all-to-all" => WorkloadKind::AllToAll(AllToAllConfig {
                bytes: self.need_size("bytes")?,
                hosts: self.group()?,
                spread: self.duration("spread", Duration::ZERO)?,
                every: self.every()?,
            }),
            "all-reduce" => WorkloadKind::AllReduce(self.all_reduce()?),
            "long-lived" => WorkloadKind::LongLived(LongLivedConfig {
                pairs: self.pairs()?,
                count: self.count("count", 1)?,
                spread: self.duration("spread", Duration::ZERO)?,
            }),
            "on-off" => WorkloadKind::OnOff(OnOffConfig {
                sizes: sizes(self.table, "sizes", self.context)?,
                period: period(&self.table.need("period", "period = \"1ms\"")?)?,
                jitter: self.duration("jitter", Duration::ZERO)?,
                together: self.optional("phase", false, |value| value.word(&[("random", false), ("same", true)]))?,
                pattern: self.hosts.pattern(self.table)?,
            }),
            "request-response" => WorkloadKind::RequestResponse(self.request_response()?),
            _ => WorkloadKind::Csv(self.csv(span)?),
        })
    }

    fn poisson(&self) -> Result<PoissonConfig, Diagnostic> {
        let sizes = sizes(self.table, "sizes", self.context)?;
        let pattern = self.hosts.pattern(self.table)?;
        let amount = match (self.get("load"), self.get("rate")) {
            (Some(_), Some(rate)) => {
                return Err(rate.error("there is a load, too", "give either load or rate"));
            }
            (None, None) => return Err(self.table.missing("load", "load = 0.4")),
            (None, Some(rate)) => {
                for key in ["load_of", "with_headers"] {
                    if let Some(value) = self.get(key) {
                        return Err(value.error("this does nothing with a rate", "remove it, or give load, not rate"));
                    }
                }
                Amount::Rate(positive(&rate)?)
            }
            (Some(load), None) => Amount::Load {
                share: positive(&load).map_err(|error| Diagnostic {
                    remedy: "give a share of the capacity above 0, such as 0.4".to_owned(),
                    ..error
                })?,
                of: self.optional("load_of", LoadOf::default(), |value| {
                    value.word(&[("host-links", LoadOf::HostLinks), ("uplinks", LoadOf::Uplinks)])
                })?,
                with_headers: self.optional("with_headers", false, Value::boolean)?,
            },
        };
        if let (Amount::Load { of: LoadOf::Uplinks, .. }, Some(value)) = (amount, self.get("load_of")) {
            self.check_uplinks(&value, &pattern)?;
        }
        Ok(PoissonConfig { sizes, amount, pattern })
    }

    /// A load of the uplinks needs uplinks, and flows that use them.
    fn check_uplinks(&self, value: &Value<'_>, pattern: &Pattern) -> Result<(), Diagnostic> {
        let racks = &self.hosts.racks;
        let destinations = Destinations::new(pattern, racks);
        for host in destinations.senders() {
            let rack = &racks.all()[racks.rack_of(*host)];
            if rack.uplinks == 0 {
                let name = rack.switch.map_or("its switch", |node| self.context.network.name(node));
                let problem = format!("{name} has no links to other switches");
                return Err(value.error(problem, "give load_of = \"host-links\""));
            }
        }
        if destinations.senders().iter().all(|host| destinations.share_leaving(racks, *host) == 0.0) {
            return Err(value.error("no flow leaves its rack", "give load_of = \"host-links\", or another pattern"));
        }
        Ok(())
    }

    fn incast(&self) -> Result<IncastConfig, Diagnostic> {
        let words = [("poisson", Arrivals::Poisson), ("periodic", Arrivals::Periodic), ("once", Arrivals::Once)];
        let arrivals = self.optional("arrivals", Arrivals::default(), |value| value.word(&words))?;
        let mut reach = Reach::default();
        if let Some(value) = self.get("responders") {
            reach = value.word(&REACHES)?;
            self.hosts.check_reach(&value, reach)?;
        }
        let pattern =
            Pattern { from: self.hosts.hosts(self.table, "hosts")?, to: self.hosts.hosts(self.table, "from")?, reach };
        let destinations = Destinations::new(&pattern, &self.hosts.racks);
        let fewest = destinations.senders().iter().map(|host| destinations.count(&self.hosts.racks, *host)).min();
        let servers_per_host = self.optional("servers_per_host", 1, |value| match value.number()? {
            count @ 1..=1024 => Ok(count),
            count => Err(value.error(format!("a host cannot have {count} servers"), "give 1 to 1024")),
        })?;
        let fewest = fewest.unwrap_or(0).saturating_mul(servers_per_host as usize);
        let fan_in = match self.get("fan_in") {
            Some(value) => {
                let fan_in = self.count("fan_in", 1)?;
                if fan_in as usize > fewest {
                    let problem = format!("{fan_in} cannot answer: some host has only {fewest} to ask");
                    return Err(value.error(problem, format!("give at most {fewest}")));
                }
                fan_in
            }
            None if fewest == 0 => {
                let missing = self.table.missing("from", "from = \"all\"");
                return Err(Diagnostic { problem: "some host has nobody to ask".to_owned(), ..missing });
            }
            None => u32::try_from(fewest).unwrap_or(u32::MAX),
        };
        Ok(IncastConfig {
            request: self.request()?,
            fan_in,
            servers_per_host,
            arrivals,
            rate_per_host: self.query_rate(arrivals, destinations.senders().len())?,
            pattern,
            jitter: self.duration("jitter", Duration::ZERO)?,
            request_bytes: self.optional("request_bytes", Bytes::ZERO, Value::bytes)?,
        })
    }

    /// `request` in bytes or percent of the buffer, or `request_share` of it.
    fn request(&self) -> Result<Bytes, Diagnostic> {
        let buffer = self.context.buffer;
        let of_buffer = |value: &Value<'_>, share: f64| {
            let bytes = (share * buffer.as_f64()).round();
            if share.is_finite() && bytes >= 1.0 && bytes < (1u64 << 53) as f64 {
                Ok(Bytes::new(bytes as u64))
            } else {
                let problem = format!("this is not a share of the buffer, {buffer}");
                Err(value.error(problem, "give a share such as \"30%\", at least a byte"))
            }
        };
        match (self.get("request"), self.get("request_share")) {
            (Some(_), Some(share)) => {
                Err(share.error("there is a request, too", "give either request or request_share"))
            }
            (None, None) => Err(self.table.missing("request", "request = \"30%\"")),
            (None, Some(share)) => of_buffer(&share, share.real()?),
            (Some(value), None) => {
                let percent = if value.is_text() { value.text()?.strip_suffix('%') } else { None };
                match percent {
                    Some(number) => of_buffer(&value, number.trim().parse::<f64>().unwrap_or(f64::NAN) / 100.0),
                    None => size(&value),
                }
            }
        }
    }

    /// Queries a second of each host that asks.
    fn query_rate(&self, arrivals: Arrivals, askers: usize) -> Result<f64, Diagnostic> {
        match (self.get("rate"), self.get("rate_per_host")) {
            (Some(value), _) | (_, Some(value)) if arrivals == Arrivals::Once => {
                Err(value.error("this does nothing with arrivals = \"once\"", "remove it"))
            }
            (Some(_), Some(each)) => Err(each.error("there is a rate, too", "give either rate or rate_per_host")),
            (Some(all), None) => positive(&all).map(|rate| rate / askers as f64),
            (None, Some(each)) => positive(&each),
            (None, None) if arrivals == Arrivals::Once => Ok(0.0),
            (None, None) => Err(self.table.missing("rate", "rate = 1000")),
        }
    }

    /// Hosts that do something together: at least two.
    fn group(&self) -> Result<Option<Vec<u32>>, Diagnostic> {
        let hosts = self.hosts.hosts(self.table, "hosts")?;
        let count = hosts.as_ref().map_or(self.hosts.racks.hosts() as usize, Vec::len);
        match self.get("hosts").or_else(|| self.get("kind")) {
            Some(value) if count < 2 => Err(value.error("this takes at least two hosts", "give more hosts")),
            _ => Ok(hosts),
        }
    }

    fn size_or_endless(&self) -> Result<Option<Bytes>, Diagnostic> {
        let value = self.table.need("bytes", "bytes = \"2MB\"")?;
        if value.is_text() && value.text()? == "endless" { Ok(None) } else { size(&value).map(Some) }
    }

    fn all_reduce(&self) -> Result<AllReduceConfig, Diagnostic> {
        let words = [("ring", Algorithm::Ring), ("double-binary-tree", Algorithm::DoubleBinaryTree)];
        let algorithm = self.optional("algorithm", Algorithm::default(), |value| value.word(&words))?;
        let config = AllReduceConfig {
            bytes: self.need_size("bytes")?,
            algorithm,
            hosts: self.group()?,
            chunks: self.count("chunks", 1)?,
            every: self.every()?,
        };
        let hosts = config.hosts.as_ref().map_or(self.hosts.racks.hosts() as usize, Vec::len) as u64;
        let (parts, least) = match (algorithm, self.get("chunks")) {
            (Algorithm::Ring, Some(value)) => {
                return Err(value.error("a ring cuts the data into one part a host", "remove this key"));
            }
            (Algorithm::Ring, None) => (hosts, "a byte for each host"),
            (Algorithm::DoubleBinaryTree, _) => (2 * u64::from(config.chunks), "a byte for each chunk of both trees"),
        };
        match self.get("bytes") {
            Some(value) if config.bytes.get() < parts => {
                Err(value.error(format!("{} cannot be cut into {parts} parts", config.bytes), format!("give {least}")))
            }
            _ => Ok(config),
        }
    }

    fn pairs(&self) -> Result<Pairs, Diagnostic> {
        let Some(value) = self.get("pairs") else { return self.hosts.pattern(self.table).map(Pairs::Drawn) };
        for key in ["pattern", "from", "to"] {
            if let Some(other) = self.get(key) {
                return Err(other.error("there are pairs, too", "give either pairs, or pattern, from and to"));
            }
        }
        let example = "give pairs of hosts, source and destination, such as [[0, 5], [1, 6]]";
        let pairs = value.list().filter(|pairs| !pairs.is_empty());
        let pairs = pairs.ok_or_else(|| value.error("this is not a list of pairs", example))?;
        let read = |pair: &Value<'_>| {
            let Some([src, dst]) = pair.list().and_then(|ends| <[Value<'_>; 2]>::try_from(ends).ok()) else {
                return Err(pair.error("this is not a pair", example));
            };
            let (src, dst) = (self.hosts.host(&src)?, self.hosts.host(&dst)?);
            if src == dst {
                return Err(pair.error(format!("host {src} sends to itself"), "give another destination"));
            }
            Ok((src, dst))
        };
        pairs.iter().map(read).collect::<Result<_, _>>().map(Pairs::Given)
    }

    fn request_response(&self) -> Result<RequestResponseConfig, Diagnostic> {
        let config = RequestResponseConfig {
            clients: self.hosts.hosts(self.table, "clients")?,
            servers: self.hosts.hosts(self.table, "servers")?,
            request: self.need_size("request")?,
            response: sizes(self.table, "sizes", self.context)?,
            think: self.duration("think", Duration::ZERO)?,
            think_constant: self
                .optional("think_time", false, |value| value.word(&[("exponential", false), ("constant", true)]))?,
            sessions: self.count("sessions", 1)?,
            spread: self.duration("spread", Duration::ZERO)?,
        };
        let pattern = Pattern { from: config.clients.clone(), to: config.servers.clone(), reach: Reach::Uniform };
        let destinations = Destinations::new(&pattern, &self.hosts.racks);
        let lonely = destinations.senders().iter().find(|host| destinations.count(&self.hosts.racks, **host) == 0);
        match (lonely, self.get("servers").or_else(|| self.get("kind"))) {
            (Some(host), Some(value)) => {
                Err(value.error(format!("host {host} has no server but itself"), "give another server"))
            }
            _ => Ok(config),
        }
    }

    fn csv(&self, span: Duration) -> Result<CsvConfig, Diagnostic> {
        let value = self.table.need("path", "path = \"flows.csv\"")?;
        let (name, text) = read_file(&value, self.context)?;
        let limits = Limits {
            hosts: self.hosts.racks.hosts(),
            queues: self.context.queues,
            origin: self.duration("origin", Duration::ZERO)?,
            span,
            cut: self.get("stop").is_some(),
        };
        let mut flows = csv::parse(&name, &text, &limits)?;
        if let Some(value) = self.get("limit") {
            let limit: usize = value.number()?;
            if limit == 0 || limit > flows.len() {
                let problem = format!("there are {} flows in {name}", flows.len());
                return Err(value.error(problem, format!("give 1 to {}", flows.len())));
            }
            flows.truncate(limit);
        }
        Ok(CsvConfig { path: value.text()?.to_owned(), flows: flows.into() })
    }

    /// The value of the first of these keys that is there.
    fn first(&self, keys: &[&str]) -> Option<Value<'d>> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// Refuses a load that no link can carry.
    fn check_load(&self, config: &WorkloadConfig) -> Result<(), Diagnostic> {
        let found = overload(std::slice::from_ref(config), self.context.network, self.context.transports);
        match (found, self.first(&["load", "rate", "rate_per_host", "period"])) {
            (Some(Overload { busiest: Busiest { link, load }, .. }), Some(value)) => {
                let problem = format!("{link} would have to carry {:.1}% of the rate, headers included", 100.0 * load);
                Err(value.error(problem, "give less, or allow_overload = true"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a plan that no memory can hold.
    fn check_count(&self, config: &WorkloadConfig) -> Result<(), Diagnostic> {
        let flows = self.expected_flows(config);
        match self.first(&["load", "rate", "rate_per_host", "every", "period", "count", "sessions", "kind"]) {
            Some(value) if flows.is_nan() || flows > MOST_FLOWS => {
                let remedy = format!("give a lower rate or a shorter time: at most {MOST_FLOWS:.0}");
                Err(value.error(format!("this workload would have some {flows:.0} flows"), remedy))
            }
            _ => Ok(()),
        }
    }

    /// About how many flows the workload plans.
    fn expected_flows(&self, config: &WorkloadConfig) -> f64 {
        let racks = &self.hosts.racks;
        let span = config.stop.since(config.start).ps() as f64;
        let seconds = span / PS_PER_SECOND as f64;
        let members =
            |hosts: &Option<Vec<u32>>| hosts.as_ref().map_or(f64::from(racks.hosts()), |hosts| hosts.len() as f64);
        let rounds = |every: &Option<Duration>| every.map_or(1.0, |every| (span / every.ps() as f64).ceil());
        match &config.kind {
            WorkloadKind::Poisson(own) => {
                let defaults = crate::transport::Common::default();
                let transport = self.context.transports.get(usize::from(config.transport));
                let packets = transport.map_or(&defaults, |(_, transport)| &transport.common);
                own.rates(&Destinations::new(&own.pattern, racks), racks, packets).iter().sum::<f64>() * seconds
            }
            WorkloadKind::Incast(own) => {
                let queries = if own.arrivals == Arrivals::Once { 1.0 } else { own.rate_per_host * seconds };
                members(&own.pattern.from) * queries * f64::from(own.fan_in) * 2.0
            }
            WorkloadKind::AllToAll(own) => members(&own.hosts).powi(2) * rounds(&own.every),
            WorkloadKind::AllReduce(own) => {
                let hosts = members(&own.hosts);
                let of_round = match own.algorithm {
                    Algorithm::Ring => 2.0 * hosts * hosts,
                    Algorithm::DoubleBinaryTree => 4.0 * hosts * f64::from(own.chunks),
                };
                of_round * rounds(&own.every)
            }
            WorkloadKind::OnOff(own) => members(&own.pattern.from) * rounds(&Some(own.period)),
            WorkloadKind::LongLived(own) => match &own.pairs {
                Pairs::Given(pairs) => pairs.len() as f64 * f64::from(own.count),
                Pairs::Drawn(pattern) => members(&pattern.from) * f64::from(own.count),
            },
            WorkloadKind::RequestResponse(own) => members(&own.clients) * f64::from(own.sessions),
            WorkloadKind::Permutation(_) | WorkloadKind::Csv(_) => 0.0,
        }
    }
}

/// A number above zero.
fn positive(value: &Value<'_>) -> Result<f64, Diagnostic> {
    let number = value.real()?;
    if number > 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err(value.error(format!("{number} is not above 0"), "give a number above 0"))
    }
}

/// A time above zero.
fn period(value: &Value<'_>) -> Result<Duration, Diagnostic> {
    let span = value.duration()?;
    if span == Duration::ZERO {
        return Err(value.error("the time between two of them is 0", "give a time such as \"1ms\""));
    }
    Ok(span)
}
