//! Whatever is called in whatever order: the accounts stay right, and every packet has one fate.

#![no_main]

use forebay_compare::operate;
use forebay_naive::Dice;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| operate(&mut Dice::from_bytes(bytes)));
