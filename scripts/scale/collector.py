"""Runs scripts/scale/otel-collector.yaml with a real collector and compares what it sends with the journals.

usage: collector.py COLLECTOR CONFIG FOLDER-OF-JOURNALS

A server on this machine takes the records. From the configuration only the addresses and folders are replaced; for
collectors before 0.140, `file_log` becomes `filelog`, and without the file storage extension offsets are not kept.
"""
import gzip
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import yaml

collector, config_path, journals = sys.argv[1:4]
SEVERITY = {"pass": "INFO", "observe": "INFO", "warn": "WARN", "ask": "WARN", "block": "ERROR", "stop": "ERROR"}
SECONDS = 60
received = []


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        for resource in json.loads(body)["resourceLogs"]:
            for scope in resource["scopeLogs"]:
                received.extend(scope["logRecords"])
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def adapted(folder, port):
    """The configuration for this collector, these journals and our own server."""
    config = yaml.safe_load(open(config_path))
    listed = yaml.safe_load(subprocess.run([collector, "components"], capture_output=True, check=True).stdout)
    known = lambda part: {entry["name"] for entry in listed.get(part) or []}
    receiver = config["receivers"].pop("file_log")
    name = "file_log" if "file_log" in known("receivers") else "filelog"
    config["receivers"][name] = receiver
    config["service"]["pipelines"]["logs"]["receivers"] = [name]
    receiver["include"] = [f"{journals}/**/*.jsonl"]
    receiver["exclude"] = [f"{journals}/**/*.old.jsonl"]
    if "file_storage" in known("extensions"):
        config["extensions"]["file_storage"] = {"directory": f"{folder}/offsets", "create_directory": True}
    else:
        del receiver["storage"], config["extensions"], config["service"]["extensions"]
    config["exporters"]["otlphttp"] = {"endpoint": f"http://127.0.0.1:{port}", "encoding": "json"}
    config["service"]["telemetry"] = {"metrics": {"level": "none"}}
    path = pathlib.Path(folder, "collector.yaml")
    path.write_text(yaml.safe_dump(config))
    return path, "file_storage" in known("extensions"), listed["buildinfo"]["version"]


def attributes(record):
    return {entry["key"]: entry["value"] for entry in record["attributes"]}


def expected():
    """Session, event, verdict, severity and number of findings of every line."""
    rows = []
    for path in pathlib.Path(journals).rglob("*.jsonl"):
        for line in path.read_text().splitlines() if not path.name.endswith(".old.jsonl") else []:
            line = json.loads(line)
            verdict = line["decision"]["verdict"]
            findings = len(line.get("findings") or [])
            rows.append((line["event"]["session_id"], line["event"]["hook_event_name"], verdict, SEVERITY[verdict], findings))
    return sorted(rows, key=str)


def sent():
    rows = []
    for record in received:
        found = attributes(record)
        text = lambda key: found[key]["stringValue"]
        findings = len(found.get("modegate.findings", {}).get("arrayValue", {}).get("values", []))
        severity = {9: "INFO", 13: "WARN", 17: "ERROR"}.get(record.get("severityNumber"))
        rows.append((text("session.id"), text("event.name"), text("modegate.verdict"), severity, findings))
    return sorted(rows, key=str)


ALLOWED = {"session.id", "event.name", "modegate.verdict", "modegate.moves", "modegate.findings", "modegate.us", "log.file.name", "log.file.path"}
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
want = expected()
with tempfile.TemporaryDirectory() as folder:
    path, stored, version = adapted(folder, server.server_port)
    log = open(f"{folder}/log", "w+")
    process = subprocess.Popen([collector, "--config", str(path)], stdout=log, stderr=log)
    deadline = time.monotonic() + SECONDS
    while len(received) < len(want) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.2)
    process.terminate()
    process.wait()
    log.seek(0)
    problems = [line for line in log.read().splitlines() if "\terror\t" in line or line.startswith("Error")]
assert not problems, "\n".join(problems[:5])
assert sent() == want, f"the journals have {len(want)} lines, the collector sent {len(received)} records, or other values"
others = {key for record in received for key in attributes(record)} - ALLOWED
assert not others and not any(record.get("body") for record in received), f"also sent: {others or 'the body'}"
offsets = "with" if stored else "without"
print(f"   collector {version}, {offsets} file storage: {len(received)} records for {len(want)} lines, with the same values")
