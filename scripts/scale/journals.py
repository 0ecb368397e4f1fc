#!/usr/bin/env python3
"""Plays sessions through the hook and collects their journals: journals.py MODEGATE FOLDER SESSIONS

The sessions differ: a plan from /plan to its consultation, with and without blocks; a planner whose patience ends; a
session that is given up; a /code without a plan. FOLDER/TEAM/SESSION.jsonl is the result.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

TEAMS = ["mobile", "payments", "platform", "search"]
PLANNER, EXPERT = ("a1", "strategic-planner"), ("a2", "consulting-expert")


class Session:
    """A session in a project of its own."""

    def __init__(self, modegate, folder, number):
        self.id = f"{number:08x}-0000-4000-8000-000000000000"
        self.modegate, self.home = modegate, pathlib.Path(folder, self.id)
        (self.home / ".claude/hooks").mkdir(parents=True)
        # Its own home, so that the settings of the person who runs this have no effect.
        self.env = {"PATH": os.environ["PATH"], "HOME": folder, "CLAUDE_PROJECT_DIR": str(self.home)}
        self.date = time.strftime("%m%d%y")

    def send(self, **event):
        event = {**event, "session_id": self.id, "cwd": str(self.home)}
        subprocess.run([self.modegate, "hook"], input=json.dumps(event).encode(), env=self.env, capture_output=True, check=False)

    def prompt(self, text):
        self.send(hook_event_name="UserPromptSubmit", prompt_id="p1", prompt=text)

    def start(self, agent):
        self.send(hook_event_name="PreToolUse", tool_name="Agent", tool_use_id=f"t-{agent[0]}", tool_input={"subagent_type": agent[1], "prompt": "…"})

    def run(self, agent):
        self.start(agent)
        self.send(hook_event_name="SubagentStart", agent_id=agent[0], agent_type=agent[1])

    def stop(self, agent):
        self.send(hook_event_name="SubagentStop", agent_id=agent[0], agent_type=agent[1], stop_hook_active=False)

    def write(self, path, text, agent):
        path = self.home / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.send(hook_event_name="PostToolUse", agent_id=agent[0], agent_type=agent[1], tool_name="Write", tool_use_id="w",
                  tool_input={"file_path": str(path), "content": text}, tool_response={"type": "update", "filePath": str(path)})

    def tool(self, command):
        self.send(hook_event_name="PreToolUse", tool_name="Bash", tool_use_id="b", tool_input={"command": command})
        self.send(hook_event_name="PostToolUse", tool_name="Bash", tool_use_id="b", tool_input={"command": command}, tool_response={"stdout": "…"})

    def journal(self):
        return self.home / f".claude/hooks/sessions/{self.id}.jsonl"


def play(modegate, folder, number):
    choice = random.Random(number)
    session = Session(modegate, folder, number)
    session.send(hook_event_name="SessionStart", source="startup")
    if choice.random() < 0.1:
        session.prompt("/code")
        return session
    session.prompt("/plan a login page")
    if choice.random() < 0.6:
        session.start(PLANNER)
    for _ in range(choice.randrange(4)):
        session.tool("git status --short")
    if choice.random() < 0.1:
        return session
    session.write("project/research/research_x_010126.md", "# Research\n\nOAuth or passwords.\n", ("a0", "research-specialist"))
    session.run(PLANNER)
    plan = f"project/plans/plan_{session.id}_{session.date}.md"
    if choice.random() < 0.1:
        for _ in range(4):
            session.stop(PLANNER)
        return session
    for _ in range(choice.randrange(3)):
        session.stop(PLANNER)
    session.write(plan, "---\ntitle: \"Login\"\n---\n\n# Plan\n\n1. A form.\n", PLANNER)
    session.stop(PLANNER)
    session.run(EXPERT)
    for _ in range(choice.randrange(2)):
        session.stop(EXPERT)
    session.write(plan, "---\ntitle: \"Login\"\nconsulted_by: consulting-expert\n---\n\n# Plan\n\n1. A form.\n", EXPERT)
    session.stop(EXPERT)
    return session


def main():
    modegate, out, count = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    size = lines = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, session in enumerate(pool.map(lambda number: play(modegate, folder, number), range(1, count + 1))):
            target = out / TEAMS[number % len(TEAMS)] / f"{session.id}.jsonl"
            target.parent.mkdir(parents=True, exist_ok=True)
            text = session.journal().read_text()
            target.write_text(text)
            size, lines = size + len(text.encode()), lines + text.count("\n")
    print(f"{count} sessions, {lines} lines, {size / 1e6:.1f} MB in {out}")


if __name__ == "__main__":
    main()
