//! What is where.

use super::events::{Subscription, Subscriptions};
use super::request::Head;
use super::response::{Response, Status};
use crate::socket::FIRST_SNAPSHOT;
use crate::{keys, metrics, page};
use forebay_live::handle::{GONE, Handle};
use forebay_live::snapshot::Snapshot;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// An answer, whole or without end.
pub(crate) enum Answer {
    Whole(Response),
    Events(Subscription),
}

/// What is served.
pub(crate) struct Routes {
    handle: Handle,
    seats: Subscriptions,
    /// The last snapshot that was written, with its number: many look at the same one.
    written: Mutex<(u64, Arc<str>)>,
}

const OPEN_TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Routes {
    pub(crate) fn new(handle: Handle) -> Self {
        Self { handle, seats: Subscriptions::default(), written: Mutex::new((0, "".into())) }
    }

    pub(crate) fn answer(&self, head: &Head, body: &[u8]) -> Answer {
        let is_reading = matches!(head.method.as_str(), "GET" | "HEAD");
        let allowed = if head.path == "/api/settings" { "GET, HEAD, POST" } else { "GET, HEAD" };
        Answer::Whole(match (head.path.as_str(), head.method.as_str()) {
            ("/api/settings", "POST") => self.change(body),
            (path, _) if !is_reading && is_known(path) => {
                Response::error(Status::MethodNotAllowed, &format!("allowed here: {allowed}")).with("Allow", allowed)
            }
            ("/api/settings", _) => self.settings(),
            ("/api/snapshot", _) => self.with_latest(|latest| {
                Response::new(Status::Ok, "application/json", format!("{}\n", self.written(latest)))
            }),
            ("/metrics", _)
                if head.field("accept").is_some_and(|kinds| kinds.contains("application/openmetrics-text")) =>
            {
                self.with_latest(|latest| Response::new(Status::Ok, OPEN_TEXT, metrics::open_text(latest)))
            }
            ("/metrics", _) => self.with_latest(|latest| Response::new(Status::Ok, TEXT, metrics::text(latest))),
            ("/api/events", "GET") => match self.seats.take() {
                Some(seat) => return Answer::Events(seat),
                None => Response::error(Status::ServiceUnavailable, "too many clients watch already"),
            },
            ("/api/events", _) => Response::new(Status::Ok, "text/event-stream", ""),
            (path, _) => match page::file(path) {
                Some((media, text)) => Response::new(Status::Ok, media, text),
                None => Response::error(Status::NotFound, "there is nothing here; the page is at /"),
            },
        })
    }

    fn with_latest(&self, write: impl FnOnce(&Snapshot) -> Response) -> Response {
        match self.handle.newer_than(0, FIRST_SNAPSHOT) {
            Some(latest) => write(&latest),
            None => Response::error(Status::ServiceUnavailable, "the switch has shown nothing yet"),
        }
    }

    /// A snapshot that is newer than one with this number, and its text; `None` if none comes in time.
    pub(crate) fn newer_than(&self, sequence: u64, timeout: Duration) -> Option<(u64, Arc<str>)> {
        let latest = self.handle.newer_than(sequence, timeout)?;
        Some((latest.sequence, self.written(&latest)))
    }

    fn written(&self, snapshot: &Snapshot) -> Arc<str> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.0 != snapshot.sequence {
            *written = (snapshot.sequence, json!(snapshot).to_string().into());
        }
        Arc::clone(&written.1)
    }

    fn settings(&self) -> Response {
        match self.handle.settings() {
            Ok(toml) => Response::json(Status::Ok, &keys::to_json(&toml)),
            Err(sentence) => Response::error(Status::ServiceUnavailable, &sentence),
        }
    }

    /// Changes settings; the answer has those in force then.
    fn change(&self, body: &[u8]) -> Response {
        let object = match serde_json::from_slice(body) {
            Ok(object) => object,
            Err(error) => return Response::error(Status::BadRequest, &format!("this is not JSON: {error}")),
        };
        match keys::changes(&object).and_then(|changes| self.handle.change(changes)) {
            Ok(()) => self.settings(),
            Err(sentence) if sentence == GONE => Response::error(Status::ServiceUnavailable, &sentence),
            Err(sentence) => Response::error(Status::Unprocessable, &sentence),
        }
    }
}

fn is_known(path: &str) -> bool {
    matches!(path, "/api/settings" | "/api/snapshot" | "/api/events" | "/metrics") || page::file(path).is_some()
}
