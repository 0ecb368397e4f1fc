//! The usual commands of each language, for the build files that a project has.

use super::{ProjectCommand, ProjectFiles, Purpose};

const TOOLCHAINS: [(&str, &[(Purpose, &str)]); 14] = [
    (
        "Cargo.toml",
        &[
            (Purpose::Test, "cargo test"),
            (Purpose::Lint, "cargo clippy"),
            (Purpose::Build, "cargo build"),
            (Purpose::Format, "cargo fmt"),
        ],
    ),
    (
        "go.mod",
        &[
            (Purpose::Test, "go test"),
            (Purpose::Lint, "go vet"),
            (Purpose::Build, "go build"),
            (Purpose::Format, "gofmt"),
        ],
    ),
    ("tox.ini", &[(Purpose::Test, "tox")]),
    ("noxfile.py", &[(Purpose::Test, "nox")]),
    ("pytest.ini", &[(Purpose::Test, "pytest")]),
    ("pom.xml", &[(Purpose::Test, "mvn test"), (Purpose::Build, "mvn package")]),
    ("deno.json", &[(Purpose::Test, "deno test"), (Purpose::Lint, "deno lint"), (Purpose::Format, "deno fmt")]),
    ("phpunit.xml", &[(Purpose::Test, "phpunit")]),
    ("phpunit.xml.dist", &[(Purpose::Test, "phpunit")]),
    (".rspec", &[(Purpose::Test, "bundle exec rspec")]),
    ("mix.exs", &[(Purpose::Test, "mix test"), (Purpose::Build, "mix compile"), (Purpose::Format, "mix format")]),
    ("Package.swift", &[(Purpose::Test, "swift test"), (Purpose::Build, "swift build")]),
    ("CMakeLists.txt", &[(Purpose::Test, "ctest"), (Purpose::Build, "cmake --build")]),
    ("pubspec.yaml", &[(Purpose::Test, "flutter test"), (Purpose::Test, "dart test"), (Purpose::Lint, "dart analyze")]),
];

pub(super) fn commands(files: &ProjectFiles<'_>) -> Vec<ProjectCommand> {
    let mut found = Vec::new();
    for (source, commands) in TOOLCHAINS.iter().filter(|(source, _)| files.has(source)) {
        let own = |(purpose, text): &(Purpose, &str)| command(*purpose, (*text).to_owned(), source);
        found.extend(commands.iter().map(own));
    }
    found.extend(python(files));
    found.extend(gradle(files));
    found.extend(dotnet(files));
    found
}

fn command(purpose: Purpose, command: String, source: &str) -> ProjectCommand {
    ProjectCommand { purpose, command, source: source.to_owned() }
}

/// pytest, ruff and mypy where `pyproject.toml` mentions them, behind the project's own runner.
fn python(files: &ProjectFiles<'_>) -> Vec<ProjectCommand> {
    const SOURCE: &str = "pyproject.toml";
    let Some(text) = files.text(SOURCE) else { return Vec::new() };
    let locks = [("uv.lock", "uv run "), ("poetry.lock", "poetry run "), ("Pipfile.lock", "pipenv run ")];
    let runner = locks.iter().find(|(lock, _)| files.has(lock)).map_or("", |(_, runner)| runner);
    let tools = [
        ("pytest", Purpose::Test, "pytest"),
        ("ruff", Purpose::Lint, "ruff check"),
        ("mypy", Purpose::Lint, "mypy"),
        ("pyright", Purpose::Lint, "pyright"),
        ("ruff", Purpose::Format, "ruff format"),
        ("black", Purpose::Format, "black"),
    ];
    let used = tools.into_iter().filter(|(tool, ..)| text.contains(tool));
    used.map(|(_, purpose, tool)| command(purpose, format!("{runner}{tool}"), SOURCE)).collect()
}

fn gradle(files: &ProjectFiles<'_>) -> Vec<ProjectCommand> {
    let Some(source) = ["build.gradle", "build.gradle.kts"].into_iter().find(|name| files.has(name)) else {
        return Vec::new();
    };
    let runner = if files.has("gradlew") { "./gradlew" } else { "gradle" };
    [(Purpose::Test, "test"), (Purpose::Build, "build")]
        .map(|(purpose, task)| command(purpose, format!("{runner} {task}"), source))
        .to_vec()
}

fn dotnet(files: &ProjectFiles<'_>) -> Vec<ProjectCommand> {
    let is_project = |name: &String| matches!(name.rsplit('.').next(), Some("sln" | "slnx" | "csproj" | "fsproj"));
    let Some(source) = files.names(".").into_iter().find(is_project) else { return Vec::new() };
    [(Purpose::Test, "dotnet test"), (Purpose::Build, "dotnet build"), (Purpose::Format, "dotnet format")]
        .map(|(purpose, text)| command(purpose, text.to_owned(), &source))
        .to_vec()
}
