#!/usr/bin/env node
// Runs the native program of the package for this platform. Arguments, streams, signals and the exit code pass through.
"use strict";

const { spawn } = require("child_process");
const path = require("path");

const { version, optionalDependencies } = require("../package.json");

// Windows on ARM runs x64 programs.
const platform = `${process.platform}-${process.arch}`.replace("win32-arm64", "win32-x64");
const name = `@modegate/${platform}`;

// Never 2: that is a hook's block.
function fail(problem, hints) {
  process.stderr.write([`error: ${problem}`, ...hints.map((hint) => `  hint: ${hint}`), ""].join("\n"));
  process.exit(1);
}

function program() {
  const others = "other ways to get modegate: `uvx modegate`, `cargo install`, or an archive of the release";
  if (!optionalDependencies[name]) {
    const known = Object.keys(optionalDependencies).map((name) => name.split("/")[1]);
    fail(`modegate has no npm package for ${platform}, only for ${known.join(", ")}`, [
      "`cargo install` builds it from source",
    ]);
  }
  try {
    const folder = path.dirname(require.resolve(`${name}/package.json`));
    return path.join(folder, "bin", process.platform === "win32" ? "modegate.exe" : "modegate");
  } catch {
    return fail(`the package ${name}, which has the program, is not installed`, [
      "npm leaves it out with `--omit=optional` or `--no-optional`, and if package-lock.json was made on another platform",
      `run \`npm install --include=optional modegate@${version}\`; if that does not help, remove node_modules and package-lock.json first`,
      others,
    ]);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit", windowsHide: true });
child.on("error", (error) => fail(`the program of ${name} cannot be run: ${error.message}`, ["install modegate again"]));
// A terminal sends SIGINT to both; the program decides what it means.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const own of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(own);
  process.kill(process.pid, signal);
});
