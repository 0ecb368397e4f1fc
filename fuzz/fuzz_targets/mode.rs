#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| modegate_fuzz::check("mode", data));
