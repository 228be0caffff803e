//! Linux interfaces: what they are called, and whether they are there.

use super::socket::{checked, set_option, socket};
use crate::frame::{ETHERNET, Mac};
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, OwnedFd};

const SIOCETHTOOL: u64 = 0x8946;
const ETHTOOL_GDRVINFO: u32 = 0x3;
const ETHTOOL_GCHANNELS: u32 = 0x3c;
/// Two tags may stand behind the Ethernet header.
const TAGS: usize = 8;

/// An interface that was there when it was looked for.
#[derive(Debug)]
pub struct Interface {
    name: String,
    index: u32,
    /// A socket to ask by.
    asker: OwnedFd,
}

/// How many queues a driver has, as the kernel tells it.
#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    most: [u32; 4],
    receive: u32,
    transmit: u32,
    other: u32,
    combined: u32,
}

/// What a driver says about itself.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    _more: [u8; 160],
}

impl Interface {
    /// Looks for an interface by its name.
    pub fn find(name: &str) -> io::Result<Self> {
        if name.is_empty() || name.len() >= libc::IFNAMSIZ || name.contains(['/', '\0']) {
            let text = format!("`{name}` cannot be the name of an interface: those have 1 to 15 characters and no `/`");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let asker = socket(libc::AF_INET, libc::SOCK_DGRAM)?;
        let mut interface = Self { name: name.to_owned(), index: 0, asker };
        interface.index = interface.current_index()?;
        Ok(interface)
    }

    fn request(&self, command: u64, prepare: impl FnOnce(&mut libc::ifreq)) -> io::Result<libc::ifreq> {
        // SAFETY: the structure is plain numbers and pointers that may be null.
        let mut request: libc::ifreq = unsafe { zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(self.name.bytes()) {
            *to = from as libc::c_char;
        }
        prepare(&mut request);
        // SAFETY: the kernel reads and writes the structure that these commands are for, which lives longer than the
        // call.
        checked(unsafe { libc::ioctl(self.asker.as_raw_fd(), command as libc::Ioctl, &mut request) })?;
        Ok(request)
    }

    fn current_index(&self) -> io::Result<u32> {
        let request = self.request(libc::SIOCGIFINDEX, |_| {})?;
        // SAFETY: the command fills in this member.
        Ok(unsafe { request.ifr_ifru.ifru_ifindex } as u32)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name that it has itself; the one that it was found by may be another one that it goes by, too.
    pub(super) fn own_name(&self) -> io::Result<String> {
        let request = self.request(libc::SIOCGIFNAME, |request| request.ifr_ifru.ifru_ifindex = self.index as i32)?;
        Ok(request.ifr_name.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8 as char).collect())
    }

    /// The kernel's number for it.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Whether it is up.
    pub fn is_up(&self) -> io::Result<bool> {
        let request = self.request(libc::SIOCGIFFLAGS, |_| {})?;
        // SAFETY: the command fills in this member.
        let flags = unsafe { request.ifr_ifru.ifru_flags };
        Ok(i32::from(flags) & libc::IFF_UP != 0)
    }

    /// Bytes of the longest packet that it sends, without Ethernet's header.
    pub fn mtu(&self) -> io::Result<usize> {
        let request = self.request(libc::SIOCGIFMTU, |_| {})?;
        // SAFETY: the command fills in this member.
        Ok(unsafe { request.ifr_ifru.ifru_mtu } as usize)
    }

    /// Bytes of the longest frame, with up to two tags.
    pub fn longest(&self) -> io::Result<usize> {
        Ok(self.mtu()? + ETHERNET + TAGS)
    }

    /// Its address.
    pub fn mac(&self) -> io::Result<Mac> {
        let request = self.request(libc::SIOCGIFHWADDR, |_| {})?;
        // SAFETY: the command fills in this member.
        let address = unsafe { request.ifr_ifru.ifru_hwaddr.sa_data };
        Ok(Mac(std::array::from_fn(|index| address[index] as u8)))
    }

    /// How many queues it receives by; 1 if its driver does not say.
    pub fn receive_queues(&self) -> u32 {
        let mut channels = Channels { command: ETHTOOL_GCHANNELS, ..Channels::default() };
        let data = std::ptr::from_mut(&mut channels).cast();
        match self.request(SIOCETHTOOL, |request| request.ifr_ifru.ifru_data = data) {
            Ok(_) => (channels.receive + channels.combined).max(1),
            Err(_) => 1,
        }
    }

    /// The name of its driver, if it says one.
    pub fn driver(&self) -> Option<String> {
        let mut info = DriverInfo { command: ETHTOOL_GDRVINFO, driver: [0; 32], _more: [0; 160] };
        let data = std::ptr::from_mut(&mut info).cast();
        self.request(SIOCETHTOOL, |request| request.ifr_ifru.ifru_data = data).ok()?;
        let name = info.driver.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(name).into_owned()).filter(|name| !name.is_empty())
    }

    /// An error if it is no longer there, or another one has its name by now, or it is down.
    pub fn check(&self) -> io::Result<()> {
        if self.current_index()? != self.index {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        if !self.is_up()? {
            return Err(io::Error::from_raw_os_error(libc::ENETDOWN));
        }
        Ok(())
    }

    /// Makes it take frames for all addresses for as long as this socket, of family AF_PACKET, is open.
    pub(super) fn listen_to_all(&self, fd: &OwnedFd) -> io::Result<()> {
        // SAFETY: the structure is plain numbers.
        let mut membership: libc::packet_mreq = unsafe { zeroed() };
        membership.mr_ifindex = self.index as i32;
        membership.mr_type = libc::PACKET_MR_PROMISC as u16;
        set_option(fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)
    }
}
