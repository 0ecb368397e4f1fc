//! Which commands of a line decide its result.

use super::*;

fn find(line: &str, wanted: &str) -> Option<StatusSource> {
    effects(line, &context()).calls.iter().find(|call| call.matches(wanted)).map(|call| call.own)
}

#[track_caller]
fn check(line: &str, expected: Option<bool>) {
    assert_eq!(find(line, "cargo test").map(|own| own.success), expected, "{line}");
}

#[test]
fn a_test_command_is_recognised_where_it_runs() {
    check("cargo test", Some(true));
    check("cd x && RUST_LOG=1 cargo test --all 2>&1", Some(true));
    check("cargo test > /tmp/log 2>&1\n", Some(true));
    check("/usr/bin/cargo test;", Some(true));
    check("(cargo test)", Some(true));
    check("timeout -k 5 120s cargo test", Some(true));
    check("(cd app && cargo test)", Some(true));
    check("( cargo test --lib )", Some(true));
    check("cargo test && echo fine", Some(true));
}

#[test]
fn a_hidden_exit_code_does_not_count() {
    check("cargo test | tail -5", Some(false));
    check("cargo test || true", Some(false));
    check("cargo test; echo done", Some(false));
    check("cargo test &", Some(false));
    check("set -o pipefail; cargo test | tail -5", Some(true));
}

#[test]
fn a_later_command_may_cause_the_failure() {
    let tells = |line: &str| find(line, "cargo test").map(|own| own.failure);
    assert_eq!(tells("cargo test"), Some(true));
    assert_eq!(tells("cargo test && git push"), Some(false));
    assert_eq!(tells("cargo test | tail"), Some(false));
    assert_eq!(tells("cd app && cargo test"), Some(true));
    assert_eq!(tells("cargo fmt; cargo test"), Some(true));
    assert_eq!(tells("cargo build && cargo test"), Some(false));
    assert_eq!(tells("set -e; cargo fmt --check; cargo test"), Some(false));
}

#[test]
fn a_command_that_may_not_have_run_has_not_passed() {
    check("! cargo test", Some(false));
    check("test -f x || cargo test", Some(false));
    check("exit 0; cargo test", Some(false));
    check("echo pipefail; cargo test | tail", Some(false));
    check("set +o pipefail; cargo test | tail", Some(false));
    check("set -euo pipefail; cargo test | tail", Some(true));
    check("true ||\ncargo test", Some(false));
    check("true || (\ncargo test\n)", Some(false));
    check("echo $(\ncargo test\n)", Some(false));
    check("cargo test &&\n echo ok", Some(true));
}

#[test]
fn a_pipe_that_may_fail_itself_hides_a_failure() {
    let tells = |line: &str| find(line, "cargo test").map(|own| own.failure);
    assert_eq!(tells("set -o pipefail; cargo test | grep FAILED"), Some(false));
    assert_eq!(tells("set -o pipefail; cargo test 2>&1 | tail -5"), Some(true));
    assert_eq!(tells("source .venv/bin/activate && cargo test"), Some(true));
}

#[test]
fn a_here_document_is_text() {
    check("cat > t.py <<'EOF'\nreturn it's\nexit 1\nEOF\ncargo test", Some(true));
    check("cat <<EOF\ncargo test\nEOF\n", None);
    check("echo $((1<<2))\ncargo test", Some(true));
}

#[test]
fn nested_commands_are_found_but_their_result_is_hidden() {
    check("if true; then cargo test; fi", Some(false));
    check("for i in 1 2; do cargo test; done", Some(false));
    check("t() { cargo test; }; t", Some(false));
    check("cargo test\necho 'unended", Some(false));
    check("echo 'unended", None);
}

#[test]
fn options_before_the_words_do_not_count() {
    check("cargo +nightly test", Some(true));
    let npm = |line: &str| find(line, "npm test").is_some();
    assert!(npm("npm --prefix app test") && npm("nice -n 5 npm test") && !npm("npm install test"));
    assert!(find("npm run test:unit", "npm run test").is_some());
}

#[test]
fn many_options_are_matched_quickly() {
    let line = format!("git {}", "-a ".repeat(2_000));
    assert!(find(&line, "git push origin").is_none());
    assert!(find(&format!("{line} push"), "git push").is_some());
}

#[test]
fn wrappers_and_scripts_pass_a_result_on() {
    check("sudo -u me nice cargo test", Some(true));
    check("bash -c 'cd x && cargo test'", Some(true));
    check("bash -c 'cargo test || true'", Some(false));
    check("X=cargo; $X test", Some(true));
    check("echo a | xargs cargo test", Some(false));
    check("find . -exec cargo test \\;", Some(false));
    check("$UNKNOWN cargo test", Some(false));
    assert!(find("sudo ls", "sudo").is_some());
}

#[test]
fn a_mention_is_not_a_run() {
    check("echo cargo test", None);
    check("git commit -m 'cargo test'", None);
    check("cargo testing", None);
    check("# cargo test", None);
}

#[test]
fn the_command_behind_a_wrapper_is_found() {
    for (line, wanted) in [
        ("mise exec -- go test ./...", "go test"),
        ("mise x node@20 -- npm test", "npm test"),
        ("uv run --extra dev pytest -q", "pytest"),
        ("uv run --python 3.12 python -m pytest", "python -m pytest"),
        ("poetry run pytest", "pytest"),
        ("pipenv run python -m unittest", "python -m unittest"),
        ("hatch run pytest", "pytest"),
        ("docker compose exec -T web pytest -x", "pytest"),
        ("docker compose -f dev.yml exec web python manage.py test", "python manage.py test"),
        ("docker-compose run --rm web npm test", "npm test"),
        ("docker exec -it -w /app box pytest", "pytest"),
        ("kubectl exec pod -n x -- pytest", "pytest"),
        ("npx playwright test", "playwright test"),
        ("pnpm exec jest", "jest"),
        ("pnpm --filter web exec jest --ci", "jest"),
        ("yarn vitest run", "vitest"),
        ("yarn workspace web test", "yarn test"),
        ("bunx vitest", "vitest"),
        ("bun x vitest", "vitest"),
        ("rtk cargo test", "cargo test"),
        ("gosu ann cargo test", "cargo test"),
        ("perf stat -r 3 -- cargo test", "cargo test"),
        ("rtk test cargo test", "cargo test"),
        ("time cargo test", "cargo test"),
        ("env CI=1 cargo test", "cargo test"),
        ("nice -n 5 timeout 60 cargo test", "cargo test"),
        ("xvfb-run -a npx cypress run", "cypress run"),
        ("dotenv -e .env.test -- jest", "jest"),
        ("direnv exec . cargo test", "cargo test"),
        ("nix develop -c cargo test", "cargo test"),
        ("nix develop .#ci --command cargo test", "cargo test"),
        ("nix-shell --run 'cargo test'", "cargo test"),
        ("cross-env CI=1 jest", "jest"),
        ("coverage run -m pytest", "python -m pytest"),
        ("python3.11 -m pytest", "python -m pytest"),
        ("/usr/bin/python3 -m pytest", "python -m pytest"),
        ("./gradlew :app:test", "./gradlew test"),
        ("make test-e2e", "make test-*"),
        ("mise run test:unit", "mise run test"),
    ] {
        assert_eq!(find(line, wanted).map(|own| own.success), Some(true), "{line}");
    }
    assert_eq!(find("make contest", "make test-*"), None);
    assert_eq!(find("python3x -m pytest", "python -m pytest"), None);
}

#[test]
fn a_project_can_name_wrappers() {
    let wrappers = vec!["with-db".to_owned(), "dev shell *".to_owned()];
    let context = ExecContext { wrappers, ..context() };
    let find = |line: &str| effects(line, &context).calls.iter().any(|call| call.matches("cargo test"));
    assert!(
        find("with-db --fresh cargo test") && find("dev shell api cargo test") && !find("dev build api cargo test")
    );
}

#[test]
fn a_container_has_other_files() {
    assert!(changes("docker exec box rm -rf /").is_empty());
    assert_eq!(
        changes("docker ps > out.txt; docker exec box rm -rf / > log"),
        ["write /w/p/out.txt", "write /w/p/log"]
    );
}
