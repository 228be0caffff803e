//! What holds of all settings of switch files, by settings drawn at random from their descriptions.

use forebay_settings::random::{Of, check_settings};
use forebay_settings::{GroupKeys, IngressKeys, PoolKeys, PortKeys};
use forebay_tm::admit::PolicyConfig;
use forebay_tm::described::Choice;
use forebay_tm::mark::MarkConfig;
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::trim::TrimConfig;
use forebay_tm::{Bytes, Rate, TmConfig};

fn check_kinds<C: Choice + 'static>() {
    for name in C::NAMES {
        check_settings(name, &|| Box::new(Of(C::by_name(name).expect("one of the names"), C::settings)));
    }
}

#[test]
fn settings_of_all_kinds_read_back_and_are_refused_by_key() {
    check_kinds::<PolicyConfig>();
    check_kinds::<SchedulerConfig>();
    check_kinds::<RankConfig>();
    check_kinds::<MarkConfig>();
    check_kinds::<TrimConfig>();
}

#[test]
fn settings_of_switches_and_of_their_ingress_side_read_back_and_are_refused_by_key() {
    check_settings("switch", &|| Box::new(TmConfig::new(vec![Rate::from_gbps(10)], Bytes::new(1_000_000))));
    check_settings("ingress", &|| Box::new(IngressKeys::default()));
    check_settings("pool", &|| Box::new(PoolKeys { name: "lossless".to_owned(), ..PoolKeys::default() }));
    check_settings("port", &|| Box::new(PortKeys::default()));
    check_settings("group", &|| Box::new(GroupKeys::default()));
}
