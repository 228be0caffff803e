//! Progress of long work.

use forebay_runner::arrivals::Arrivals;
use forebay_sim::engine::Progress;
use forebay_sim::scenario::Scenario;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
/// A bar on standard error, if that is a terminal.
pub(crate) struct ReplayBar {
    bar: ProgressBar,
    packets: u64,
}

impl ReplayBar {
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

impl Drop for ReplayBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar for one simulation: simulated time, events per second, time left.
pub(crate) struct SimulationBar {
    bar: ProgressBar,
    started: std::time::Instant,
}

impl SimulationBar {
    pub(crate) fn new(scenario: &Scenario, quiet: bool) -> Self {
        let bar = ProgressBar::new(scenario.duration.ps().max(1))
            .with_style(style("{wide_bar} {percent:>3}%  {msg}  {elapsed} gone, {eta} left"));
        bar.set_draw_target(if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() });
        Self { bar, started: std::time::Instant::now() }
    }

    pub(crate) fn show(&self, progress: Progress) {
        self.bar.set_position(progress.now.ps().min(progress.duration.ps()));
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let rate = progress.events as f64 / seconds / 1e6;
        let now = progress.now.ps() as f64 / 1e9;
        let rest = if progress.now >= progress.duration {
            format!(", {} flows to finish", progress.unfinished)
        } else {
            String::new()
        };
        self.bar.set_message(format!("{now:.3} ms simulated, {rate:.1} M events/s{rest}"));
    }
}

impl Drop for SimulationBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar for many runs.
pub(crate) struct RunsBar(ProgressBar);

impl RunsBar {
    pub(crate) fn new(runs: usize, quiet: bool) -> Self {
        let bar = ProgressBar::new(runs as u64)
            .with_style(style("{wide_bar} {pos} of {len} runs  {msg}  {elapsed} gone, {eta} left"));
        bar.set_draw_target(if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() });
        bar.enable_steady_tick(std::time::Duration::from_millis(250));
        Self(bar)
    }

    /// So many are finished.
    pub(crate) fn set(&self, finished: usize, message: &str) {
        self.0.set_position(finished as u64);
        self.0.set_message(message.to_owned());
    }

    /// Says something above the bar.
    pub(crate) fn say(&self, text: &str) {
        if !self.0.is_hidden() {
            self.0.println(text);
        }
    }

    /// A run is finished.
    pub(crate) fn finished(&self, label: &str) {
        self.0.set_message(label.to_owned());
        self.0.inc(1);
    }
}

impl Drop for RunsBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is right")
}
