//! Progress of long work, and its interruption.

use crate::Failure;
use crate::arrivals::Arrivals;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C was pressed. The first call starts to listen.
fn interrupted() -> bool {
    static LISTENING: OnceLock<bool> = OnceLock::new();
    LISTENING.get_or_init(|| ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed)).is_ok());
    INTERRUPTED.load(Ordering::Relaxed)
}

/// A bar on standard error, if that is a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    packets: u64,
}

impl Progress {
    /// How many packets pass between two looks at the clock.
    const STRIDE: u64 = 8_192;

    pub(crate) fn new(arrivals: &Arrivals<'_>, quiet: bool) -> Self {
        let bar = match arrivals.length {
            Some(length) => ProgressBar::new(length)
                .with_style(style("{wide_bar} {percent:>3}% of {total_bytes}  {msg}  {elapsed} gone, {eta} left")),
            None => ProgressBar::no_length().with_style(style("{spinner} {bytes} read  {msg}  {elapsed} gone")),
        };
        bar.set_draw_target(if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() });
        Self { bar, packets: 0 }
    }

    /// Another packet was read.
    #[inline]
    pub(crate) fn tick(&mut self, arrivals: &Arrivals<'_>) -> Result<(), Failure> {
        self.packets += 1;
        if self.packets % Self::STRIDE == 0 {
            self.look(arrivals)?;
        }
        Ok(())
    }

    #[cold]
    fn look(&self, arrivals: &Arrivals<'_>) -> Result<(), Failure> {
        if interrupted() {
            self.bar.finish_and_clear();
            let text = format!("interrupted after {} packets; nothing was written", self.packets);
            return Err(Failure::Interrupted(text));
        }
        self.bar.set_position(arrivals.read);
        self.bar.set_message(format!("{} packets", self.packets));
        Ok(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is right")
}
