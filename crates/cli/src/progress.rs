//! Progress of long work.

use crate::arrivals::Arrivals;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
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
    pub(crate) fn tick(&mut self, arrivals: &Arrivals<'_>) {
        self.packets += 1;
        if self.packets % Self::STRIDE == 0 {
            self.bar.set_position(arrivals.read);
            self.bar.set_message(format!("{} packets", self.packets));
        }
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
