"""Prints a software bill of materials (CycloneDX 1.5, JSON) of the crates in a released program: sbom.py TARGET.

It is made from `cargo metadata`: crates that only build scripts and tests use are left out.
"""

import json
import subprocess
import sys


def metadata(target):
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--features", "tls", "--filter-platform", target]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def shipped(nodes, root):
    """The ids of the packages that are linked into the program, with what each depends on."""
    found, waiting = {}, [root]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        normal = lambda dep: any(kind["kind"] is None for kind in dep["dep_kinds"])
        found[name] = sorted(dep["pkg"] for dep in nodes[name]["deps"] if normal(dep))
        waiting.extend(found[name])
    return found


def url(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def checksums():
    """The checksums of Cargo.lock, by package."""
    try:
        import tomllib
    except ImportError:  # Python before 3.11
        return {}
    with open("Cargo.lock", "rb") as file:
        locked = tomllib.load(file)["package"]
    return {url(package): package["checksum"] for package in locked if "checksum" in package}


def component(package, known):
    entry = {
        "type": "library",
        "bom-ref": url(package),
        "name": package["name"],
        "version": package["version"],
        "purl": url(package),
    }
    if package["license"]:
        entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if url(package) in known:
        entry["hashes"] = [{"alg": "SHA-256", "content": known[url(package)]}]
    return entry


def main(target):
    data = metadata(target)
    packages = {package["id"]: package for package in data["packages"]}
    root = data["resolve"]["root"]
    found = shipped({node["id"]: node for node in data["resolve"]["nodes"]}, root)
    known = checksums()
    rest = sorted((packages[name] for name in found if name != root), key=url)
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {**component(packages[root], known), "type": "application"},
            "properties": [{"name": "target", "value": target}],
        },
        "components": [component(package, known) for package in rest],
        "dependencies": [
            {"ref": url(packages[name]), "dependsOn": [url(packages[dep]) for dep in found[name]]}
            for name in sorted(found, key=lambda name: url(packages[name]))
        ],
    }
    print(json.dumps(bom, indent=2))


main(*sys.argv[1:])
