//! The control socket and its client, with a switch behind it.

use crate::switch;
use forebay_control::client::Client;
use forebay_control::{Server, serve};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::thread::JoinHandle;
use std::time::Duration;

fn open(path: &Path) -> (Server, JoinHandle<()>) {
    let (handle, thread) = switch();
    (serve(handle, None, Some(path.to_owned())).unwrap(), thread)
}

#[test]
fn a_client_looks_changes_and_stops() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("forebay.sock");
    let (server, thread) = open(&path);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left there");
    let mut client = Client::connect(&path).unwrap();
    let snapshot = client.snapshot().unwrap();
    assert_eq!((snapshot.policy.as_str(), snapshot.ports[3].name.as_str()), ("dt", "fb-h4"));
    assert!(client.settings().unwrap().contains("alpha = 1"));
    client.set([("policy.alpha", "0.25"), ("interface.0.rate", "20Mbps")]).unwrap();
    assert!(client.settings().unwrap().contains("alpha = 0.25"));
    let refused = client.set([("policy.alpha", "0.125"), ("policy.kind", "nonsense")]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    assert!(refused.to_string().contains("nonsense"), "{refused}");
    assert!(client.settings().unwrap().contains("alpha = 0.25"), "all or none");
    let mut other = Client::connect(&path).unwrap();
    other.stop().unwrap();
    thread.join().unwrap();
    assert!(client.settings().unwrap_err().to_string().contains("the switch has stopped"));
    server.stop();
    assert!(!path.exists());
    assert!(client.snapshot().is_err());
}

/// Sends bytes and reads all lines that come back.
fn talk(path: &Path, bytes: &[u8]) -> Vec<String> {
    let mut stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(bytes).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    BufReader::new(stream).lines().map(Result::unwrap).collect()
}

#[test]
fn what_is_not_a_request_gets_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let (server, thread) = open(&path);
    let answers = talk(
        &path,
        b"nonsense\n{}\n[]\n{\"get\":\"x\"}\n{\"stop\":false}\n{\"set\":{}}\n{\"get\":\"snapshot\",\"stop\":true}\n\xff\n{\"get\":\"keys\"}\n",
    );
    assert_eq!(answers.len(), 9);
    assert!(answers[..8].iter().all(|answer| answer.starts_with("{\"error\":")), "{answers:#?}");
    assert!(answers[8].starts_with("{\"keys\":[{\"key\":\"policy.kind\",\"value\":\"dt\""), "{}", answers[8]);
    let mut long = vec![b' '; 70_000];
    long.push(b'\n');
    assert_eq!(talk(&path, &long), ["{\"error\":\"this line is longer than 65536 bytes\"}"]);
    let deep = [vec![b'['; 60_000], vec![b'\n']].concat();
    assert!(talk(&path, &deep)[0].contains("this is not JSON"));
    assert!(Client::connect(&path).unwrap().snapshot().is_ok());
    Client::connect(&path).unwrap().stop().unwrap();
    thread.join().unwrap();
    server.stop();
}

#[test]
fn too_many_clients_are_told_so_and_the_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let (_server, _thread) = open(&path);
    let mut clients: Vec<Client> = (0..16).map(|_| Client::connect(&path).unwrap()).collect();
    clients.iter_mut().for_each(|client| assert!(client.snapshot().is_ok()));
    let refused = Client::connect(&path).unwrap().snapshot().unwrap_err().to_string();
    assert!(
        refused.contains("too many clients") || refused.contains("roken pipe") || refused.contains("reset"),
        "{refused}"
    );
    assert!(clients[15].snapshot().is_ok());
}

/// Clients that only hold their places do not keep the owner out.
#[test]
fn idle_clients_make_room() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let (_server, _thread) = open(&path);
    let mut idle: Vec<UnixStream> = (0..16).map(|_| UnixStream::connect(&path).unwrap()).collect();
    // One of them has begun a line that it never ends.
    idle[0].write_all(b"{\"get\"").unwrap();
    std::thread::sleep(Duration::from_millis(2_300));
    let mut owner = Client::connect(&path).unwrap();
    owner.snapshot().unwrap();
    Client::connect(&path).unwrap().snapshot().unwrap();
    // Who talks is not sent away.
    owner.snapshot().unwrap();
}

#[test]
fn the_socket_of_the_dead_is_replaced_and_that_of_the_living_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "as after a crash");
    let (server, _thread) = open(&path);
    let (handle, _other) = switch();
    let error = serve(handle.clone(), None, Some(path.clone())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert!(Client::connect(&path).unwrap().snapshot().is_ok(), "the first still answers");
    // Somebody else's file is left alone at the end.
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "mine").unwrap();
    server.stop();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    let error = serve(handle.clone(), None, Some(path)).unwrap_err();
    assert!(error.to_string().contains("no socket"), "{error}");
    let missing = serve(handle, None, Some(dir.path().join("no/such/s"))).unwrap_err();
    assert!(missing.to_string().contains("no/such/s"), "{missing}");
}

/// Even with a file that all may use, another user is sent away. Needs root, to be somebody else.
#[test]
fn another_user_is_sent_away() {
    const NAME: &str = "FOREBAY_TEST_SOCKET";
    const NOBODY: u32 = 65_534;
    if let Some(path) = std::env::var_os(NAME) {
        let error = Client::connect(Path::new(&path)).unwrap().snapshot().unwrap_err().to_string();
        assert!(error.contains("only the owner"), "{error}");
        return;
    }
    if forebay_live::peer::own_user() != 0 {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let all = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    all(dir.path());
    let path = dir.path().join("s");
    let (_server, _thread) = open(&path);
    all(&path);
    let program = dir.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    all(&program);
    let ended = Command::new(&program)
        .args(["--exact", "control_socket::another_user_is_sent_away", "--nocapture"])
        .env(NAME, &path)
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&ended.stderr));
}
