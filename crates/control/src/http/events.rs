//! Server-sent events: every snapshot, as it is shown.

use super::response::{Status, head};
use super::routes::Routes;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Clients that watch at a time. The other connections are left for those who ask.
const MOST: usize = 16;
/// Without a snapshot for so long, a comment is sent, which tells whether anybody is there.
const SILENCE: Duration = Duration::from_millis(250);

/// The places for those who watch.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions(Arc<()>);

/// A place, until it is dropped.
pub(crate) struct Subscription {
    _taken: Arc<()>,
}

impl Subscriptions {
    pub(crate) fn take(&self) -> Option<Subscription> {
        let taken = Arc::clone(&self.0);
        // One is the list's own.
        (Arc::strong_count(&taken) - 1 <= MOST).then_some(Subscription { _taken: taken })
    }
}

impl Subscription {
    /// Sends snapshots until nobody takes them.
    pub(crate) fn send(self, routes: &Routes, mut send: impl FnMut(&[u8]) -> io::Result<()>) {
        let mut last = 0;
        let mut sent = send(&head(Status::Ok, "Content-Type: text/event-stream\r\n", false));
        while sent.is_ok() {
            sent = match routes.newer_than(last, SILENCE) {
                Some((sequence, text)) => {
                    last = sequence;
                    send(format!("id: {sequence}\ndata: {text}\n\n").as_bytes())
                }
                None => send(b": waiting\n\n"),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_few_and_come_back() {
        let seats = Subscriptions::default();
        let taken: Vec<Subscription> = std::iter::from_fn(|| seats.take()).take(MOST + 5).collect();
        assert_eq!(taken.len(), MOST);
        drop(taken);
        assert!(seats.take().is_some());
    }
}
