#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| modegate::internals::fuzzed::check("event", data));
