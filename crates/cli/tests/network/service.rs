//! A live switch as a service: it says when it is ready, and reads its file again when it is told to.

use crate::switch::{Switch, file, live, network};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

/// Messages to the service manager, until one has a word.
fn until_told(manager: &UnixDatagram, word: &str) -> String {
    let mut room = [0; 4_096];
    loop {
        let length = manager.recv(&mut room).unwrap_or_else(|error| panic!("waited for {word}: {error}"));
        let text = String::from_utf8_lossy(&room[..length]).into_owned();
        if text.lines().any(|line| line.starts_with(word)) {
            return text;
        }
    }
}

fn signal(switch: &Switch, number: i32) {
    // SAFETY: no memory is involved; the process is a child that has not been waited for.
    assert_eq!(unsafe { libc::kill(switch.child.id() as i32, number) }, 0);
}

#[test]
fn a_service_is_ready_alive_and_reads_its_file_again() {
    let _one = network();
    let (path, out) = file("service", "");
    let socket = Path::new(env!("CARGO_TARGET_TMPDIR")).join("manager.sock");
    let _ = std::fs::remove_file(&socket);
    let manager = UnixDatagram::bind(&socket).unwrap();
    // As systemd's own is: whoever is asked to tell can.
    std::fs::set_permissions(&socket, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut command = live(&path);
    command.env("NOTIFY_SOCKET", &socket).env("WATCHDOG_USEC", "200000");
    let switch = Switch::start_by(&mut command, out);
    until_told(&manager, "READY=1");
    until_told(&manager, "WATCHDOG=1");
    switch.client().set([("policy.alpha", "7.0")]).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let reload = |text: &str| {
        std::fs::write(&path, text).unwrap();
        signal(&switch, libc::SIGHUP);
        assert!(until_told(&manager, "RELOADING=1").contains("MONOTONIC_USEC="));
        (until_told(&manager, "READY=1"), switch.client().settings().unwrap())
    };
    let (said, settings) = reload(&text.replace("alpha = 1.0", "alpha = 4.0"));
    assert!(said.contains("in force") && settings.contains("alpha = 4.0"), "{said}\n{settings}");
    // What cannot be changed is said, and nothing is.
    let (said, settings) = reload(&text.replace("400KB", "500KB"));
    assert!(said.contains("nothing was changed") && settings.contains("alpha = 4.0"), "{said}\n{settings}");
    assert!(switch.says("cannot change while the switch runs"));
    signal(&switch, libc::SIGTERM);
    until_told(&manager, "STOPPING=1");
    let _ = std::fs::remove_file(&socket);
}
