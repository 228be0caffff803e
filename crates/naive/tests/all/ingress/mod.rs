//! The ingress side of the core against a list of cells: random pools, ports and groups, and random packets.

use forebay_compare::{core_ingress, random_ingress, random_sides, sides_agree};
use forebay_naive::Dice;
use forebay_naive::ingress::{NaiveIngress, NaiveRefusal, Part};
use forebay_tm::ingress::{Admission, Charge, Ingress, Refusal};

fn as_core(verdict: Result<(Vec<Part>, bool), NaiveRefusal>) -> Admission {
    let (parts, pause) = match verdict {
        Ok(admitted) => admitted,
        Err(refusal) => {
            return Admission::Refused(match refusal {
                NaiveRefusal::Pool => Refusal::Pool,
                NaiveRefusal::Port => Refusal::Port,
                NaiveRefusal::Group => Refusal::Group,
                NaiveRefusal::Headroom => Refusal::Headroom,
                NaiveRefusal::PortHeadroom => Refusal::PortHeadroom,
                NaiveRefusal::HeadroomPool => Refusal::HeadroomPool,
            });
        }
    };
    let count = |part| parts.iter().filter(|other| **other == part).count() as u64;
    let (minimum, shared, headroom) = (count(Part::Minimum), count(Part::Shared), count(Part::Headroom));
    Admission::Admitted(Charge { minimum, shared, headroom, pause })
}

fn same_numbers(naive: &NaiveIngress, core: &Ingress) {
    for place in 0..naive.groups.len() {
        let (port, number) = (place / 2, (place % 2) as u8);
        let has = core.occupancy(port, number);
        for (part, cells) in [(Part::Minimum, has.minimum), (Part::Shared, has.shared), (Part::Headroom, has.headroom)]
        {
            assert_eq!(naive.count(part, |other, _| other == place), cells);
        }
        assert_eq!(naive.paused[place].is_some(), core.is_paused(port, number));
        assert_eq!(naive.limit(place), core.limit(port, number));
    }
    for pool in 0..naive.pools.len() {
        let of_pool = |partition| {
            naive.count(Part::Shared, |_, group| group.pool == pool && naive.ports[group.port].partition == partition)
        };
        assert_eq!([0, 1].map(of_pool), [0, 1].map(|partition| core.pool_shared(partition, pool)));
    }
    assert!(core.is_consistent());
}

#[test]
fn random_groups_agree() {
    let (mut pauses, mut resumes, mut refusals) = (0, 0, 0);
    for seed in 0..100_000 {
        let mut random = Dice::from_seed(seed);
        let ports = 1 + random.below(3) as usize;
        let mut naive = random_ingress(&mut random, ports, 1);
        let mut core = Ingress::new(core_ingress(&naive)).unwrap();
        let mut packets: Vec<(usize, u32)> = vec![];
        // Times of filling and of draining.
        let mut filling = 8;
        for step in 0..40 {
            if step % 10 == 0 {
                filling = 2 + random.below(8);
            }
            if packets.is_empty() || random.below(10) < filling {
                let (group, bytes) = (random.below(naive.groups.len() as u64) as usize, 1 + random.below(500) as u32);
                let expected = as_core(naive.admit(group, u64::from(bytes)));
                let got = core.admit(group / 2, (group % 2) as u8, bytes);
                assert_eq!(got, expected, "seed {seed}, step {step}: {naive:?}");
                match got {
                    Admission::Admitted(charge) => {
                        pauses += u32::from(charge.pause);
                        packets.push((group, bytes));
                    }
                    Admission::Refused(_) => refusals += 1,
                }
            } else {
                let (group, bytes) = packets.swap_remove(random.below(packets.len() as u64) as usize);
                let expected = naive.release(group, u64::from(bytes));
                let got = core.release(group / 2, (group % 2) as u8, bytes);
                assert_eq!(got, expected, "seed {seed}, step {step}: {naive:?}");
                resumes += u32::from(got);
            }
        }
        same_numbers(&naive, &core);
    }
    assert!(pauses > 50_000 && resumes > 20_000 && refusals > 500_000, "{pauses} {resumes} {refusals}");
}

/// Both sides of a switch, with every policy, scheduler and trimming of the naive reference. 100,000 cases agree, too.
#[test]
fn random_switches_with_both_sides_agree() {
    let cases = std::env::var("FOREBAY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(3_000);
    for seed in 0..cases {
        let (switch, ingress, arrivals, groups) = random_sides(&mut Dice::from_seed(seed));
        sides_agree(&format!("seed {seed}"), &switch, &ingress, &arrivals, &groups);
    }
}
