//! The binary: everything is in the library.

/// The static binary's own allocator has one lock for all threads, which makes a replay on two slower than on one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    modegate::cli::main()
}
