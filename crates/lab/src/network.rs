//! Namespaces, cables and the settings of hosts: made, found again, and removed.

use crate::error::{self, Result};
use crate::layout::{INTERFACE, Layout, Peer, is_ours, mac};
use crate::program::{need, need_root, run, script};
use forebay_tm::{Duration, Rate};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration as Span, Instant};

/// How the hosts' kernels behave.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSettings {
    /// The congestion control of all connections; none: each chooses.
    pub congestion_control: Option<String>,
    /// Connections ask for ECN.
    pub ecn: bool,
    /// The first window in packets, if it is not the kernel's.
    pub initial_window: Option<u32>,
    /// The shortest retransmission timeout, if it is not the kernel's 200 ms.
    pub rto_min: Option<Duration>,
    /// The largest payload of a segment, if it is not that of the interface.
    pub mss: Option<u32>,
    /// Hosts send no faster than their links.
    pub paced: bool,
    /// A pause makes the window small again.
    pub idle_restart: bool,
    /// Bytes that sockets have for what they send and receive from the start, if these are not the kernel's own, which
    /// grow.
    pub socket_memory: Option<u64>,
    /// There are addresses fd00::1 and so on, too.
    pub ipv6: bool,
}

impl Default for HostSettings {
    fn default() -> Self {
        Self {
            congestion_control: None,
            ecn: false,
            initial_window: None,
            rto_min: None,
            mss: None,
            paced: true,
            idle_restart: false,
            socket_memory: None,
            ipv6: false,
        }
    }
}

/// Where a lab keeps its files while it is up.
pub fn state_directory(prefix: &str) -> PathBuf {
    Path::new("/run/forebay-lab").join(prefix)
}

/// As long as this is there, nobody else changes the lab with the same prefix.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes hold of a lab, or says that someone else has it.
pub fn lock(prefix: &str) -> Result<Lock> {
    need_root()?;
    let directory = state_directory(prefix);
    std::fs::create_dir_all(&directory).map_err(|error| error::of_file(&directory, "make", &error))?;
    let path = directory.with_extension("lock");
    let file = File::create(&path).map_err(|error| error::of_file(&path, "write", &error))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock { _file: file }),
        Err(_) => Err(error::problem(
            format_args!("another forebay is at work in the lab \"{prefix}\""),
            "wait for it, or give another --prefix",
        )),
    }
}

fn signature_path(prefix: &str) -> PathBuf {
    state_directory(prefix).join("layout")
}

fn signature(layout: &Layout) -> String {
    format!("{layout:?}\n")
}

/// Makes the namespaces and cables of a lab, unless they are there; then sets the hosts. Returns whether they were
/// there.
pub fn up(layout: &Layout, settings: &HostSettings, _held: &Lock) -> Result<bool> {
    need_root()?;
    need(&["ip", "tc", "ethtool"])?;
    let path = signature_path(&layout.prefix);
    let there = namespaces(&layout.prefix)?;
    let same = std::fs::read_to_string(&path).is_ok_and(|text| text == signature(layout));
    let is_up = same && layout.namespaces().all(|name| there.iter().any(|own| own == name)) && cables_are_there(layout);
    if !is_up {
        remove(&layout.prefix)?;
        make(layout)?;
    }
    for number in 0..layout.hosts.len() {
        set_host(layout, number, settings)?;
    }
    std::fs::write(&path, signature(layout)).map_err(|error| error::of_file(&path, "write", &error))?;
    Ok(is_up)
}

/// Whether every port of every switch is there.
fn cables_are_there(layout: &Layout) -> bool {
    layout.switches.iter().all(|switch| {
        run("ip", &["-n", &switch.namespace, "-o", "link"], "").is_ok_and(|list| {
            let has = |name: &str| list.contains(&format!(": {name}@")) || list.contains(&format!(": {name}:"));
            switch.ports.iter().all(|port| has(&port.interface))
        })
    })
}

/// The namespaces of a lab that are there.
pub fn namespaces(prefix: &str) -> Result<Vec<String>> {
    let list = run("ip", &["netns", "list"], "")?;
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    Ok(names.filter(|name| is_ours(prefix, name)).map(str::to_owned).collect())
}

fn make(layout: &Layout) -> Result<()> {
    let mut batch = String::new();
    for namespace in layout.namespaces() {
        let _ = writeln!(batch, "netns add {namespace}");
    }
    run("ip", &["-batch", "-"], &batch)?;
    // Names in a batch are looked up when it starts: cables come after.
    let mut batch = String::new();
    for (number, switch) in layout.switches.iter().enumerate() {
        for port in &switch.ports {
            let (interface, namespace) = match port.peer {
                Peer::Host(host) => (INTERFACE, &layout.hosts[host].namespace),
                Peer::Switch(other, far) if other > number => {
                    let other = &layout.switches[other];
                    (other.ports[far].interface.as_str(), &other.namespace)
                }
                Peer::Switch(..) => continue,
            };
            let (own, at) = (&port.interface, &switch.namespace);
            let _ = writeln!(batch, "link add {own} netns {at} type veth peer name {interface} netns {namespace}");
        }
    }
    run("ip", &["-batch", "-"], &batch)?;
    for number in 0..layout.switches.len() {
        set_switch(layout, number)?;
    }
    Ok(())
}

/// What every interface needs: nothing is left to hardware that is not there, or TCP never connects.
fn interface_lines(name: &str, mac: &str) -> String {
    format!(
        "ip link set dev {name} address {mac} txqueuelen 1000 mtu 1500\n\
         ethtool -K {name} tx off rx off sg off tso off gso off gro off txvlan off rxvlan off tx-vlan-stag-hw-insert off rx-vlan-stag-hw-parse off >/dev/null\n\
         ip link set dev {name} up\n"
    )
}

const NO_IPV6: &str = "echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6\n\
                       echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6\n";

fn set_switch(layout: &Layout, number: usize) -> Result<()> {
    let switch = &layout.switches[number];
    let mut lines = format!("{NO_IPV6}ip link set dev lo up\n");
    for (place, port) in switch.ports.iter().enumerate() {
        lines.push_str(&interface_lines(&port.interface, &mac(2, number, place)));
    }
    script(&switch.namespace, &lines).map(drop)
}

/// The qdisc that lets a link's rate pass and no more.
fn pace(interface: &str, rate: Rate, limit: &str) -> String {
    format!("tc qdisc replace dev {interface} root tbf rate {}bit burst 3028 limit {limit}\n", rate.bps())
}

fn set_host(layout: &Layout, number: usize, settings: &HostSettings) -> Result<()> {
    let host = &layout.hosts[number];
    let mut lines = String::new();
    if settings.ipv6 {
        lines.push_str("echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6\n");
        lines.push_str("echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad\n");
    } else {
        lines.push_str(NO_IPV6);
    }
    for (key, value) in [
        ("tcp_ecn", if settings.ecn { "1" } else { "2" }),
        ("tcp_slow_start_after_idle", if settings.idle_restart { "1" } else { "0" }),
        ("tcp_no_metrics_save", "1"),
        ("tcp_reflect_tos", "1"),
    ] {
        let _ = writeln!(lines, "echo {value} >/proc/sys/net/ipv4/{key}");
    }
    for key in ["tcp_rmem", "tcp_wmem"] {
        let own = || std::fs::read_to_string(format!("/proc/sys/net/ipv4/{key}")).unwrap_or_default();
        let sizes = settings.socket_memory.map_or_else(own, |bytes| format!("4096 {bytes} {bytes}"));
        if !sizes.is_empty() {
            let _ = writeln!(lines, "echo {} >/proc/sys/net/ipv4/{key}", sizes.trim());
        }
    }
    lines.push_str("ip link set dev lo up\n");
    lines.push_str(&interface_lines(INTERFACE, &host.mac(number)));
    if settings.paced {
        lines.push_str(&pace(INTERFACE, host.rate, "8M"));
    } else {
        let _ = writeln!(lines, "tc qdisc delete dev {INTERFACE} root 2>/dev/null || true");
    }
    let bits = if layout.is_routed() { 32 } else { 24 };
    let address = host.address;
    let _ = writeln!(lines, "ip addr replace {address}/{bits} dev {INTERFACE}");
    if settings.ipv6 {
        let _ = writeln!(lines, "ip -6 addr replace fd00::{:x}/64 dev {INTERFACE} nodad", number + 1);
    }
    let mut options = String::new();
    if let Some(control) = &settings.congestion_control {
        // The kernel's own default cannot be set to every congestion control in a namespace; a route's can.
        let _ = write!(options, " congctl {control}");
    }
    if let Some(window) = settings.initial_window {
        let _ = write!(options, " initcwnd {window}");
    }
    if let Some(rto) = settings.rto_min {
        let _ = write!(options, " rto_min {}ms", rto.ps().div_ceil(1_000_000_000));
    }
    if let Some(mss) = settings.mss {
        let _ = write!(options, " advmss {mss}");
    }
    if layout.is_routed() {
        let [_, _, leaf, _] = address.octets();
        let gateway = format!("10.0.{leaf}.254");
        let port = layout.port_to(host.switch, number).unwrap_or_default();
        let gateway_mac = mac(2, host.switch, port);
        let _ = writeln!(lines, "ip neigh replace {gateway} lladdr {gateway_mac} dev {INTERFACE} nud permanent");
        let _ =
            writeln!(lines, "ip route replace 10.0.0.0/16 via {gateway} dev {INTERFACE} onlink src {address}{options}");
    } else {
        for (other, far) in layout.hosts.iter().enumerate().filter(|(other, _)| *other != number) {
            let (to, far_mac) = (far.address, far.mac(other));
            let _ = writeln!(lines, "ip neigh replace {to} lladdr {far_mac} dev {INTERFACE} nud permanent");
            if settings.ipv6 {
                let to = format!("fd00::{:x}", other + 1);
                let _ = writeln!(lines, "ip -6 neigh replace {to} lladdr {far_mac} dev {INTERFACE} nud permanent");
            }
        }
        let _ = writeln!(lines, "ip route replace 10.0.0.0/24 dev {INTERFACE} src {address}{options}");
    }
    script(&host.namespace, &lines).map(drop)
}

/// Makes a Linux bridge of a switch's ports, each paced to its rate with this much of a queue in bytes.
pub fn bridge(layout: &Layout, queue: u64) -> Result<()> {
    for switch in &layout.switches {
        let mut lines =
            "ip link show br0 >/dev/null 2>&1 || ip link add br0 type bridge\nip link set dev br0 up\n".to_owned();
        for port in &switch.ports {
            let _ = writeln!(lines, "ip link set dev {} master br0", port.interface);
            lines.push_str(&pace(&port.interface, port.rate, &queue.to_string()));
        }
        script(&switch.namespace, &lines)?;
    }
    Ok(())
}

/// Ends the processes in the namespaces of a lab and removes all of it, whatever state it is in. Returns how many
/// namespaces there were.
pub fn down(prefix: &str, _held: &Lock) -> Result<usize> {
    let removed = remove(prefix)?;
    let directory = state_directory(prefix);
    match std::fs::remove_dir_all(&directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error::of_file(&directory, "remove", &error)),
        _ => Ok(removed),
    }
}

fn remove(prefix: &str) -> Result<usize> {
    let found = namespaces(prefix)?;
    end_processes(&found)?;
    for namespace in &found {
        run("ip", &["netns", "delete", namespace], "")?;
    }
    Ok(found.len())
}

/// Asks all processes in namespaces to end, waits, and ends those that did not.
fn end_processes(namespaces: &[String]) -> Result<()> {
    let alive = || -> Result<Vec<Pid>> {
        let mut pids = Vec::new();
        for namespace in namespaces {
            let list = run("ip", &["netns", "pids", namespace], "")?;
            pids.extend(list.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)));
        }
        Ok(pids)
    };
    for (signal, patience) in [(Signal::TERM, Span::from_secs(5)), (Signal::KILL, Span::from_secs(5))] {
        for pid in alive()? {
            // One that has ended meanwhile needs no signal.
            let _ = kill_process(pid, signal);
        }
        let end = Instant::now() + patience;
        while !alive()?.is_empty() {
            if Instant::now() > end {
                break;
            }
            std::thread::sleep(Span::from_millis(20));
        }
    }
    match alive()?.first() {
        None => Ok(()),
        Some(pid) => Err(error::problem(
            format_args!("process {} in the lab does not end", pid.as_raw_nonzero()),
            "end it, and give the command again",
        )),
    }
}

/// What the kernel of a host has counted for TCP, IP and UDP since its namespace was made, by the names that `nstat`
/// gives.
pub fn host_counters(namespace: &str) -> Result<Vec<(String, i64)>> {
    let text = script(namespace, "cat /proc/net/snmp /proc/net/netstat\n")?;
    let mut counters = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.chunks(2) {
        let [names, values] = pair else { continue };
        let kind = names.split(':').next().unwrap_or_default();
        for (name, value) in names.split_whitespace().skip(1).zip(values.split_whitespace().skip(1)) {
            if let Ok(value) = value.parse() {
                counters.push((format!("{kind}{name}"), value));
            }
        }
    }
    Ok(counters)
}
