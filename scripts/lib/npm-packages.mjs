// Packs the npm packages.
//
//   node npm-packages.mjs platform NAME BINARY OUT   the package of a platform, such as linux-x64
//   node npm-packages.mjs launcher OUT               the package `modegate`
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const launcher = join(root, "npm/modegate");
const { version, license, description } = JSON.parse(readFileSync(join(launcher, "package.json"), "utf8"));

// Windows on ARM runs x64 programs. Linux programs are static, so they need no `libc`.
function manifest(name) {
  const [os, cpu] = name.split("-");
  return {
    name: `@modegate/${name}`,
    version,
    description: `${description} (the program for ${name})`,
    license,
    os: [os],
    cpu: os === "win32" ? ["x64", "arm64"] : [cpu],
    files: ["bin", "LICENSE-*"],
    preferUnplugged: true,
    publishConfig: { access: "public" },
  };
}

function pack(folder, out) {
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) copyFileSync(join(root, name), join(folder, name));
  mkdirSync(out, { recursive: true });
  // npm is a script on Windows.
  const options = { cwd: folder, stdio: ["ignore", "pipe", "ignore"], shell: process.platform === "win32" };
  const name = execFileSync("npm", ["pack", "--pack-destination", resolve(out)], options).toString().trim();
  console.log(join(out, name.split("\n").pop()));
}

function packPlatform(folder, name, binary) {
  const text = JSON.stringify(manifest(name), null, 2);
  const program = join(folder, "bin", basename(binary));
  mkdirSync(dirname(program));
  copyFileSync(binary, program);
  chmodSync(program, 0o755);
  writeFileSync(join(folder, "package.json"), text + "\n");
  writeFileSync(join(folder, "README.md"), `The program of the package modegate for ${name}.\n`);
}

const folder = mkdtempSync(join(tmpdir(), "modegate-npm-"));
try {
  const [kind, ...words] = process.argv.slice(2);
  if (kind === "platform") {
    const [name, binary, out] = words;
    packPlatform(folder, name, binary);
    pack(folder, out);
  } else if (kind === "launcher") {
    cpSync(launcher, folder, { recursive: true });
    pack(folder, words[0]);
  } else {
    throw new Error("give `platform NAME BINARY OUT` or `launcher OUT`");
  }
} finally {
  rmSync(folder, { recursive: true });
}
