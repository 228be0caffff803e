//! A SONiC configuration as a live switch, between interfaces that have the names of its ports.

use crate::switch::{Switch, ip, live, network, wait_until};
use crate::trimming::{DSCP, SIZE, configuration, dscp, frame, is_whole, network_checksum_is_right};
use forebay_live::backend::{Attacher, Kind};
use forebay_live::pool::Pool;
use forebay_live::port::{Port, Received};
use std::path::Path;
use std::process::Command;

/// The file is taken as `import` has written it; only the rate is one that a test can overload.
#[test]
fn an_imported_configuration_trims_between_interfaces() {
    const FRAMES: u64 = 400;
    let _one = network();
    for port in [0, 4, 8] {
        ip(&format!("link add Ethernet{port} type veth peer name host{port}"));
        ip(&format!("link set Ethernet{port} up"));
        ip(&format!("link set host{port} up"));
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sonic-live");
    let out = directory.join("out");
    std::fs::create_dir_all(&out).unwrap();
    let (config, file) = (directory.join("config.json"), directory.join("live.toml"));
    std::fs::write(&config, configuration().to_string()).unwrap();
    let mut import = Command::new(env!("CARGO_BIN_EXE_forebay"));
    let imported = import.args(["sonic", "import", "--live", "--force", "-o"]).args([&file, &config]).output().unwrap();
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    let mut command = live(&file);
    command.args(["--set", "rate=20Mbps", "--set", "live.backend=packet", "--set"]);
    command.arg(format!("live.out={}", out.display()));
    let switch = Switch::start_by(&mut command, out.clone());

    let mut pool = Pool::new(2_048, 2_048).unwrap();
    let mut attacher = Attacher::new(&pool, 2);
    let mut sender = attacher.attach("host0", Kind::Packet, &mut pool).unwrap();
    let mut receiver = attacher.attach("host8", Kind::Packet, &mut pool).unwrap();
    let mut send = |pool: &mut Pool, by_receiver: bool, frame: &[u8]| {
        let mut slot = pool.take().unwrap();
        pool.bytes_mut(&mut slot, frame.len()).copy_from_slice(frame);
        if by_receiver {
            (receiver.send(pool, slot, frame.len()), receiver.flush(pool).unwrap())
        } else {
            (sender.send(pool, slot, frame.len()), sender.flush(pool).unwrap())
        };
    };
    send(&mut pool, true, &frame(3, 9, 60));
    wait_until("the switch knows the receiver", || switch.snapshot()["total"]["sent"]["packets"] == 2);
    for _ in 0..FRAMES {
        send(&mut pool, false, &frame(1, 3, 1_500));
    }
    let mut received: Vec<Received> = vec![];
    wait_until("all has left", || {
        receiver.receive(&mut pool, &mut received, 64).unwrap();
        let snapshot = switch.snapshot();
        let count = |what: &str| snapshot["total"][what]["packets"].as_u64().unwrap();
        count("offered") >= FRAMES + 2 && count("waiting") == 0 && snapshot["ports"][2]["headers_waiting"] == 0
    });
    let snapshot = switch.client().snapshot().unwrap();
    let total = &snapshot.total;
    assert_eq!(snapshot.books.missing(), 0);
    let trim_drops = total.dropped_by(forebay_tm::Reason::HeaderFull);
    assert!(total.trimmed.packets >= 20 && trim_drops.packets > 0, "{total:?}");
    assert_eq!(total.dropped, trim_drops);
    assert_eq!(total.offered.packets, total.sent.packets + total.trimmed.packets + total.dropped.packets);
    assert_eq!(total.headers_sent.packets, total.trimmed.packets);
    let queues = &snapshot.ports[2].queues;
    assert_eq!(queues[6].counters.headers_sent, total.headers_sent, "by the trim queue");
    assert_eq!(queues[0].counters.trimmed, total.trimmed);
    // The receiver's own frame was flooded to the two others.
    let expected = (total.sent.packets - 2 + total.headers_sent.packets) as usize;
    wait_until("what was sent has come", || {
        receiver.receive(&mut pool, &mut received, 64).unwrap();
        received.len() >= expected
    });
    let frames: Vec<Vec<u8>> = received.iter().map(|frame| pool.bytes(&frame.slot, frame.length).to_vec()).collect();
    let cut: Vec<_> = frames.iter().filter(|frame| frame.len() == SIZE).collect();
    assert_eq!((frames.len(), cut.len() as u64), (expected, total.trimmed.packets));
    assert!(frames.iter().filter(|frame| frame.len() != SIZE).all(|frame| frame.len() == 1_500 && is_whole(frame)));
    assert!(cut.iter().all(|frame| dscp(frame) == DSCP && network_checksum_is_right(frame)));
    for frame in received {
        pool.give(frame.slot);
    }
    sender.close(&mut pool);
    receiver.close(&mut pool);
    assert!(switch.stop());
}
