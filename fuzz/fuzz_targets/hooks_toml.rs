#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| modegate::properties::check("hooks_toml", data));
