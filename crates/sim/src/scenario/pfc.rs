//! The tables `[ingress]` and `[pfc]`: switches that pause their senders.

use super::{NicSetup, SwitchSetup};
use crate::network::NetworkPlan;
use crate::pause::CLASSES;
use crate::routing::Ports;
use forebay_settings::check::if_set;
use forebay_settings::{Diagnostic, IngressFile, Table, read_settings, setting_keys};
use forebay_tm::described::Wrong;
use forebay_tm::trim::TrimConfig;
use forebay_tm::{Duration, MmuConfig, ValidConfig, settings, words};

/// The ingress side of a switch, and how it pauses.
#[derive(Clone, Debug, PartialEq)]
pub struct IngressSetup {
    /// Pools, ports and groups, and the group of each queue.
    pub file: IngressFile,
    /// How it pauses, and how it is paused.
    pub pfc: PfcSetup,
}

impl IngressSetup {
    /// The classes whose packets a group counts, as bits: all if ports have one queue.
    pub(crate) fn classes_of(&self, group: u8) -> u8 {
        if self.file.of_queue.len() == 1 {
            return u8::MAX;
        }
        let classes = self.file.of_queue.iter().take(CLASSES).enumerate().filter(|(_, of)| **of == group);
        classes.fold(0, |mask, (class, _)| mask | 1 << class)
    }
}

/// Priority flow control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PfcSetup {
    /// How long a frame pauses, in quanta of 512 bit times.
    pub quanta: u16,
    /// A frame is sent again while a group stays paused, after this share of its quanta in percent.
    pub refresh: u8,
    /// From the end of a frame to what it does.
    pub response: Duration,
    /// How often the run looks for deadlocks.
    pub deadlock_interval: Duration,
    /// What sees to classes that stay paused.
    pub watchdog: Option<WatchdogSetup>,
}

impl Default for PfcSetup {
    fn default() -> Self {
        let PfcKeys { quanta, refresh, response, deadlock_interval, .. } = PfcKeys::default();
        Self { quanta, refresh, response, deadlock_interval, watchdog: None }
    }
}

/// The PFC watchdog of a switch's ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchdogSetup {
    /// A class that has packets and was paused for so long without a break is in a storm.
    pub detect: Duration,
    /// The storm is over when the class has not been paused for so long.
    pub restore: Duration,
    /// What happens to its packets meanwhile.
    pub action: WatchdogAction,
}

/// What a watchdog does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogAction {
    /// Packets of the class are dropped.
    Drop,
    /// Packets of the class are sent as if it were not paused.
    Forward,
    /// The storm is only told.
    Report,
}

words! {
    WatchdogAction { Drop = "drop", Forward = "forward", Report = "report" }
}

settings! {
    /// The table `[pfc]` as files have it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PfcKeys {
        /// How long a frame pauses, in units of 512 bit times.
        pub quanta: u16 = u16::MAX; pauses_for,
        /// A frame is sent again after this share of its quanta, in percent.
        pub refresh: u8 = 50; is_percent,
        /// From the end of a frame's arrival to its effect, at switches and hosts.
        pub response: Duration = Duration::ZERO,
        /// How often the run looks for deadlocks; it also looks at its end.
        pub deadlock_interval: Duration = Duration::from_us(100); goes_on,
        /// After this time of pause the watchdog sees a storm; without this there is no watchdog,
        /// or that of the SONiC configuration.
        pub detect: Option<Duration> = None; if_set(detects),
        /// The storm is over after this time without pause; default: that of `detect`.
        pub restore: Option<Duration> = None,
        /// In a storm: `"drop"` drops the class's packets, `"forward"` sends them although the class is paused,
        /// `"report"` only tells; default `"drop"`.
        pub action: Option<WatchdogAction> = None,
    }
}

fn pauses_for(quanta: &u16) -> Result<(), Wrong> {
    if *quanta > 0 { Ok(()) } else { Err(Wrong::new("a frame of no quanta resumes", "give 1 to 65535")) }
}

fn is_percent(refresh: &u8) -> Result<(), Wrong> {
    if (1..=100).contains(refresh) {
        return Ok(());
    }
    Err(Wrong::new("this is no share of the quanta in percent", "give 1 to 100"))
}

fn goes_on(interval: &Duration) -> Result<(), Wrong> {
    if *interval > Duration::ZERO {
        return Ok(());
    }
    Err(Wrong::new("the run would never go on", "give a time such as \"100us\""))
}

fn detects(time: &Duration) -> Result<(), Wrong> {
    if *time > Duration::ZERO {
        return Ok(());
    }
    Err(Wrong::new("every pause would be a storm", "give a time such as \"200ms\""))
}

/// Reads `[pfc]`.
pub(super) fn read(root: &Table<'_>) -> Result<PfcSetup, Diagnostic> {
    let Some(table) = root.table("pfc")? else { return Ok(PfcSetup::default()) };
    table.allow(&setting_keys(PfcKeys::FIELDS), |_| false, "")?;
    let mut keys = PfcKeys::default();
    read_settings(&table, &mut keys)?;
    if let Some(key) = ["restore", "action"].into_iter().find(|key| keys.detect.is_none() && table.has(key)) {
        let problem = "the watchdog needs a time after which it sees a storm";
        return Err(table.key_error(key, problem, "add detect = \"200ms\""));
    }
    let PfcKeys { quanta, refresh, response, deadlock_interval, detect, restore, action } = keys;
    let watchdog = |detect| WatchdogSetup {
        detect,
        restore: restore.unwrap_or(detect),
        action: action.unwrap_or(WatchdogAction::Drop),
    };
    Ok(PfcSetup { quanta, refresh, response, deadlock_interval, watchdog: detect.map(watchdog) })
}

impl From<&PfcSetup> for PfcKeys {
    fn from(setup: &PfcSetup) -> Self {
        let PfcSetup { quanta, refresh, response, deadlock_interval, watchdog } = *setup;
        Self {
            quanta,
            refresh,
            response,
            deadlock_interval,
            detect: watchdog.map(|watchdog| watchdog.detect),
            restore: watchdog.map(|watchdog| watchdog.restore),
            action: watchdog.map(|watchdog| watchdog.action),
        }
    }
}

/// Reads the ingress side of a switch.
pub(super) fn ingress(
    level: &Table<'_>,
    table: &Table<'_>,
    switch: &str,
    buffers: &[ValidConfig],
    pfc: &PfcSetup,
) -> Result<IngressSetup, Diagnostic> {
    let refuse = |problem: String, remedy: &str| level.locate("ingress", problem, remedy);
    let [buffer] = buffers else {
        let remedy = "remove ports_per_buffer; ingress.partitions divides the memory";
        return Err(refuse(format!("switch {switch} has several buffers"), remedy));
    };
    let file = forebay_settings::read_ingress(table, buffer)?;
    let config = MmuConfig { switch: (**buffer).clone(), ingress: file.config.clone() };
    config.validate().map_err(|error| {
        let field = error.field.strip_prefix("ingress.").unwrap_or(error.field);
        table.locate(field, format!("{}: {}", error.value, error.problem), &error.remedy)
    })?;
    checked(file, switch, buffer, pfc, refuse)
}

/// Checks that a simulated switch can have such an ingress side; `refuse` says where it is from.
pub(super) fn checked(
    file: IngressFile,
    switch: &str,
    buffer: &ValidConfig,
    pfc: &PfcSetup,
    refuse: impl Fn(String, &str) -> Diagnostic,
) -> Result<IngressSetup, Diagnostic> {
    if let Some(TrimConfig::Ndp(_) | TrimConfig::SourceFlowControl(_)) = buffer.trim {
        let problem = format!("switch {switch} has queues of headers, or returns packets to their senders");
        return Err(refuse(problem, "give [trim] kind = \"to-queue\", \"cut-payload\" or \"none\""));
    }
    for port in 0..buffer.rates.len() {
        for (queue, number) in file.of_queue.iter().enumerate() {
            let group = file.config.groups.iter().find(|group| group.port == port && group.number == *number);
            let Some(group) = group else {
                let problem =
                    format!("port {port} of switch {switch} has no group {number}, which queue {queue} is in");
                let remedy = "add it to the groups of an [[ingress.group]], or change of_queue";
                return Err(refuse(problem, remedy));
            };
            if group.lossless.is_some() && queue >= CLASSES {
                let problem = format!("queue {queue} is lossless, and frames speak of classes 0 to {}", CLASSES - 1);
                return Err(refuse(problem, "let lossless classes have low numbers"));
            }
        }
    }
    Ok(IngressSetup { file, pfc: pfc.clone() })
}

/// Whether a switch pauses at any port.
pub(super) fn pauses(setup: &SwitchSetup) -> bool {
    setup.ingress.as_ref().is_some_and(|side| side.file.config.groups.iter().any(|group| group.lossless.is_some()))
}

/// What hosts of a network that pauses have in front of their links, if it is one.
pub(super) fn nic(root: &Table<'_>, setups: &[SwitchSetup], queues: usize) -> Result<Option<NicSetup>, Diagnostic> {
    if !setups.iter().any(pauses) {
        return Ok(None);
    }
    if root.has("nic") {
        let problem = "hosts of a network that pauses have queues of their own, which can be paused";
        return Err(root.key_error("nic", problem, "remove [nic]"));
    }
    Ok(Some(NicSetup::Lossless { pfc: read(root)?, classes: queues }))
}

/// Checks that whoever is asked for pause knows what that is.
pub(super) fn check_peers(
    root: &Table<'_>,
    plan: &NetworkPlan,
    ports: &Ports,
    setups: &[SwitchSetup],
) -> Result<(), Diagnostic> {
    for (index, _) in setups.iter().enumerate().filter(|(_, setup)| pauses(setup)) {
        let peers = ports.of(plan.switch_node(index)).iter().map(|port| port.peer);
        for peer in peers.filter(|peer| !plan.is_host(*peer)) {
            if setups[peer as usize - plan.hosts.len()].ingress.is_none() {
                let (name, peer) = (&plan.switches[index].name, plan.name(peer));
                let problem = format!("switch {name} would pause switch {peer}, which has no ingress side");
                return Err(root.locate("ingress", problem, "give both [ingress]"));
            }
        }
    }
    if root.has("pfc") && !setups.iter().any(pauses) {
        let remedy = "add headroom to an [[ingress.group]], or remove [pfc]";
        return Err(root.key_error("pfc", "no switch has a lossless group", remedy));
    }
    Ok(())
}
