//! Advice: settings that reach an operator's goals, found by closed forms first and by trials of the core second.
//!
//! A goal is tried with the configuration as it is. If it is missed, one setting is searched: the alpha of a profile
//! (powers of two, as chips have them), its minimum, or the thresholds of a WRED profile. The papers' closed forms say
//! which values are worth a trial; each of these is imported and replayed. The best that reaches the goal goes into the
//! patch, and the next goal is tried on top of it.

#![forbid(unsafe_code)]

mod candidates;
mod goal;
mod levels;
mod measured;
mod network;
pub mod page;
mod patch;
mod pause_ideas;
mod trial;

pub use goal::{Goal, Measured, Traffic, read_goals};
pub use measured::Watermarks;
pub use patch::{Operation, apply};
pub use trial::{Shown, Spread};

use candidates::{Idea, ideas};
use forebay_sonic::SonicError;
use forebay_tm::PerQueue;
use forebay_tm::admit::PolicyConfig;
use forebay_tm::described::{Choice as _, Value as Setting};
use network::Network;
use serde::Serialize;
use serde_json::Value;
use trial::Trial;

/// The most trials of a goal.
const MOST_TRIALS: usize = 8;

/// Policies that chips may have one day.
const OTHER_POLICIES: [&str; 3] = ["fb", "abm", "occamy"];

/// A change, and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// The change, in words.
    pub change: String,
    /// The change.
    pub patch: Vec<Operation>,
    /// What the closed form says.
    pub closed_form: String,
    /// What a trial has shown; without one, the closed form was enough.
    pub trial: Option<Shown>,
    /// What a congested queue of the others holds then, less what it held before, as a share of that.
    pub cost_for_others: Option<f64>,
}

/// What another policy would do on the egress side.
#[derive(Clone, Debug, Serialize)]
pub struct OtherPolicy {
    /// Its name.
    pub policy: &'static str,
    /// What a trial has shown.
    pub trial: Shown,
}

/// The advice on one goal.
#[derive(Clone, Debug, Serialize)]
pub struct GoalAdvice {
    /// The goal, in words.
    pub goal: String,
    /// With the configuration as it is.
    pub before: Shown,
    /// With the whole patch.
    pub after: Shown,
    /// What was considered, the best first; none if the goal was met already.
    pub candidates: Vec<Candidate>,
    /// Why, and what cannot be.
    pub why: Vec<String>,
    /// What other policies would do, if no setting reaches the goal.
    pub other_policies: Vec<OtherPolicy>,
}

/// Advice on all goals.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// Goal by goal.
    pub goals: Vec<GoalAdvice>,
    /// For `config apply-patch`.
    pub patch: Vec<Operation>,
}

impl Advice {
    /// Whether the patched configuration meets all goals.
    pub fn is_complete(&self) -> bool {
        self.goals.iter().all(|goal| goal.after.met)
    }
}

/// Advises on a CONFIG_DB, whose text is given.
///
/// # Errors
/// If it cannot be read, or a goal cannot be tried with it.
pub fn advise(file: &str, text: &str, chip: Option<&str>, goals: &[Goal]) -> Result<Advice, SonicError> {
    let config: Value = serde_json::from_str(text).map_err(|error| {
        SonicError::new(
            file,
            format!("this is not JSON: {error}"),
            "give a CONFIG_DB, as `sonic-cfggen -d --print-data` writes it",
        )
    })?;
    let mut patch: Vec<Operation> = vec![];
    let mut advice: Vec<(&Goal, GoalAdvice)> = vec![];
    for goal in goals {
        let now = apply(&config, &patch)?;
        let before = attempt(file, &now, chip, goal)?;
        let mut of = GoalAdvice {
            goal: goal.words(),
            after: before.clone(),
            before,
            candidates: vec![],
            why: vec![],
            other_policies: vec![],
        };
        if !of.before.met {
            search(file, &now, chip, goal, &mut of)?;
            let best = of.candidates.first().filter(|best| best.trial.as_ref().is_some_and(|trial| trial.met));
            match best {
                Some(best) => patch.extend(best.patch.iter().cloned()),
                None => unreached(file, &now, chip, goal, &mut of)?,
            }
        }
        advice.push((goal, of));
    }
    let last = apply(&config, &patch)?;
    for (goal, of) in &mut advice {
        of.after = attempt(file, &last, chip, goal)?;
        if of.before.met && !of.after.met {
            of.why.push("changes for other goals have broken this one: the goals contradict each other".to_owned());
        }
    }
    Ok(Advice { goals: advice.into_iter().map(|(_, of)| of).collect(), patch })
}

/// A change as a share: `-8%`.
pub fn percent(share: f64) -> String {
    let text = format!("{:+.0}%", 100.0 * share);
    if text == "+0%" || text == "-0%" { "0%".to_owned() } else { text }
}

/// Tries a goal: in the core alone, or in a network if it is about pause.
fn attempt(file: &str, config: &Value, chip: Option<&str>, goal: &Goal) -> Result<Shown, SonicError> {
    match goal {
        Goal::NoPause { .. } | Goal::Lossless { .. } | Goal::Scenario { .. } => {
            Network::new(file, config, chip)?.run(goal)
        }
        _ => Trial::new(file, config, chip)?.run(goal),
    }
}

/// Tries what is worth a trial, and puts the best first.
fn search(file: &str, config: &Value, chip: Option<&str>, goal: &Goal, of: &mut GoalAdvice) -> Result<(), SonicError> {
    let ideas: Vec<Idea> = ideas(file, config, chip, goal, &of.before)?;
    let mut trials = 0;
    for idea in ideas {
        let is_tried = idea.is_promising && trials < MOST_TRIALS;
        trials += usize::from(is_tried);
        let trial = match is_tried {
            true => Some(attempt(file, &apply(config, &idea.patch)?, chip, goal)?),
            false => None,
        };
        let others = trial.as_ref().and_then(|trial| trial.others).zip(of.before.others);
        of.candidates.push(Candidate {
            change: idea.change,
            patch: idea.patch,
            closed_form: idea.closed_form,
            cost_for_others: others.map(|(after, before)| after as f64 / before.max(1) as f64 - 1.0),
            trial,
        });
    }
    let rank = |candidate: &Candidate| {
        let (met, degree) = candidate.trial.as_ref().map_or((false, -1.0), |trial| (trial.met, trial.degree));
        let cost = candidate.cost_for_others.unwrap_or(0.0).min(0.0);
        // Met first; then what costs the others least; of those that miss it, the nearest.
        (!met, if met { -cost } else { -degree })
    };
    of.candidates.sort_by(|one, two| {
        let (one, two) = (rank(one), rank(two));
        one.0.cmp(&two.0).then(one.1.total_cmp(&two.1))
    });
    Ok(())
}

/// No setting reaches the goal: the nearest, and what another policy would do.
fn unreached(
    file: &str,
    config: &Value,
    chip: Option<&str>,
    goal: &Goal,
    of: &mut GoalAdvice,
) -> Result<(), SonicError> {
    match of.candidates.first().and_then(|best| best.trial.as_ref().map(|trial| (&best.change, trial))) {
        Some((change, trial)) => {
            of.why.push(format!("no value that was tried reaches it; the nearest: {change}: {}", trial.words));
        }
        None => of.why.push("there is no setting to search for it in this configuration".to_owned()),
    }
    if let Goal::NoPause { .. } | Goal::Lossless { .. } = goal {
        let words = "FB, ABM and Occamy manage queues on egress: a PG pauses by its alpha and headroom on ingress, so \
                     they prevent a pause only by a loss";
        of.why.push(words.to_owned());
    }
    if !matches!(goal, Goal::Burst { .. } | Goal::Measured { .. } | Goal::NoPause { .. } | Goal::Scenario { .. }) {
        return Ok(());
    }
    let trial = Trial::new(file, config, chip)?;
    let Some(alphas) = trial.alphas() else { return Ok(()) };
    for name in OTHER_POLICIES {
        let Some(other) = policy(name, &alphas).and_then(|policy| trial.with_policy(policy, goal.queue())) else {
            continue;
        };
        let shown = match goal {
            Goal::NoPause { .. } | Goal::Scenario { .. } => {
                Network::new(file, config, chip)?.with_policy_of(&other).run(goal)?
            }
            _ => other.run(goal)?,
        };
        of.other_policies.push(OtherPolicy { policy: name, trial: shown });
    }
    Ok(())
}

/// A policy with its default settings and these factors.
fn policy(name: &str, alphas: &PerQueue<f64>) -> Option<PolicyConfig> {
    let mut policy = PolicyConfig::by_name(name)?;
    let settings = policy.settings()?;
    let place = settings.fields().iter().position(|field| field.key == "alpha")?;
    let list = alphas.values().iter().map(|alpha| Setting::Real(*alpha)).collect();
    settings.set(place, Setting::List(list)).is_ok().then_some(policy)
}
