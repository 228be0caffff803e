//! Trimming as SONiC has it (`SWITCH_TRIMMING`): a packet that its queue refuses is cut to a size and tried once, as a
//! packet like any other, on the trim queue of its port. If that refuses what is left, it is lost (a trim drop).

use crate::config::{ConfigError, PerQueue, TmConfig};
use crate::described::settings;
use crate::units::Bytes;
use alloc::format;

settings! {
    /// Settings of trimming to a queue.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ToQueueConfig {
        /// What is left of a packet; shorter ones go whole.
        pub size: Bytes = Bytes::new(128),
        /// The number of the trim queue.
        pub queue: usize = 0 => needed "6",
        /// Whether packets of a queue number are cut; those of others are dropped.
        pub from: PerQueue<bool> = PerQueue::All(true),
    }
}

impl ToQueueConfig {
    pub(super) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        if self.queue >= switch.queues {
            let problem = format!("there is no queue {}", self.queue);
            let error = ConfigError::new("trim.queue", self.queue, problem);
            return Err(error.remedy(format!("a port has queues 0 to {}", switch.queues - 1)));
        }
        self.from.check_len("trim.from", switch.queues)?;
        if !switch.scheduler.keeps_order() {
            let problem = format!("packets of {} do not wait in order of arrival", switch.scheduler.name());
            let error = ConfigError::new("trim.kind", "to-queue", problem);
            return Err(error.remedy("choose a scheduler that keeps the order of each queue, such as drr"));
        }
        Ok(())
    }
}
