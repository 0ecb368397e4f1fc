#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| modegate::internals::fuzzed::check("gates_json", data));
