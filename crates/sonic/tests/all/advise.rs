//! Advice that works: the patched configuration meets the goal that the old one missed.

use crate::text;
use forebay_sonic::advise::{Advice, Goal, advise, apply, read_goals};
use forebay_tm::{Bytes, Duration};

const TD3: &str = "configs/td3-7050cx3-c32-t0.json";

fn advice(config: &str, goals: &[Goal]) -> Advice {
    advise(config, &text(config), None, goals).unwrap_or_else(|error| panic!("{error}"))
}

fn goals(name: &str) -> Vec<Goal> {
    read_goals(name, &text(&format!("goals/{name}"))).unwrap()
}

/// What docs/operators.md shows of a case.
fn is_documented(advice: &Advice) {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operators.md")).unwrap();
    for goal in &advice.goals {
        for words in [&goal.goal, &goal.before.words, &goal.after.words, &goal.candidates[0].change] {
            assert!(docs.contains(words.as_str()), "docs/operators.md does not have \"{words}\"");
        }
    }
}

#[test]
fn an_incast_that_drops_under_the_shipped_settings_is_absorbed() {
    let advice = advice(TD3, &goals("incast.toml"));
    let goal = &advice.goals[0];
    assert!(!goal.before.met && goal.after.met && advice.is_complete(), "{goal:#?}");
    // Less for each lets more of a burst in: the others hold less than before.
    assert_eq!(advice.patch.len(), 1);
    assert_eq!(advice.patch[0].path, "/BUFFER_PROFILE/egress_lossy_profile/dynamic_th");
    assert!(goal.candidates[0].cost_for_others.unwrap() < 0.0);
    // The patch is what was tried.
    let config = serde_json::from_str(&text(TD3)).unwrap();
    let patched = apply(&config, &advice.patch).unwrap();
    let again = advise("patched", &patched.to_string(), None, &goals("incast.toml")).unwrap();
    assert!(again.goals[0].before.met && again.patch.is_empty());
    is_documented(&advice);
}

#[test]
fn ecn_that_never_marks_is_bound_to_its_queue() {
    let advice = advice(TD3, &goals("ecn.toml"));
    let goal = &advice.goals[0];
    assert!(goal.before.words.starts_with("0 of "), "{}", goal.before.words);
    assert!(!goal.before.met && goal.after.met, "{goal:#?}");
    assert!(advice.patch.iter().all(|change| change.path.ends_with("|0/wred_profile")), "{:?}", advice.patch);
    is_documented(&advice);
}

#[test]
fn what_no_setting_reaches_is_said() {
    let burst = Goal::Burst { queue: 0, senders: 16, bytes: Bytes::new(4_000_000), congested: 4, with: 0 };
    let advice = advice(TD3, &[burst]);
    let goal = &advice.goals[0];
    assert!(!advice.is_complete() && advice.patch.is_empty());
    assert!(goal.why[0].contains("the nearest: egress_lossy_profile"), "{:?}", goal.why);
    let others: Vec<&str> = goal.other_policies.iter().map(|other| other.policy).collect();
    assert_eq!(others, ["fb", "abm", "occamy"]);
}

#[test]
fn minimums_and_delays() {
    let goals = [
        Goal::Isolate { queue: 1, from: 0, minimum: Bytes::new(30_000) },
        Goal::Latency { queue: 0, below: Duration::from_ps(500_000_000) },
    ];
    let advice = advice(TD3, &goals);
    assert!(advice.is_complete(), "{advice:#?}");
    assert!(advice.goals.iter().any(|goal| !goal.before.met));
}

#[test]
fn goals_that_cannot_be_tried_are_refused() {
    let refused = |goal: Goal, expected: &str| {
        let error = advise(TD3, &text(TD3), None, &[goal]).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    let burst = |queue, congested| Goal::Burst { queue, senders: 4, bytes: Bytes::new(1_000), congested, with: 0 };
    refused(burst(3, 0), "PFC");
    refused(burst(0, 40), "a partition has 32");
    refused(burst(9, 0), "there is no queue 9");
    let files = [
        ("", "there is no goal"),
        ("[[goal]]\nkind = \"no-pause\"\nload = 0.5", "needs a network with PFC"),
        ("[[goal]]\nkind = \"brust\"", "is unknown"),
        ("[[goal]]\nkind = \"burst\"\nqueue = 0\nsenders = 1\nbytes = 1", "cannot congest"),
        ("[[goal]]\nkind = \"burst\"\nqueue = 0\nsenders = 2\nbytes = 0", "no burst"),
        ("[[goal]]\nkind = \"burst\"\nqueue = 16\nsenders = 2\nbytes = 1", "no such queue"),
        ("[[goal]]\nkind = \"burst\"\nsenders = 2\nbytes = 1", "missing"),
        ("[[goal]]\nkind = \"isolate\"\nqueue = 1\nfrom = 1\nminimum = 1", "isolated from itself"),
        ("[[goal]]\nkind = \"latency\"\nqueue = 0\nbelow = \"1MB\"", "1MB"),
        ("[[goal]]\nkind = \"marks\"\nqueue = 0\nabove = 1", "no such key"),
        ("goal = 3", "list of tables"),
        ("[[goals]]", "did you mean goal?"),
        ("kind = burst", "quotes"),
    ];
    for (text, expected) in files {
        let error = read_goals("goals.toml", text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
