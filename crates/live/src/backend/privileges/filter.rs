//! The system calls that a switch makes. Any other one fails with EPERM, for good, in the thread and in those that it
//! starts.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;
use std::io;

/// What all threads may call: memory, threads, time, and what is open already; files, in which permissions decide.
const COMMON: &[i64] = &[
    libc::SYS_accept4,
    libc::SYS_brk,
    libc::SYS_capget,
    libc::SYS_capset,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_close,
    libc::SYS_connect,
    libc::SYS_dup,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fchmod,
    libc::SYS_fcntl,
    libc::SYS_fdatasync,
    libc::SYS_fstat,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpeername,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_ioctl,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_prctl,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_renameat2,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_seccomp,
    libc::SYS_sendmmsg,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_set_robust_list,
    libc::SYS_setpriority,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    libc::SYS_sigaltstack,
    libc::SYS_statx,
    libc::SYS_tgkill,
    libc::SYS_unlinkat,
    libc::SYS_write,
    libc::SYS_writev,
];

/// The same calls by the names that only this architecture still has.
#[cfg(target_arch = "x86_64")]
const OLDER: &[i64] = &[
    libc::SYS_chmod,
    libc::SYS_lstat,
    libc::SYS_open,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_stat,
    libc::SYS_unlink,
];
#[cfg(target_arch = "aarch64")]
const OLDER: &[i64] = &[libc::SYS_renameat];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OLDER: &[i64] = &[];

/// What it takes beside that to attach to interfaces.
const ATTACH: &[i64] = &[libc::SYS_bind, libc::SYS_bpf, libc::SYS_flock];

/// Families of sockets that all threads may make: to tell the service manager that the switch is ready, and to ask the
/// kernel who is at the other end.
const FAMILIES: [i32; 2] = [libc::AF_UNIX, libc::AF_NETLINK];

fn failed(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("no filter of system calls: {error}"))
}

/// The filter of a thread, which may attach to interfaces or not.
fn program(may_attach: bool) -> io::Result<BpfProgram> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = COMMON.iter().chain(OLDER).map(|call| (*call, vec![])).collect();
    if may_attach {
        rules.extend(ATTACH.iter().chain(&[libc::SYS_socket]).map(|call| (*call, vec![])));
    } else {
        let of_family = |family: i32| {
            let is = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, family as u64)?;
            SeccompRule::new(vec![is])
        };
        let families = FAMILIES.map(of_family).into_iter().collect::<Result<_, _>>().map_err(failed)?;
        rules.insert(libc::SYS_socket, families);
    }
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let architecture = std::env::consts::ARCH.try_into().map_err(failed)?;
    SeccompFilter::new(rules, refuse, SeccompAction::Allow, architecture).map_err(failed)?.try_into().map_err(failed)
}

/// From now on this thread and those that it starts make no other calls.
pub(super) fn install(may_attach: bool) -> io::Result<()> {
    seccompiler::apply_filter(&program(may_attach)?).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In threads of their own, since a filter stays.
    #[test]
    fn other_calls_are_refused() {
        for may_attach in [false, true] {
            let refused = std::thread::spawn(move || {
                super::super::capabilities::bound(rustix::thread::CapabilitySet::empty()).unwrap();
                install(may_attach).unwrap();
                // SAFETY: no memory is involved; the numbers are no descriptors, and what would do harm is refused.
                let errors = unsafe {
                    [
                        libc::syscall(libc::SYS_ptrace, 0, 0, 0, 0),
                        libc::syscall(libc::SYS_kill, 0, 0),
                        libc::syscall(libc::SYS_setresuid, 0, 0, 0),
                        libc::syscall(libc::SYS_execve, 0, 0, 0),
                        libc::syscall(libc::SYS_unshare, 0),
                        libc::syscall(libc::SYS_bpf, -1, 0, 0),
                        i64::from(libc::socket(libc::AF_PACKET, libc::SOCK_STREAM, 0)),
                    ]
                    .map(|result| (result, io::Error::last_os_error().raw_os_error()))
                };
                let file = std::fs::read("/proc/self/status").is_ok();
                (errors.map(|(result, _)| result), file, io::Error::last_os_error().raw_os_error())
            });
            let (results, file, _) = refused.join().unwrap();
            assert!(results.iter().all(|result| *result == -1) && file, "{results:?}");
        }
    }

    #[test]
    fn what_is_refused_says_so() {
        let refused = std::thread::spawn(|| {
            super::super::capabilities::bound(rustix::thread::CapabilitySet::empty()).unwrap();
            install(false).unwrap();
            // SAFETY: no memory is involved.
            let result = unsafe { libc::syscall(libc::SYS_unshare, 0) };
            (result, io::Error::last_os_error().raw_os_error())
        });
        assert_eq!(refused.join().unwrap(), (-1, Some(libc::EPERM)));
    }
}
