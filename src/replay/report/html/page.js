"use strict";

// The report of `modegate replay --html`. One file, no dependency, no network. The data is embedded as JSON.
// Whatever comes from the data reaches the page as text only (`textContent`, attributes), never as markup: a journal
// holds what models, tools and strangers have written.

(() => {
  performance.mark("modegate-begin");

  // ---------------------------------------------------------------------------------------------------- Small tools

  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);
  const many = (value) => (Array.isArray(value) ? value : []);
  const isThing = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  /** Any value of the data as text; nothing is the empty text. */
  function words(value) {
    if (value === undefined || value === null) return "";
    return typeof value === "string" ? value : JSON.stringify(value);
  }

  const clamp = (low, value, high) => Math.max(low, Math.min(high, value));
  const count = (number, one, more = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : more}`;
  const shortened = (text, length) => {
    const letters = Array.from(text);
    return letters.length > length ? `${letters.slice(0, Math.max(1, length - 1)).join("")}…` : text;
  };

  // SVG does not cut a text that is too long, and how wide a letter is depends on the reader's fonts: it is measured.
  const pen = document.createElement("canvas").getContext("2d");
  const fonts = getComputedStyle(document.body).fontFamily;
  const measured = new Map();

  /** The text, cut to so many pixels. */
  function fitted(text, room, size = 12, weight = 400) {
    const key = `${Math.round(room)} ${size} ${weight} ${text}`;
    if (!measured.has(key)) {
      if (measured.size > 4000) measured.clear();
      measured.set(key, cutTo(text, room, `${weight} ${size}px ${fonts}`));
    }
    return measured.get(key);
  }

  function cutTo(text, room, font) {
    pen.font = font;
    const letters = Array.from(text.slice(0, 400));
    const cut = (length) => (length < letters.length ? `${letters.slice(0, length).join("")}…` : text);
    const fits = (length) => pen.measureText(cut(length)).width <= room;
    if (letters.length === 0 || fits(letters.length)) return text;
    let low = 0;
    let high = letters.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (fits(middle)) low = middle;
      else high = middle - 1;
    }
    return low > 0 ? cut(low) : "";
  }

  /** Sets attributes; a function is a listener, `undefined`, `null` and `false` leave the attribute out. */
  function dress(node, attributes) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value === undefined || value === null || value === false) continue;
      if (typeof value === "function") node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    return node;
  }

  /** An HTML element. Strings among the children become text. */
  function el(tag, attributes, ...children) {
    const node = dress(document.createElement(tag), attributes);
    node.append(...children.flat(3).filter((child) => child !== undefined && child !== null && child !== false));
    return node;
  }

  /** An SVG element. */
  function draw(tag, attributes, ...children) {
    const node = dress(document.createElementNS(SVG, tag), attributes);
    node.append(...children.flat(3).filter(Boolean));
    return node;
  }

  const quiet = (...children) => el("span", { class: "quiet" }, ...children);
  const pushButton = (attributes, ...children) => el("button", { type: "button", ...attributes }, ...children);
  const dotted = (parts) => parts.filter(Boolean).join(" · ");
  const localized = (number) => number.toLocaleString("en");

  // ---------------------------------------------------------------------------------------------------- The words

  // Kinds of change, in the order in which a reader wants them.
  const CHANGES = new Map([
    ["newly_blocked", { word: "newly blocked", title: "Newly blocked", says: "was allowed, is blocked now" }],
    ["newly_allowed", { word: "newly allowed", title: "Newly allowed", says: "was blocked, is allowed now" }],
    ["drift", { word: "drift", title: "Drift", says: "the same modes decide differently than recorded" }],
    ["changed_reason", { word: "changed reason", title: "Changed reason", says: "same verdict, another reason" }],
    ["changed_otherwise", { word: "changed otherwise", title: "Changed otherwise", says: "same verdict and reason, but other context, messages or mode changes" }],
    ["undecidable", { word: "undecidable", title: "Undecidable", says: "the decision needs a fact that was not recorded" }],
  ]);

  // The chips of the header: what they count, and which events they let through.
  const FILTERS = [
    { key: "blocked", word: "blocked", lets: (event) => event.blocked },
    ...Array.from(CHANGES, ([key, { word }]) => ({ key, word, lets: (event) => event.change === key })),
    { key: "unmet", word: "unmet expectations", lets: (event) => event.unmet },
  ];

  // The groups of the list: the kinds of change, and what else can be searched for.
  const GROUPS = new Map([
    ...CHANGES,
    ["unmet", { title: "Unmet expectations", says: "the decision is not the expected one" }],
    ["blocked", { title: "Blocked", says: "as before" }],
    ["other", { title: "Other events", says: "" }],
  ]);

  const TRUTHS = new Map([
    ["passes", { sign: "✓", word: "passes" }],
    ["fails", { sign: "✗", word: "fails" }],
    ["unknown", { sign: "?", word: "unknown" }],
  ]);

  // Marks differ in shape as well as in colour. A graver mark hides a lighter one where there is no room for both.
  const MARKS = new Map([
    ["silent", { grave: 0, path: "M-2.5 0a2.5 2.5 0 105 0a2.5 2.5 0 10-5 0z", legend: "no gate matched" }],
    ["pass", { grave: 1, path: "M-4 0a4 4 0 108 0a4 4 0 10-8 0z", legend: "pass" }],
    ["observe", { grave: 2, path: "M-4-4h8v8h-8z", legend: "observe" }],
    ["unknown", { grave: 3, path: "M-5 0a5 5 0 1010 0a5 5 0 10-10 0z", legend: "unknown or undecidable" }],
    ["warn", { grave: 4, path: "M0-6.5L6.5 5h-13z", legend: "ask, warn or unfinished" }],
    ["block", { grave: 5, path: "M0-7.5L7.5 0 0 7.5-7.5 0z", legend: "block or stop" }],
  ]);

  const VERDICT_MARKS = new Map([
    ["pass", "pass"], ["observe", "observe"], ["warn", "warn"], ["ask", "warn"], ["block", "block"], ["stop", "block"],
  ]);

  const isBlock = (verdict) => verdict === "block" || verdict === "stop";

  // ---------------------------------------------------------------------------------------------------- The model

  function readReport() {
    try {
      const read = JSON.parse(byId("data").textContent);
      return isThing(read) ? read : {};
    } catch (error) {
      return { problems: [{ what: `the data of this page cannot be read: ${error.message}` }] };
    }
  }

  const report = readReport();
  const summary = isThing(report.summary) ? report.summary : {};
  const problems = many(report.problems).filter(isThing);
  const catalogue = many(report.modes).filter(isThing);
  const sessions = many(report.sessions).filter(isThing).map(sessionOf);
  nameApart(sessions);
  const everyEvent = sessions.flatMap((session) => session.events);
  const hues = huesOfModes();

  function sessionOf(raw) {
    const session = { raw, id: words(raw.id) || "unnamed", key: words(raw.id) || "unnamed" };
    session.events = many(raw.events).filter(isThing).map((result, index) => eventOf(result, index, session));
    session.lanes = lanesOf(session.events);
    session.bands = bandsOf(session.events);
    session.differing = session.events.filter((event) => event.differs).length;
    session.blocked = session.events.filter((event) => event.blocked).length;
    session.byLine = new Map();
    for (const event of session.events) if (!session.byLine.has(event.line)) session.byLine.set(event.line, event);
    session.times = timesOf(session.events);
    session.title = titleOf(session);
    session.journeys = new Map();
    return session;
  }

  /** The short id with the first prompt, or else the time of the first event. */
  function titleOf(session) {
    const prompt = session.events.find((event) => words(event.result.kind).startsWith("UserPrompt"));
    const text = words(prompt?.result.event).replace(/^[A-Za-z]+\(([^]*)\)$/, "$1");
    const time = words(session.events.find((event) => words(event.result.at))?.result.at).replace("T", " ").slice(0, 16);
    const short = /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(session.id) ? session.id.slice(0, 8) : session.id;
    return dotted([short, text || time]);
  }

  /** A session may be there twice, as journal and as recording; a link must still find the right one. */
  function nameApart(all) {
    const seen = new Map();
    for (const session of all) {
      const times = (seen.get(session.id) ?? 0) + 1;
      seen.set(session.id, times);
      if (times > 1) session.key = `${session.id}~${times}`;
    }
  }

  function eventOf(result, index, session) {
    const findings = many(result.findings).filter(isThing);
    const change = CHANGES.has(result.change) ? result.change : "";
    const unmet = result.met === false;
    const event = {
      result, index, session, findings, change, unmet,
      line: Number.isInteger(result.line) ? String(result.line) : `e${index + 1}`,
      name: words(result.event) || words(result.kind) || "an event without a name",
      verdict: words(result.verdict) || "pass",
      modes: isThing(result.modes) ? Object.entries(result.modes).map(([mode, phase]) => [mode, words(phase)]) : [],
      differs: change !== "" || unmet,
      blocked: isBlock(result.verdict),
      lane: 0,
    };
    event.mark = markOf(event);
    event.outcome = words(result.outcome) || event.verdict;
    return event;
  }

  function markOf({ result, findings, change, verdict }) {
    if (change === "undecidable") return "unknown";
    if (isBlock(verdict)) return "block";
    if (result.outcome === "unfinished" || findings.some((finding) => finding.unmet)) return "warn";
    const mark = VERDICT_MARKS.get(verdict) ?? "pass";
    if (mark !== "pass") return mark;
    if (findings.some((finding) => finding.outcome?.truth === "unknown")) return "unknown";
    return findings.length > 0 ? "pass" : "silent";
  }

  /** The agents in order of their first appearance, the main agent first. Sets the lane of every event. */
  function lanesOf(events) {
    const lanes = [{ key: "", type: "main", id: "", events: [] }];
    const known = new Map([["", 0]]);
    for (const event of events) {
      const type = words(event.result.agent);
      const id = words(event.result.agent_id);
      const key = id || type;
      if (!known.has(key)) {
        known.set(key, lanes.length);
        lanes.push({ key, type: type || "agent", id, events: [] });
      }
      event.lane = known.get(key);
      const lane = lanes[event.lane];
      if (type && lane.type === "agent") lane.type = type;
      lane.events.push(event);
    }
    const ofType = new Map();
    for (const lane of lanes) ofType.set(lane.type, (ofType.get(lane.type) ?? 0) + 1);
    for (const lane of lanes) {
      const twin = ofType.get(lane.type) > 1 || lane.type === "agent";
      // Ids of one session often begin alike; their ends tell them apart.
      const short = lane.id.length > 6 ? `…${lane.id.slice(-4)}` : lane.id;
      lane.label = twin && lane.id ? `${lane.type} ${short}` : lane.type;
    }
    return lanes;
  }

  /** Where each mode is active, as spans of one phase: `modes` of an event tells how things stand after it. */
  function bandsOf(events) {
    const bands = new Map();
    for (const event of events) {
      for (const [mode, phase] of event.modes) {
        if (!bands.has(mode)) bands.set(mode, []);
        const spans = bands.get(mode);
        const last = spans.at(-1);
        if (last && last.to === event.index - 1 && last.phase === phase) last.to = event.index;
        else spans.push({ phase, from: event.index, to: event.index });
      }
    }
    return Array.from(bands, ([mode, spans]) => ({ mode, spans }));
  }

  /** Milliseconds since the first event, never going back; nothing when the events have no times. */
  function timesOf(events) {
    const read = events.map((event) => Date.parse(words(event.result.at)));
    const first = read.find(Number.isFinite);
    if (first === undefined || read.filter(Number.isFinite).length < 2) return null;
    let latest = 0;
    return read.map((at) => (latest = Number.isFinite(at) ? Math.max(latest, at - first) : latest));
  }

  function huesOfModes() {
    const named = new Map();
    const name = (mode) => named.has(mode) || named.set(mode, named.size % 8);
    catalogue.forEach((mode) => name(words(mode.name)));
    sessions.forEach((session) => session.bands.forEach((band) => name(band.mode)));
    return named;
  }

  const hueOf = (mode) => `hue-${hues.get(mode) ?? 0}`;

  /** What a session did in a mode: phases seen and done, and how its gates answered. */
  function journeyOf(session, mode) {
    if (!session.journeys.has(mode)) session.journeys.set(mode, travelled(session, mode));
    return session.journeys.get(mode);
  }

  function travelled(session, mode) {
    const journey = {
      visited: new Set(), done: new Set(), skipped: new Set(), unmet: new Set(), blocks: new Map(), latest: new Map(),
    };
    for (const event of session.events) {
      for (const [name, phase] of event.modes) if (name === mode) journey.visited.add(phase);
      for (const finding of event.findings) {
        if (finding.mode !== mode) continue;
        const gate = words(finding.gate);
        const blocks = isBlock(finding.verdict) || finding.verdict === "ask";
        if (finding.unmet) journey.unmet.add(gate);
        else if (blocks) journey.blocks.set(gate, (journey.blocks.get(gate) ?? 0) + 1);
        journey.latest.set(gate, blocks ? "block" : finding.outcome?.truth === "passes" ? "pass" : "warn");
      }
      for (const move of many(event.result.moves)) noteMove(words(move), mode, journey);
    }
    return journey;
  }

  /** Moves are words: `plan: draft done`, `code: troubleshoot entered`. */
  function noteMove(move, mode, journey) {
    if (!move.startsWith(`${mode}: `)) return;
    const rest = move.slice(mode.length + 2);
    const at = rest.lastIndexOf(" ");
    const phase = rest.slice(0, at);
    const what = rest.slice(at + 1);
    if (what === "done") journey.done.add(phase);
    if (what === "skipped") journey.skipped.add(phase);
    if (what === "done" || what === "entered") journey.visited.add(phase);
  }

  /** The gate that speaks for an event: the first of the gravest findings. */
  function gateOf(event) {
    const grave = (finding) => MARKS.get(VERDICT_MARKS.get(finding.verdict) ?? "pass").grave;
    let found = null;
    for (const finding of event.findings) if (!found || grave(finding) > grave(found)) found = finding;
    return found ? words(found.gate) : "";
  }

  // ---------------------------------------------------------------------------------------------------- The state

  const state = {
    session: sessions[0] ?? null,
    event: null,
    filters: new Set(),
    query: "",
    scale: "order",
    step: 22,
  };

  const isFiltered = () => state.filters.size > 0 || state.query !== "";

  /** All the words of an event in lower case. Made when the first search comes, for it costs time and memory. */
  function hayOf(event) {
    event.hay ??= [event.session.id, JSON.stringify(event.result)].join(" ").toLowerCase();
    return event.hay;
  }

  function matches(event) {
    const lets = (filter) => state.filters.has(filter.key) && filter.lets(event);
    if (state.filters.size > 0 && !FILTERS.some(lets)) return false;
    return state.query === "" || state.query.split(/\s+/).every((word) => hayOf(event).includes(word));
  }

  let matching = new Set();
  let listed = everyEvent.filter((event) => event.differs);

  /** Which events the filters and the search let through; without any, the list holds the differences. */
  function sift() {
    const found = isFiltered() ? everyEvent.filter(matches) : [];
    matching = new Set(found);
    listed = isFiltered() ? found : everyEvent.filter((event) => event.differs);
  }

  // ---------------------------------------------------------------------------------------------------- The header

  function headline() {
    const number = (key) => (Number.isFinite(summary[key]) ? summary[key] : 0);
    const events = Number.isFinite(summary.events) ? summary.events : everyEvent.length;
    const all = Number.isFinite(summary.sessions) ? summary.sessions : sessions.length;
    if (events === 0) return "No events to replay";
    const kinds = Array.from(CHANGES.keys()).filter((key) => key !== "undecidable");
    const differ = kinds.map(number).reduce((a, b) => a + b, 0);
    const parts = [];
    if (differ > 0) parts.push(`${count(differ, "decision differs", "decisions differ")}`);
    if (number("undecidable") > 0) parts.push(`${localized(number("undecidable"))} undecidable`);
    if (number("unmet") > 0) parts.push(`${count(number("unmet"), "expectation")} unmet`);
    if (parts.length === 0 && report.comparison === "none") parts.push(`${localized(number("blocked"))} blocked`);
    if (parts.length === 0) parts.push("all decisions are unchanged");
    return `${count(events, "event")} in ${count(all, "session")}: ${parts.join(", ")}`;
  }

  const COMPARISONS = new Map([
    ["drift", "decided again by the recorded modes"],
    ["modes", "decided again by other modes"],
    ["none", "nothing to compare with"],
  ]);

  function showHeader() {
    const compared = COMPARISONS.get(report.comparison);
    const version = words(report.modegate);
    byId("eyebrow").textContent = dotted(["modegate replay", version, compared]);
    byId("verdict").textContent = headline();
    document.title = `${headline()} · modegate`;
    const chips = FILTERS.map(
      ({ key, word, lets }) => chip(key, word, everyEvent.filter(lets).length, () => toggleFilter(key)),
    );
    const word = problems.length === 1 ? "problem" : "problems";
    if (problems.length > 0) chips.push(chip("problems", word, problems.length, showProblems));
    byId("chips").replaceChildren(...chips);
  }

  // A chip counts what can be shown. The title says how many of the summary are not on the page.
  function chip(key, word, shown, act) {
    const total = Number.isFinite(summary[key]) ? Math.max(summary[key], shown) : shown;
    const title = total > shown ? `${shown} of them are in this file` : null;
    const filters = key !== "problems";
    const node = pushButton({ class: `chip chip-${key}`, "data-filter": key, disabled: shown === 0, title, onclick: act },
      filters && signOf(CHIP_MARKS.get(key), key), el("b", {}, localized(total)), " ", word);
    if (filters) node.setAttribute("aria-pressed", "false");
    return node;
  }

  const CHIP_MARKS = new Map([["blocked", "block"], ["undecidable", "unknown"]]);

  function signOf(mark, key) {
    const path = mark ? MARKS.get(mark).path : "M-5.5 0a5.5 5.5 0 1011 0a5.5 5.5 0 10-11 0z";
    return draw("svg", { viewBox: "-9 -9 18 18", width: 14, height: 14, "aria-hidden": "true" },
      draw("path", { d: path, class: mark ? `mark ${mark}` : `ring ${key}` }));
  }

  function toggleFilter(key) {
    if (!state.filters.delete(key)) state.filters.add(key);
    showSifted();
  }

  function clearFilters() {
    state.filters.clear();
    state.query = "";
    byId("search").value = "";
    showSifted();
  }

  function showSifted() {
    sift();
    for (const node of byId("chips").querySelectorAll("[aria-pressed]")) {
      node.setAttribute("aria-pressed", String(state.filters.has(node.dataset.filter)));
    }
    showList();
    showSessions();
    timeline.draw();
    if (isFiltered()) announce(`${count(listed.length, "event")} shown`);
  }

  function showProblems() {
    const panel = byId("problems");
    panel.hidden = false;
    panel.scrollIntoView({ block: "nearest" });
    panel.focus();
  }

  // ---------------------------------------------------------------------------------------------------- The list

  const ROWS_AT_FIRST = 40;

  function groupOf(event) {
    if (event.change) return event.change;
    if (event.unmet) return "unmet";
    return event.blocked ? "blocked" : "other";
  }

  function grouped(events) {
    const groups = new Map(Array.from(GROUPS.keys(), (key) => [key, new Map()]));
    for (const event of events) {
      const gates = groups.get(groupOf(event));
      const gate = gateOf(event);
      if (!gates.has(gate)) gates.set(gate, []);
      gates.get(gate).push(event);
    }
    return Array.from(groups).filter(([, gates]) => gates.size > 0);
  }

  function showList() {
    const card = byId("differences");
    const found = count(listed.length, isFiltered() ? "matching event" : "difference");
    const title = isFiltered() || listed.length > 0 ? found : "Differences";
    const clear = isFiltered() && pushButton({ class: "plain", onclick: clearFilters }, "Clear the filter");
    const head = el("div", { class: "card-head" }, el("h2", {}, title), clear);
    if (listed.length === 0) {
      card.replaceChildren(head, emptyWords());
      return;
    }
    const list = el("div", { class: "rows", onkeydown: roveRows });
    for (const [key, gates] of grouped(listed)) list.append(groupNode(key, gates));
    card.replaceChildren(head, list);
    keepOneTabStop(list, ".row");
    markRow();
  }

  function emptyWords() {
    const say = (sign, said, more) => el("p", { class: "empty" }, sign, el("span", {}, said, " ", quiet(more)));
    if (isFiltered()) return say(null, "No event is like that.", "Try fewer words, or another chip.");
    if (everyEvent.length === 0) return say(
      null,
      "There is nothing here yet.",
      "Replay a journal or a recording, and its sessions appear.",
    );
    const fine = draw("svg", { class: "fine", viewBox: "0 0 24 24", width: 22, height: 22, "aria-hidden": "true" },
      draw("circle", { cx: 12, cy: 12, r: 10 }), draw("path", { d: "M7.5 12.5l3 3 6-6.5" }));
    if (report.comparison === "none") return say(
      fine,
      "No recorded decisions to compare with.",
      "The timeline shows what was decided, and why.",
    );
    return say(fine, "Nothing differs.", "Every decision is as recorded.");
  }

  function groupNode(key, gates) {
    const { title, says } = GROUPS.get(key);
    const total = Array.from(gates.values()).reduce((sum, events) => sum + events.length, 0);
    const node = el("section", { class: "group" },
      el("h3", {}, title, " ", el("span", { class: "number" }, String(total)), says && quiet(says)));
    for (const [gate, events] of gates) {
      const named = [quiet("gate "), el("code", { dir: "auto" }, shortened(gate, 80))];
      node.append(el("h4", {}, gate ? named : quiet("no gate")));
      const rows = el("div", { class: "gate-rows" });
      node.append(rows);
      showRows(rows, events, ROWS_AT_FIRST);
    }
    return node;
  }

  /** A list of thousands is shown in portions: nobody reads it whole, and the browser should stay quick. */
  function showRows(rows, events, limit) {
    const from = rows.childElementCount;
    rows.append(...events.slice(from, limit).map(rowNode));
    if (events.length <= limit) return;
    const more = pushButton({ class: "plain more-rows", onclick: () => {
      more.remove();
      showRows(rows, events, limit + 400);
      keepOneTabStop(byId("differences").querySelector(".rows"), ".row");
    } }, `Show ${(Math.min(400, events.length - limit)).toLocaleString("en")} more`);
    rows.append(more);
  }

  function rowNode(event) {
    const node = pushButton({ class: "row", tabindex: "-1", onclick: () => select(event) },
      markNode(event.mark, event.differs),
      el("span", { class: "row-name", dir: "auto" }, shortened(event.name, 90)),
      el("span", { class: "row-change" }, changeWords(event)),
      el("span", { class: "row-place quiet" }, el("bdi", {}, shortened(event.session.id, 24)), ` : ${event.line}`),
      el("span", { class: "row-why quiet", dir: "auto" }, shortened(words(event.result.reason), 160)));
    node.event = event;
    return node;
  }

  function changeWords(event) {
    const { result } = event;
    const now = verdictNode(event.verdict);
    if (event.change === "undecidable") return [el("span", {}, "cannot be decided")];
    if (event.change) {
      const before = isThing(result.was) ? words(result.was.verdict) || event.verdict : "?";
      return [verdictNode(before), el("span", { class: "arrow", "aria-label": "became" }, " → "), now];
    }
    if (!event.unmet) return [now];
    return [quiet("expected "), verdictNode(words(result.expected?.verdict) || "?"), quiet(", got "), now];
  }

  function verdictNode(verdict) {
    const mark = VERDICT_MARKS.get(verdict) ?? "unknown";
    return el("span", { class: `verdict is-${mark}` }, markNode(mark), shortened(verdict, 24));
  }

  function markNode(mark, ringed) {
    return draw("svg", { class: "sign", viewBox: "-11 -11 22 22", width: 18, height: 18, "aria-hidden": "true" },
      ringed && draw("circle", { class: "ring", r: 9.5 }),
      draw("path", { class: `mark ${mark}`, d: MARKS.get(mark).path }));
  }

  function markRow() {
    for (const row of byId("differences").querySelectorAll(".row")) {
      row.classList.toggle("chosen", row.event === state.event);
    }
  }

  /** Brings the chosen row into view. The list moves, and nothing around it. */
  function showChosenRow() {
    const list = byId("differences").querySelector(".rows");
    const row = list?.querySelector(".row.chosen");
    if (!row) return;
    const box = list.getBoundingClientRect();
    const { top, bottom } = row.getBoundingClientRect();
    if (top < box.top + 34) list.scrollTop += top - box.top - 60;
    else if (bottom > box.bottom) list.scrollTop += bottom - box.bottom + 12;
  }

  // One element of a list is reached with Tab, the others with the arrow keys.
  function keepOneTabStop(list, selector) {
    const nodes = Array.from(list?.querySelectorAll(selector) ?? []);
    if (nodes.length > 0 && !nodes.some((node) => node.tabIndex === 0)) nodes[0].tabIndex = 0;
  }

  function rove(list, selector, by) {
    const nodes = Array.from(list.querySelectorAll(selector));
    const at = nodes.indexOf(document.activeElement);
    const next = nodes[clamp(0, at + by, nodes.length - 1)];
    if (at < 0 || !next) return false;
    nodes[at].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    return next !== nodes[at];
  }

  function roveRows(press) {
    const by = press.key === "ArrowDown" ? 1 : press.key === "ArrowUp" ? -1 : 0;
    if (by === 0 || press.altKey || press.ctrlKey || press.metaKey) return;
    if (!press.target.closest(".row")) return;
    rove(press.currentTarget, ".row", by);
    press.preventDefault();
    press.stopPropagation();
  }

  // ---------------------------------------------------------------------------------------------------- The sessions

  function showSessions() {
    const list = byId("sessions");
    const found = (session) => session === state.session || session.events.some((event) => matching.has(event));
    const shown = isFiltered() ? sessions.filter(found) : sessions;
    list.replaceChildren(...shown.map(sessionNode));
    if (shown.length === 0) list.append(el("li", { class: "quiet" }, "No sessions."));
  }

  const sourceOf = (session) => shortened(words(session.raw.source), 16);

  function sessionNode(session) {
    const chosen = session === state.session;
    const counts = [count(session.events.length, "event")];
    if (session.blocked > 0) counts.push(`${session.blocked} blocked`);
    if (session.differing > 0) counts.push(`${session.differing} differ`);
    const source = sourceOf(session);
    const button = pushButton({
      class: "session", "aria-current": chosen ? "true" : null, tabindex: chosen ? "0" : "-1",
      title: words(session.raw.file), onclick: () => openSession(session),
    },
      el("span", { class: "session-top" },
        el("span", { class: "session-name", dir: "auto" }, shortened(session.title, 60)),
        source && el("span", { class: "source quiet" }, source),
      ),
      strip(session, Math.max(120, byId("sessions").clientWidth - 18), 26),
      el("span", { class: "session-counts quiet" }, counts.join(" · ")));
    button.session = session;
    return el("li", {}, button);
  }

  /** The whole session on one small bar: rings for differences, marks for blocks and warnings, bands for modes. */
  function strip(session, width, height) {
    const total = Math.max(1, session.events.length);
    const x = (event) => clamp(5, ((event.index + 0.5) / total) * width, width - 5);
    const line = height - 11;
    const size = { viewBox: `0 0 ${width} ${height}`, width, height, preserveAspectRatio: "none" };
    const node = draw("svg", { class: "strip", "aria-hidden": "true", ...size },
      draw("line", { class: "strip-line", x1: 0, x2: width, y1: line, y2: line }));
    session.bands.slice(0, 2).forEach((band, row) => {
      for (const span of band.spans) {
        const from = (span.from / total) * width;
        const wide = Math.max(1, ((span.to + 1) / total) * width - from - 0.5);
        const y = height - 3 - row * 3;
        node.append(draw("rect", { class: `strip-band ${hueOf(band.mode)}`, x: from, y, width: wide, height: 2.5 }));
      }
    });
    for (const event of thinned(session.events.filter((one) => MARKS.get(one.mark).grave > 2), x)) {
      const transform = `translate(${x(event).toFixed(1)} ${line}) scale(.55)`;
      node.append(draw("path", { class: `mark ${event.mark}`, d: MARKS.get(event.mark).path, transform }));
    }
    for (const event of thinned(session.events.filter((one) => one.differs), x)) {
      node.append(draw("circle", { class: "ring", r: 3, cx: x(event).toFixed(1), cy: line - 9 }));
    }
    return node;
  }

  /** Of marks that would fall on each other only the gravest stays. */
  function thinned(events, x) {
    const columns = new Map();
    for (const event of events) {
      const column = Math.floor(x(event) / 7);
      const there = columns.get(column);
      if (!there || MARKS.get(event.mark).grave > MARKS.get(there.mark).grave) columns.set(column, event);
    }
    return columns.values();
  }

  function roveSessions(press) {
    const by = press.key === "ArrowDown" ? 1 : press.key === "ArrowUp" ? -1 : 0;
    if (by === 0 || press.altKey || press.ctrlKey || press.metaKey) return;
    if (rove(byId("sessions"), ".session", by)) openSession(document.activeElement.session);
    press.preventDefault();
    press.stopPropagation();
  }

  /** Opens a session at its first difference, block, or event: where a reader would look first. */
  function openSession(session) {
    const kept = document.activeElement?.closest?.("#sessions") !== null;
    const { events } = session;
    const first = events.find((event) => event.differs) ?? events.find((event) => event.blocked) ?? events[0];
    if (first) select(first);
    else {
      state.session = session;
      state.event = null;
      showAll();
    }
    if (kept) byId("sessions").querySelector("[aria-current]")?.focus();
  }

  function showSideNotes() {
    const left = report.left_out;
    if (isThing(left) && (left.sessions > 0 || left.events > 0)) {
      byId("left-out").hidden = false;
      const what = `${count(left.sessions ?? 0, "more session")} with ${count(left.events ?? 0, "event")}`;
      byId("left-out").textContent = `${what} left out: they have no differences.`;
    }
    if (problems.length === 0) return;
    const shown = problems.slice(0, 200);
    byId("problems").hidden = false;
    byId("problems").replaceChildren(
      el("h2", { class: "side-title" }, "Problems ", el("span", { class: "number" }, String(problems.length))),
      el("ul", {}, shown.map((problem) => {
        const place = [words(problem.file), words(problem.line)].filter(Boolean).join(":");
        const what = el("span", { dir: "auto" }, clipped(words(problem.what), 300));
        return el("li", {}, place && el("code", { dir: "auto" }, place), what);
      })),
      problems.length > shown.length ? el("p", { class: "quiet" }, `and ${localized(problems.length - shown.length)} more`) : "");
  }

  // ---------------------------------------------------------------------------------------------------- The timeline

  // Only what is in view is drawn, so that a session of thousands of events scrolls as smoothly as one of ten.
  const timeline = (() => {
    const ROW = 32;
    const BAND = 24;
    const AXIS = 20;
    const PAD = 18;
    const NEAR = 5;
    const CROWD = 250;
    const scroller = byId("scroller");
    const extent = byId("extent");
    const label = "Events of the session. Arrow keys go from event to event.";
    const canvas = draw("svg",
      { class: "canvas", id: "timeline", tabindex: "0", role: "listbox", "aria-label": label },
    );
    let xs = [];
    let drawn = [];
    let waiting = 0;
    extent.append(canvas);

    /** As wide as the longest name needs, within reason. */
    function gutter() {
      const lanes = state.session?.lanes ?? [];
      const modes = state.session?.bands ?? [];
      const longest = Math.max(...lanes.map((lane) => lane.label.length), ...modes.map((band) => band.mode.length + 8));
      return clamp(96, longest * 6.9 + 30, Math.min(196, scroller.clientWidth / 3));
    }
    const headHeight = () => AXIS + (state.session?.bands.length ?? 0) * BAND + 6;
    const room = () => Math.max(100, scroller.clientWidth - gutter());
    const fitStep = () => (room() - 2 * PAD) / Math.max(1, (state.session?.events.length ?? 1) - 1);
    const width = () => (xs.length > 0 ? xs[xs.length - 1] + PAD : 0);

    /** Measures anew: after another session, zoom or scale. */
    function lay() {
      const { session } = state;
      if (!session) return;
      const n = session.events.length;
      if (state.scale === "time" && session.times) {
        const span = Math.max(1, session.times[n - 1]);
        const perMillisecond = ((n - 1) * state.step) / span;
        xs = session.times.map((time) => PAD + time * perMillisecond);
      } else {
        xs = session.events.map((event) => PAD + event.index * state.step);
      }
      extent.style.width = `${gutter() + Math.max(width(), room())}px`;
      const height = headHeight() + session.lanes.length * ROW + 8;
      extent.style.height = `${height}px`;
      scroller.style.height = `${clamp(110, height + 2, 400)}px`;
      showOverview();
      paint();
    }

    function later() {
      if (waiting === 0) waiting = requestAnimationFrame(() => { waiting = 0; paint(); });
    }

    function firstFrom(x) {
      let low = 0;
      let high = xs.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (xs[middle] < x) low = middle + 1;
        else high = middle;
      }
      return low;
    }

    function paint() {
      const { session } = state;
      if (!session || scroller.clientWidth === 0) return;
      const view = {
        left: scroller.scrollLeft, top: scroller.scrollTop, gutter: gutter(), head: headHeight(),
        width: scroller.clientWidth, height: scroller.clientHeight,
      };
      view.from = firstFrom(view.left - 20);
      view.to = firstFrom(view.left + view.width - view.gutter + 20);
      const lowest = Math.floor((view.top + view.height - view.head) / ROW);
      view.lanes = [Math.floor(view.top / ROW), Math.min(session.lanes.length - 1, lowest)];
      dress(canvas, { width: view.width, height: view.height, viewBox: `0 0 ${view.width} ${view.height}` });
      drawn = gather(session, view);
      // Painted from back to front: what scrolls lies under the head and the gutter, which do not.
      canvas.replaceChildren(
        tints(session, view), laneLines(session, view), cursor(view), marks(view), laneLabels(session, view),
        draw("rect", { class: "paper", x: 0, y: 0, width: view.width, height: view.head }),
        bands(session, view), axis(session, view),
        draw("rect", { class: "paper", x: 0, y: 0, width: view.gutter, height: view.head }),
        bandLabels(session, view),
        draw("line", { class: "edge", x1: 0, x2: view.width, y1: view.head - 0.5, y2: view.head - 0.5 }),
        draw("line", { class: "edge", x1: view.gutter - 0.5, x2: view.gutter - 0.5, y1: 0, y2: view.height }));
      const active = state.event?.session === session ? `mark-${state.event.index}` : null;
      if (active && canvas.querySelector(`#${active}`)) canvas.setAttribute("aria-activedescendant", active);
      else canvas.removeAttribute("aria-activedescendant");
      moveLens(view);
    }

    const screenX = (view, index) => xs[index] - view.left + view.gutter;
    const screenY = (view, lane) => view.head + lane * ROW + ROW / 2 - view.top + 2;

    /** The marks in view. Where events lie closer than an eye can tell, the gravest stands for all. */
    function gather(session, view) {
      const latest = new Map();
      const found = [];
      for (let index = view.from; index < view.to; index += 1) {
        const event = session.events[index];
        if (event.lane < view.lanes[0] || event.lane > view.lanes[1]) continue;
        const there = latest.get(event.lane);
        if (there && xs[index] - there.x < NEAR) {
          there.events += 1;
          there.differs ||= event.differs;
          const graver = MARKS.get(event.mark).grave > MARKS.get(there.event.mark).grave;
          if (event === state.event || (there.event !== state.event && graver)) there.event = event;
        } else {
          const mark = { event, x: xs[index], events: 1, differs: event.differs };
          latest.set(event.lane, mark);
          found.push(mark);
        }
      }
      return found;
    }

    function marks(view) {
      const group = draw("g", {});
      // The graver ones lie on top.
      const weight = ({ event }) => (event === state.event ? 9 : MARKS.get(event.mark).grave);
      const crowd = drawn.length > CROWD ? drawn.filter(isPlain) : [];
      const single = crowd.length > 0 ? drawn.filter((mark) => !isPlain(mark)) : drawn.slice();
      group.append(...crowds(view, crowd));
      for (const { event, events, differs } of single.sort((a, b) => weight(a) - weight(b))) {
        const chosen = event === state.event;
        const faint = isFaint(event);
        group.append(draw("g", {
          class: faint ? "spot faint" : "spot", id: `mark-${event.index}`, role: "option", "aria-selected": String(chosen),
          "aria-label": events > 1 ? `${spoken(event)}; and ${events - 1} next to it` : spoken(event),
          transform: `translate(${screenX(view, event.index).toFixed(1)} ${screenY(view, event.lane)})`,
        },
          chosen && draw("circle", { class: "halo", r: 13 }),
          differs && draw("circle", { class: "ring", r: 9.5 }),
          draw("path", { class: `mark ${event.mark}`, d: MARKS.get(event.mark).path })));
      }
      return group;
    }

    const isFaint = (event) => isFiltered() && !matching.has(event) && event !== state.event;
    const isPlain = ({ event, differs }) => MARKS.get(event.mark).grave < 2 && !differs && event !== state.event;

    /** Plain dots beyond counting, as one path for each kind: a thousand elements would make every step slow. */
    function crowds(view, plain) {
      const paths = new Map();
      for (const { event } of plain) {
        const kind = `crowd mark ${event.mark}${isFaint(event) ? " faint" : ""}`;
        const r = event.mark === "pass" ? 4 : 2.5;
        const at = `M${(screenX(view, event.index) - r).toFixed(1)} ${screenY(view, event.lane)}`;
        paths.set(kind, `${paths.get(kind) ?? ""}${at}a${r} ${r} 0 10${2 * r} 0a${r} ${r} 0 10${-2 * r} 0z`);
      }
      return Array.from(paths, ([kind, d]) => draw("path", { class: kind, d }));
    }

    function edges(view, span) {
      const half = (index, by) => {
        const near = clamp(0, index + by, xs.length - 1);
        return near === index ? xs[index] + by * Math.min(PAD, 12) : (xs[index] + xs[near]) / 2;
      };
      const from = half(span.from, -1) - view.left + view.gutter;
      const to = half(span.to, 1) - view.left + view.gutter;
      return [from, to];
    }

    const inView = (view, from, to) => to > view.gutter && from < view.width;

    function tints(session, view) {
      const group = draw("g", {});
      for (const band of session.bands) {
        band.spans.forEach((span, at) => {
          const [from, to] = edges(view, span);
          if (!inView(view, from, to)) return;
          const hue = hueOf(band.mode);
          const [y, height, wide] = [view.head, view.height, Math.max(1, to - from)];
          group.append(draw("rect", { class: `tint ${hue}`, x: from, y, width: wide, height }));
          if (at > 0) group.append(draw("line", { class: `turn ${hue}`, x1: from, x2: from, y1: y, y2: height }));
        });
      }
      return group;
    }

    function bands(session, view) {
      const group = draw("g", {});
      session.bands.forEach((band, row) => {
        const y = AXIS + row * BAND + 2;
        for (const span of band.spans) {
          const [from, to] = edges(view, span);
          if (!inView(view, from, to)) continue;
          const hue = hueOf(band.mode);
          const wide = Math.max(1, to - from - 2);
          group.append(draw("rect", { class: `band ${hue}`, x: from + 1, y, width: wide, height: BAND - 4, rx: 4 }));
          // The label stays in view while its span does.
          const at = Math.max(from, view.gutter) + 8;
          const room = Math.min(to, view.width) - at - 4;
          if (room < 16) continue;
          group.append(
            draw("text", { class: `band-name ${hue}`, x: at, y: y + 14 },
              fitted(span.phase || band.mode, room, 11.5, 600),
            ),
          );
        }
      });
      return group;
    }

    function bandLabels(session, view) {
      return draw("g", {}, session.bands.map((band, row) => [
        draw("rect",
          { class: `swatch ${hueOf(band.mode)}`, x: 14, y: AXIS + row * BAND + 7, width: 10, height: 10, rx: 3 },
        ),
        draw("text", { class: "lane-name strong", x: 31, y: AXIS + row * BAND + 16 },
          fitted(`${band.mode} mode`, view.gutter - 38, 12, 600),
        ),
      ]));
    }

    function laneLines(session, view) {
      const group = draw("g", {});
      for (let lane = view.lanes[0]; lane <= view.lanes[1]; lane += 1) {
        const { events } = session.lanes[lane];
        if (events.length === 0) continue;
        const y = screenY(view, lane);
        const [from, to] = [events[0], events[events.length - 1]].map((event) => screenX(view, event.index));
        group.append(draw("line", { class: "lane", x1: from, x2: to, y1: y, y2: y }));
      }
      return group;
    }

    function laneLabels(session, view) {
      const group = draw("g", {},
        draw("rect", { class: "paper", x: 0, y: view.head, width: view.gutter, height: view.height }),
      );
      for (let lane = view.lanes[0]; lane <= view.lanes[1]; lane += 1) {
        const chosen = state.event?.session === session && state.event.lane === lane;
        const { label, type, id } = session.lanes[lane];
        group.append(draw("text", { class: chosen ? "lane-name chosen" : "lane-name", x: 14, y: screenY(view, lane) + 4 },
          fitted(label, view.gutter - 22, 12, chosen ? 600 : 400), draw("title", {}, id ? `${type} ${id}` : type)));
      }
      return group;
    }

    function cursor(view) {
      if (state.event?.session !== state.session || state.event === null) return null;
      const x = screenX(view, state.event.index);
      return draw("line", { class: "cursor", x1: x, x2: x, y1: 0, y2: view.height });
    }

    function axis(session, view) {
      const group = draw("g", {});
      const timed = state.scale === "time" && session.times;
      let free = view.gutter + (timed ? 30 : 6);
      for (let index = view.from; index < view.to; index += 1) {
        const x = screenX(view, index);
        if (x < free || x > view.width - 30) continue;
        const round = index === 0 || (index + 1) % tickEvery() === 0;
        if (!timed && !round) continue;
        const said = timed ? clockOf(session.events[index]) || "" : String(index + 1);
        group.append(
          draw("text", { class: "tick", x, y: 14, "text-anchor": "middle" }, said),
          draw("line", { class: "tick-line", x1: x, x2: x, y1: 17, y2: 20 }));
        free = x + (timed ? 86 : 34);
      }
      return group;
    }

    function tickEvery() {
      const wanted = 44 / Math.max(0.01, state.step);
      return [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].find((size) => size >= wanted) ?? 5000;
    }

    // -- The overview: the whole session, and a lens on what is in view.

    function showOverview() {
      const box = byId("overview");
      const needed = width() > room() + 4;
      box.hidden = !needed;
      if (!needed) return;
      box.replaceChildren(
        strip(state.session, Math.max(200, box.clientWidth || scroller.clientWidth), 28),
        el("div", { class: "lens" }),
      );
    }

    function moveLens(view) {
      const lens = byId("overview").querySelector(".lens");
      if (!lens || byId("overview").hidden) return;
      // The strip goes by order, whatever the scale of the timeline.
      const total = xs.length;
      const from = clamp(0, firstFrom(view.left), total) / total;
      const to = clamp(0, firstFrom(view.left + view.width - view.gutter), total) / total;
      lens.style.left = `${from * 100}%`;
      lens.style.width = `${Math.max(0.8, (to - from) * 100)}%`;
    }

    function dragOverview(press) {
      const box = byId("overview");
      const { left, width: wide } = box.getBoundingClientRect();
      const go = (at) => {
        const index = clamp(0, Math.round(((at.clientX - left) / wide) * (xs.length - 1)), xs.length - 1);
        scroller.scrollLeft = xs[index] - room() / 2;
      };
      go(press);
      box.setPointerCapture(press.pointerId);
      box.onpointermove = go;
      box.onpointerup = () => { box.onpointermove = null; };
    }

    // -- Pointing and zooming.

    function eventAt(pointer) {
      const { session } = state;
      if (!session) return null;
      const box = canvas.getBoundingClientRect();
      const x = pointer.clientX - box.left - gutter() + scroller.scrollLeft;
      const y = pointer.clientY - box.top - headHeight() + scroller.scrollTop;
      if (pointer.clientX - box.left < gutter() || pointer.clientY - box.top < headHeight()) return null;
      const lane = Math.floor(y / ROW);
      let best = null;
      for (const mark of drawn) {
        const away = Math.abs(mark.x - x);
        if (mark.event.lane === lane && away < 14 && (!best || away < best.away)) best = { away, event: mark.event };
      }
      return best?.event ?? null;
    }

    function zoom(factor, around = room() / 2) {
      const { session } = state;
      if (!session) return;
      const before = scroller.scrollLeft + around;
      const old = state.step;
      state.step = clamp(Math.min(fitStep(), 6), state.step * factor, Math.max(fitStep(), 60));
      lay();
      scroller.scrollLeft = PAD + ((before - PAD) * state.step) / old - around;
      paint();
    }

    function fit() {
      if (!state.session) return;
      state.step = Math.min(60, Math.max(0.05, fitStep()));
      lay();
      scroller.scrollLeft = 0;
      paint();
    }

    /** Brings the selected event into view, with some of what comes next. */
    function reveal() {
      const { event, session } = state;
      if (!event || event.session !== session || xs.length === 0) return;
      const x = xs[event.index];
      const margin = Math.min(120, room() / 5);
      const left = scroller.scrollLeft;
      if (x < left + margin || x > left + room() - margin) scroller.scrollLeft = x - room() / 2;
      const y = event.lane * ROW;
      const tall = scroller.clientHeight - headHeight();
      if (y < scroller.scrollTop || y + ROW > scroller.scrollTop + tall) scroller.scrollTop = y - tall / 2;
    }

    function open() {
      state.step = clamp(9, fitStep(), 56);
      if (state.scale === "time" && !state.session?.times) state.scale = "order";
      scroller.scrollLeft = 0;
      scroller.scrollTop = 0;
      lay();
    }

    scroller.addEventListener("scroll", later, { passive: true });
    new ResizeObserver(() => { if (state.session) lay(); }).observe(scroller.parentElement);
    canvas.addEventListener("click", (press) => {
      const event = eventAt(press);
      if (event) select(event);
      canvas.focus({ preventScroll: true });
    });
    canvas.addEventListener("pointermove", (pointer) => {
      const event = eventAt(pointer);
      canvas.classList.toggle("pointing", event !== null);
      showTip(event, pointer);
    });
    canvas.addEventListener("pointerleave", () => showTip(null));
    scroller.addEventListener("wheel", (wheel) => {
      if (!wheel.ctrlKey && !wheel.metaKey) return;
      wheel.preventDefault();
      zoom(wheel.deltaY < 0 ? 1.25 : 0.8, wheel.clientX - scroller.getBoundingClientRect().left - gutter());
    }, { passive: false });
    byId("overview").addEventListener("pointerdown", dragOverview);

    return { open, lay, draw: later, paint, reveal, zoom, fit, focus: () => canvas.focus({ preventScroll: true }) };
  })();

  function showTip(event, pointer) {
    const tip = byId("tip");
    tip.hidden = event === null;
    if (!event) return;
    tip.replaceChildren(
      el("b", { dir: "auto" }, shortened(event.name, 80)),
      el("span", {},
        dotted([
          `${event.index + 1}`,
          shortened(event.outcome, 40),
          CHANGES.get(event.change)?.word,
          event.unmet && "expectation unmet",
          clockOf(event),
        ]),
      ),
      words(event.result.reason) && el("span", { class: "quiet", dir: "auto" }, shortened(words(event.result.reason), 140)));
    const box = tip.getBoundingClientRect();
    tip.style.left = `${clamp(8, pointer.clientX + 14, window.innerWidth - box.width - 8)}px`;
    const below = pointer.clientY + 18;
    tip.style.top = `${below + box.height > window.innerHeight ? pointer.clientY - box.height - 10 : below}px`;
  }

  /** The time of day as the journal has it (UTC), to the second. */
  function clockOf(event) {
    const found = /T(\d\d:\d\d:\d\d)/.exec(words(event.result.at));
    return found ? found[1] : "";
  }

  function showStory() {
    const { session } = state;
    byId("story").hidden = session === null || session.events.length === 0;
    if (byId("story").hidden) return;
    const scale = (key, word) => pushButton(
      { "aria-pressed": String(state.scale === key), onclick: () => chooseScale(key) },
      word,
    );
    const scales = session.times && el("div", { class: "switch", role: "group", "aria-label": "Spacing of the events" },
      scale("order", "By order"), scale("time", "By time"));
    const source = sourceOf(session);
    byId("story-head").replaceChildren(
      el("div", { class: "story-name" },
        el("h2", { dir: "auto" }, shortened(session.title, 80)),
        el("p", { class: "quiet" }, dotted([source, session.id, words(session.raw.file)]))),
      el("div", { class: "story-tools" }, scales,
        el("div", { class: "switch" },
          pushButton({ "aria-label": "Zoom out", title: "Zoom out (-)", onclick: () => timeline.zoom(0.7) }, "−"),
          pushButton({ title: "Fit the whole session (0)", onclick: () => timeline.fit() }, "Fit"),
          pushButton({ "aria-label": "Zoom in", title: "Zoom in (+)", onclick: () => timeline.zoom(1.4) }, "+"))));
    showLegend(session);
  }

  /** Explains the marks that this session has, and no others. */
  function showLegend(session) {
    const used = new Set(session.events.map((event) => event.mark));
    const keys = Array.from(MARKS).filter(([mark]) => used.has(mark)).reverse();
    byId("legend").replaceChildren(
      ...keys.map(([mark, { legend }]) => el("span", {}, markNode(mark), legend)),
      session.differing > 0 ? el("span", {}, signOf(null, "differs"), "differs") : "");
  }

  function chooseScale(scale) {
    state.scale = scale;
    showStory();
    timeline.lay();
    timeline.reveal();
    byId("story-head").querySelector("[aria-pressed=true]")?.focus();
  }

  // ---------------------------------------------------------------------------------------------------- The diagrams

  const BOX = { least: 180, most: 250, gap: 30, head: 48, row: 21, group: 19, detour: 44 };

  /** The modes worth a diagram: those of the session, and those that spoke about the selected event. */
  function modesToDraw() {
    const names = new Set(state.session?.bands.map((band) => band.mode));
    for (const finding of state.event?.findings ?? []) {
      const mode = words(finding.mode);
      const said = finding.verdict !== "pass" || finding.unmet;
      // That the base has no objection to one of many commands is nothing to draw.
      if (said || many(catalogue.find((one) => one.name === mode)?.phases).length > 0) names.add(mode);
    }
    return catalogue.filter((mode) => names.has(words(mode.name)));
  }

  let diagramsShown = "";

  function showDiagrams() {
    // Modes that are under way come first, then those that only spoke about the event.
    const under = new Set((state.event?.modes ?? []).map(([mode]) => mode));
    const shown = modesToDraw().sort((a, b) => Number(under.has(b.name)) - Number(under.has(a.name)));
    // From one event to the next mostly nothing changes here, and drawing text costs.
    const key = JSON.stringify([state.session?.key, state.event?.modes ?? [], shown.map((mode) => mode.name)]);
    if (key === diagramsShown) return;
    diagramsShown = key;
    byId("diagrams").replaceChildren(...shown.map(diagramCard));
  }

  function diagramCard(mode) {
    const name = words(mode.name);
    const phases = many(mode.phases).filter(isThing);
    const gates = many(mode.gates).filter(isThing);
    const journey = journeyOf(state.session, name);
    const here = state.event?.modes.find(([active]) => active === name)?.[1] ?? null;
    const facts = dotted([many(mode.commands).map(words).join(", "), mode.strict && "strict order"]);
    return el("section", { class: `card diagram ${hueOf(name)}` },
      el("div", { class: "card-head" },
        el("div", { class: "story-name" },
          el("h2", {},
            el("span", { class: `dot ${hueOf(name)}` }),
            el("bdi", {}, shortened(name, 60)),
            " mode ",
            facts && el("span", { class: "quiet small" }, shortened(facts, 80)),
          ),
          words(mode.about) && el("p", { class: "quiet", dir: "auto" }, shortened(words(mode.about), 200))),
        journey.blocks.size > 0 && el("span", { class: "quiet small" }, el("b", { class: "is-block" }, "n×"), " blocked n times")),
      phases.length > 0 && el("div", { class: "drawing" }, phasesDrawing(name, phases, journey, here)),
      gates.length > 0 && freeGates(gates, journey, phases.length > 0));
  }

  /** Lays the phases in rows that fit the page; a detour hangs below the phase it follows. */
  function layPhases(phases, room) {
    const onTheWay = Math.max(1, phases.filter((phase, at) => at === 0 || !phase.detour).length);
    const atMost = Math.max(1, Math.floor((room - 24 + BOX.gap) / (BOX.least + BOX.gap)));
    // Rows of about the same length read better than one full row and a rest.
    const columns = Math.ceil(onTheWay / Math.ceil(onTheWay / atMost));
    const wide = clamp(BOX.least, (room - 24 + BOX.gap) / columns - BOX.gap, BOX.most);
    const rows = [];
    for (const phase of phases) {
      const placed = { phase, tall: phaseHeight(phase) };
      const row = rows.at(-1);
      if (phase.detour && row) row.at(-1).detours.push(placed);
      else if (row && row.length < columns) row.push({ ...placed, detours: [] });
      else rows.push([{ ...placed, detours: [] }]);
    }
    let y = 20;
    for (const row of rows) {
      const tall = Math.max(...row.map((box) => box.tall));
      let lowest = y + tall;
      row.forEach((box, column) => {
        Object.assign(box, { x: 12 + column * (wide + BOX.gap), y, wide, tall });
        let below = y + tall;
        for (const detour of box.detours) {
          Object.assign(detour, { x: box.x, y: below + BOX.detour, wide });
          below = detour.y + detour.tall;
        }
        lowest = Math.max(lowest, below);
      });
      row.bottom = lowest;
      y = lowest + 44;
    }
    const most = Math.max(1, ...rows.map((row) => row.length));
    return { rows, wide: 24 + most * (wide + BOX.gap) - BOX.gap, tall: y - 32 };
  }

  function phaseHeight(phase) {
    const before = many(phase.before).length;
    const after = many(phase.after).length;
    const group = (gates) => (gates > 0 ? BOX.group + gates * BOX.row : 0);
    return BOX.head + group(before) + group(after) + (before + after > 0 ? 8 : 0);
  }

  function phasesDrawing(mode, phases, journey, here) {
    const room = Math.max(220, (byId("diagrams").clientWidth || 800) - 16);
    const { rows, wide, tall } = layPhases(phases, room);
    const label = diagramWords(mode, phases, journey, here);
    const node = draw("svg",
      { viewBox: `0 0 ${wide} ${tall}`, width: wide, height: tall, role: "img", "aria-label": label },
    );
    const boxes = rows.flat();
    boxes.forEach((box, at) => {
      const next = boxes[at + 1];
      if (next) node.append(...way(box, next, rows, seen(journey, box.phase) && seen(journey, next.phase)));
      for (const detour of box.detours) node.append(...sideWay(box, detour, seen(journey, detour.phase)));
    });
    for (const box of boxes) for (const one of [box, ...box.detours]) node.append(phaseBox(one, journey, here));
    return node;
  }

  const seen = (journey, phase) => journey.visited.has(words(phase.name)) || journey.done.has(words(phase.name));

  function diagramWords(mode, phases, journey, here) {
    const described = phases.map((phase) => {
      const name = words(phase.name);
      const how = ["done", "skipped", "visited"].find((word) => journey[word].has(name)) ?? "not reached";
      return `${name}: ${how}${name === here ? ", the selected event is here" : ""}`;
    });
    return `Phases of the ${mode} mode. ${described.join("; ")}.`;
  }

  function head(x, y, turn) {
    return draw("path",
      { class: "way-head", d: "M-7-4.5L1 0-7 4.5z", transform: `translate(${x} ${y}) rotate(${turn})` },
    );
  }

  /** The arrow to the next phase; at the end of a row it goes around to the next. */
  function way(from, to, rows, taken) {
    const y = from.y + BOX.head / 2;
    const start = from.x + from.wide;
    const kind = taken ? "way taken" : "way";
    const arrow = (d, point) => [draw("g", { class: kind }, draw("path", { d }), point)];
    if (to.y === from.y) return arrow(`M${start} ${y}H${to.x - 4}`, head(to.x - 2, y, 0));
    const low = rows.find((row) => row.includes(from)).bottom + 18;
    const top = to.x + 40;
    const edge = start + 12;
    const around = `H${edge - 6}q6 0 6 6V${low - 6}q0 6-6 6H${top + 6}q-6 0-6 6V${to.y - 4}`;
    return arrow(`M${start} ${y}${around}`, head(top, to.y - 2, 90));
  }

  /** A detour is entered from a phase and gives back to it. */
  function sideWay(from, detour, taken) {
    const top = detour.y - BOX.detour;
    const down = from.x + from.wide / 2 - 22;
    const up = from.x + from.wide / 2 + 22;
    return [draw("g", { class: taken ? "way side taken" : "way side" },
      draw("path", { d: `M${down} ${top}V${detour.y - 4}` }), head(down, detour.y - 2, 90),
      draw("path", { d: `M${up} ${detour.y}V${top + 4}` }), head(up, top + 2, -90))];
  }

  function phaseBox({ phase, x, y, wide, tall }, journey, here) {
    const name = words(phase.name) || "unnamed";
    const current = name === here;
    const done = journey.done.has(name);
    const visited = seen(journey, phase);
    const kinds = ["phase", visited && "visited", done && "done", current && "here", phase.detour && "detour"];
    const classes = kinds.filter(Boolean).join(" ");
    const group = draw("g", { class: classes, transform: `translate(${x} ${y})` },
      draw("title", {}, `${name}, ${words(phase.worker) || "main"}`),
      draw("rect", { class: "phase-box", width: wide, height: tall, rx: 9 }),
      draw("text", { class: "phase-name", x: 14, y: 21 }, fitted(name, wide - 90, 13.5, 650)),
      draw("text", { class: "phase-worker", x: 14, y: 38 }, fitted(words(phase.worker) || "main", wide - 28)),
      draw("text", { class: "phase-state", x: wide - 12, y: 21, "text-anchor": "end" }, stateWord(name, phase, journey)));
    if (current) {
      group.append(draw("rect", { class: "here-tag", x: wide - 66, y: -12, width: 54, height: 18, rx: 9 }),
        draw("text", { class: "here-word", x: wide - 39, y: 1, "text-anchor": "middle" }, "● here"));
    }
    let at = BOX.head;
    for (const [word, gates] of [["to start", many(phase.before)], ["to finish", many(phase.after)]]) {
      if (gates.length === 0) continue;
      group.append(
        draw("line", { class: "phase-rule", x1: 14, x2: wide - 14, y1: at + 1, y2: at + 1 }),
        draw("text", { class: "phase-group", x: 14, y: at + 15 }, word),
      );
      at += BOX.group;
      for (const gate of gates) {
        group.append(gateRow(isThing(gate) ? gate : {}, at, wide, journey));
        at += BOX.row;
      }
    }
    return group;
  }

  function stateWord(name, phase, journey) {
    if (journey.done.has(name)) return "✓ done";
    if (journey.skipped.has(name)) return "skipped";
    if (journey.visited.has(name)) return "visited";
    return phase.detour ? "detour" : "";
  }

  /** How a gate has answered in the session: its sign, and words for it. */
  function gateState(id, journey) {
    const blocks = journey.blocks.get(id) ?? 0;
    if (journey.unmet.has(id)) {
      const short = blocks > 0 ? `${blocks}× unmet` : "unmet";
      return { mark: "warn", short, says: `blocked ${count(blocks, "time")}, then allowed unfinished` };
    }
    const mark = journey.latest.get(id) ?? null;
    const then = mark === "pass" ? ", then passed" : "";
    if (blocks > 0) return { mark, short: `${blocks}×`, says: `blocked ${count(blocks, "time")}${then}` };
    if (mark === "pass") return { mark, short: "", says: "passed" };
    return { mark, short: "", says: mark ? "warned" : "not asked in this session" };
  }

  function gateRow(gate, y, wide, journey) {
    const id = words(gate.id);
    const { mark, short, says } = gateState(id, journey);
    const sign = mark
      ? draw("path", { class: `mark ${mark}`, d: MARKS.get(mark).path, transform: "translate(21 10.5) scale(.72)" })
      : draw("path", { class: "gate-none", d: "M17 10.5h8" });
    const counted = `gate-count is-${journey.unmet.has(id) ? "warn" : "block"}`;
    return draw("g", { class: mark ? "gate" : "gate unasked", transform: `translate(0 ${y})` },
      draw("title", {}, [id, words(gate.says), says].filter(Boolean).join("\n")),
      draw("rect", { class: "gate-hit", x: 6, y: 0, width: wide - 12, height: BOX.row }),
      sign,
      draw("text", { class: "gate-name", x: 33, y: 14.5 },
        fitted(id, wide - 48 - (short ? short.length * 7 + 8 : 0), 11.5),
      ),
      short && draw("text", { class: counted, x: wide - 12, y: 14.5, "text-anchor": "end" }, short));
  }

  function freeGates(gates, journey, beside) {
    const asked = gates.filter((gate) => gateState(words(gate.id), journey).mark !== null);
    const idle = gates.filter((gate) => !asked.includes(gate));
    const line = (gate) => {
      const { mark, short, says } = gateState(words(gate.id), journey);
      return el("li", { title: says },
        mark ? markNode(mark) : el("span", { class: "none", "aria-hidden": "true" }, "–"),
        el("code", { dir: "auto" }, shortened(words(gate.id), 60)),
        short && el("b", {}, short),
        el("span", { class: "quiet", dir: "auto" }, shortened(dotted([words(gate.on), words(gate.says)]), 140)));
    };
    return el("div", { class: "free-gates" },
      beside && el("h3", {}, "Gates of the mode itself"),
      asked.length > 0 && el("ul", {}, asked.map(line)),
      idle.length > 0 && el("details", {},
        el("summary", {}, `${count(idle.length, "gate")} not asked in this session`),
        el("ul", {}, idle.map(line))));
  }

  // ---------------------------------------------------------------------------------------------------- The detail

  // What a reader wants first comes first.
  const PARTS = [
    detailHead, comparison, expectation, reasonPart, unrecordedPart, messagesPart, movesPart, checksPart, factsPart, replyPart,
  ];

  function showDetail() {
    const pane = byId("detail");
    const { event } = state;
    pane.hidden = event === null;
    byId("desk").classList.toggle("with-detail", event !== null);
    if (!event) return pane.replaceChildren();
    const parts = PARTS.map((make) => make(event));
    // Whoever steps on with the pane's own buttons keeps the button.
    const focused = pane.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    pane.replaceChildren(...parts.filter(Boolean));
    const again = Array.from(pane.querySelectorAll("button")).find(
      (button) => button.getAttribute("aria-label") === focused,
    );
    if (focused) again?.focus();
    return undefined;
  }

  function part(title, ...children) {
    return el("section", { class: "part" }, el("h3", {}, title), ...children);
  }

  function detailHead(event) {
    const { result, session } = event;
    const lane = session.lanes[event.lane];
    const place = dotted([
      `event ${event.index + 1} of ${session.events.length}`,
      Number.isInteger(result.line) && `line ${result.line}`,
      clockOf(event) && `${clockOf(event)} UTC`,
    ]);
    const agent = event.lane === 0 ? "main agent" : [lane.type, lane.id].filter(Boolean).join(" ");
    const modeTag = ([mode, phase]) => el("span", { class: `mode-tag ${hueOf(mode)}` },
      el("bdi", {}, shortened(mode, 30)), phase && el("b", {}, el("bdi", {}, shortened(phase, 30))));
    const stepper = (sign, label, by) => pushButton(
      { class: "tool", "aria-label": label, title: label, onclick: () => stepBy(by) },
      sign,
    );
    return el("div", { class: `detail-head is-${event.mark}` },
      el("div", { class: "detail-bar" },
        el("span", { class: `outcome is-${event.mark}` },
          markNode(event.mark),
          el("span", { dir: "auto" }, shortened(event.outcome, 40)),
        ),
        event.change && el("span", { class: "tag" }, CHANGES.get(event.change).word),
        event.unmet && el("span", { class: "tag" }, "unmet"),
        el("span", { class: "grow" }), stepper("←", "Previous event", -1), stepper("→", "Next event", 1),
        pushButton({ class: "tool", "aria-label": "Close", title: "Close (Esc)", onclick: closeDetail }, "×")),
      el("h2", { dir: "auto" }, shortened(event.name, 200)),
      el("p", { class: "quiet" }, place),
      el("p", { class: "quiet" }, "by ", el("bdi", { class: "ink" }, shortened(agent, 60)),
        event.modes.map((one) => [" ", modeTag(one)])));
  }

  /** A long text is cut, with a button for the rest: a reason may be a screenful, a page should not. */
  function clipped(text, limit = 700) {
    if (text.length <= limit) return quoted(text);
    const short = `${Array.from(text.slice(0, limit + 1)).slice(0, -1).join("")}… `;
    const shown = el("span", {}, quoted(short));
    const button = pushButton({ class: "plain more", "aria-expanded": "false", onclick: () => {
      const open = button.getAttribute("aria-expanded") === "true";
      shown.replaceChildren(...quoted(open ? short : `${text} `));
      button.setAttribute("aria-expanded", String(!open));
      button.textContent = open ? "more" : "less";
    } }, "more");
    return [shown, button];
  }

  /** What stands between backticks is shown as code, as messages mean it. */
  function quoted(text) {
    if (text.length > 20000) return [text];
    const pieces = text.split(/(`[^`\n]+`)/).filter(Boolean);
    return pieces.map((piece) => (/^`[^`]+`$/.test(piece) ? el("code", {}, piece.slice(1, -1)) : piece));
  }

  const paragraph = (text, kind) => el("p", { class: kind ? `words ${kind}` : "words", dir: "auto" },
    clipped(words(text)),
  );

  function reasonPart(event) {
    const reason = words(event.result.reason);
    return reason && !isThing(event.result.was) ? part("Reason", paragraph(reason)) : null;
  }

  /** Before and now side by side. What both share at the ends stays plain, what differs is marked. */
  function comparison(event) {
    const { was } = event.result;
    if (!isThing(was)) return null;
    const column = (title, side, other, verdict) => el("div", { class: "side-by" },
      el("h4", {}, title), el("p", {}, verdictNode(verdict)),
      words(side.reason) && el("p", { class: "words", dir: "auto" },
        marked(words(side.reason), words(other.reason)),
      ),
      many(side.moves).length > 0 && movesList(many(side.moves).map(words)));
    return part(CHANGES.get(event.change)?.title ?? "Before and now",
      event.change && el("p", { class: "quiet" }, `${CHANGES.get(event.change).says}.`),
      el("div", { class: "sides" },
        column("Before", was, event.result, words(was.verdict) || event.verdict),
        column("Now", event.result, was, event.verdict)));
  }

  function marked(text, other) {
    if (other === "" || text === other || text.length > 1500) return clipped(text);
    const mine = text.split(/(\s+)/);
    const theirs = other.split(/(\s+)/);
    let start = 0;
    while (start < mine.length && start < theirs.length && mine[start] === theirs[start]) start += 1;
    let end = 0;
    const most = Math.min(mine.length, theirs.length) - start;
    while (end < most && mine.at(-1 - end) === theirs.at(-1 - end)) end += 1;
    const middle = mine.slice(start, mine.length - end).join("");
    return [mine.slice(0, start).join(""), middle && el("mark", {}, middle), mine.slice(mine.length - end).join("")];
  }

  function expectation(event) {
    const { expected, met } = event.result;
    if (!isThing(expected) && met === undefined) return null;
    const missed = met === false;
    const wanted = isThing(expected) ? words(expected.verdict) : "";
    const got = wanted === event.verdict ? ", but for another reason" : [", got ", verdictNode(event.verdict)];
    return part("Expectation",
      el("div", { class: missed ? "note bad" : "note good" },
        el("p", {},
          el("b", {}, missed ? "✗ not met" : "✓ met"),
          wanted && [": expected ", verdictNode(wanted), missed && got],
        ),
        isThing(expected) && words(expected.reason) && paragraph(expected.reason, "quiet")));
  }

  function unrecordedPart(event) {
    const asked = many(event.result.unrecorded).map(words);
    if (asked.length === 0) return null;
    return part("Not recorded",
      el("div", { class: "note odd" },
        el("p", {}, "This decision needs facts that the journal does not have. An unknown fact never opens a gate."),
        el("ul", {}, asked.map((question) => el("li", { dir: "auto" }, clipped(question, 300))))));
  }

  function messagesPart(event) {
    const context = many(event.result.context).map(words);
    const messages = many(event.result.messages).map(words);
    if (context.length + messages.length === 0) return null;
    return part("Messages",
      context.map(
        (text) => el("div", { class: "message" }, el("span", { class: "message-to" }, "the model"), paragraph(text)),
      ),
      messages.map((text) => el("div", { class: "message" }, el("span", { class: "message-to" }, "the user"), paragraph(text))));
  }

  function movesList(moves) {
    return el("ul", { class: "moves" }, moves.map((move) => el("li", { dir: "auto" }, shortened(move, 300))));
  }

  function movesPart(event) {
    const moves = many(event.result.moves).map(words);
    // With a comparison they stand there.
    if (moves.length === 0 || isThing(event.result.was)) return null;
    return part("Moves", movesList(moves));
  }

  /** Gates that objected stand open; those without objection are folded away when there are several. */
  function checksPart(event) {
    if (event.findings.length === 0) return part("Checks", el("p", { class: "quiet" }, "No gate matched this event."));
    const calm = (finding) => finding.verdict === "pass" && !finding.unmet && finding.outcome?.truth === "passes";
    const loud = event.findings.filter((finding) => !calm(finding));
    const rest = event.findings.filter(calm);
    const fold = rest.length > 2 || (loud.length > 0 && rest.length > 0);
    return part(event.findings.length === 1 ? "Check" : `Checks of ${event.findings.length} gates`,
      loud.map(findingNode),
      fold ? folded(rest, loud.length === 0 && rest.length < 4) : rest.map(findingNode));
  }

  function folded(findings, open) {
    return el("details", { open },
      el("summary", {}, `${count(findings.length, "gate")} passed`),
      findings.slice(0, 100).map(findingNode));
  }

  function findingNode(finding) {
    const verdict = words(finding.verdict) || "pass";
    const mode = words(finding.mode);
    const phase = words(finding.phase);
    const place = [mode && `${mode} mode`, phase && `phase ${phase}`].filter(Boolean).join(", ");
    return el("div", { class: "finding" },
      el("p", { class: "finding-head" },
        verdictNode(verdict),
        el("code", { dir: "auto" }, shortened(words(finding.gate), 80)),
        finding.unmet === true && el("span", { class: "tag" }, "not met"),
      ),
      el("p", { class: "quiet small", dir: "auto" }, shortened(place, 120)),
      isThing(finding.outcome) && el("ul", { class: "tree", "aria-label": "What the check saw" }, outcomeNode(finding.outcome, 0)));
  }

  const DEEPEST = 40;

  function outcomeNode(outcome, depth) {
    const { sign, word } = TRUTHS.get(outcome.truth) ?? TRUTHS.get("unknown");
    const parts = many(outcome.parts).filter(isThing);
    return el("li", {},
      el("span", { class: `truth is-${word}` }, el("span", { "aria-hidden": "true" }, sign), ` ${word}`), " ",
      el("span", { class: "saw", dir: "auto" }, clipped(words(outcome.saw), 400)),
      words(outcome.remedy) && el("span", { class: "remedy", dir: "auto" },
        quiet("to do: "),
        clipped(words(outcome.remedy), 400),
      ),
      parts.length > 0 && depth < DEEPEST && el("ul", {}, parts.map((one) => outcomeNode(one, depth + 1))),
      parts.length > 0 && depth >= DEEPEST && el("p", { class: "quiet" }, "and deeper"));
  }

  function factsPart(event) {
    const facts = many(event.result.facts).filter(Array.isArray);
    if (facts.length === 0) return null;
    return part("Facts", el("dl", { class: "facts" }, facts.slice(0, 300).map(([question, answer]) =>
      el("div", {},
        el("dt", { dir: "auto" }, clipped(words(question), 300)),
        el("dd", { dir: "auto" }, clipped(words(answer), 300))))));
  }

  function replyPart(event) {
    const reply = event.result.reply;
    if (!isThing(reply)) return null;
    const stdout = words(reply.stdout);
    const stderr = words(reply.stderr);
    const exit = Number.isInteger(reply.exit) ? reply.exit : 0;
    return part("Reply",
      el("p", { class: "small" },
        el("span", { class: exit === 0 ? "exit" : "exit bad" }, `exit ${exit}`),
        stdout || stderr ? "" : quiet(" silence: the host goes on"),
      ),
      stdout && [el("h4", {}, "standard output"), codeNode(pretty(stdout), "Standard output")],
      stderr && [el("h4", {}, "standard error"), codeNode(stderr, "Standard error")]);
  }

  function pretty(text) {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  }

  function codeNode(text, label) {
    const limit = 4000;
    const node = el("pre", { tabindex: "0", "aria-label": label, dir: "ltr" });
    if (text.length > limit) node.append(...clipped(text, limit));
    else node.append(...coloured(text));
    return node;
  }

  /** Keys of JSON a little apart from values, as text in spans. */
  function coloured(text) {
    const nodes = [];
    let from = 0;
    for (const found of text.matchAll(/"(?:[^"\\]|\\.)*"(?=\s*:)/g)) {
      nodes.push(text.slice(from, found.index), el("span", { class: "key" }, found[0]));
      from = found.index + found[0].length;
    }
    nodes.push(text.slice(from));
    return nodes;
  }

  // ---------------------------------------------------------------------------------------------------- Selecting

  function select(event) {
    const another = event.session !== state.session;
    state.session = event.session;
    state.event = event;
    if (another) {
      showSessions();
      showStory();
    }
    showDetail();
    if (another) timeline.open();
    showDiagrams();
    markRow();
    settle();
    writeHash(event);
    announce(spoken(event, true));
  }

  let settling = 0;

  /** Scrolls and draws once a frame, after all is written: asking for places in between lays the page out each time. */
  function settle() {
    if (settling === 0) settling = requestAnimationFrame(() => {
      settling = 0;
      byId("detail").scrollTop = 0;
      byId("scroller").scrollIntoView({ block: "nearest" });
      showChosenRow();
      timeline.reveal();
      timeline.paint();
    });
  }

  function closeDetail() {
    state.event = null;
    showDetail();
    timeline.draw();
    showDiagrams();
    markRow();
    timeline.focus();
  }

  /** An event as one would read it out. */
  function spoken(event, long = false) {
    const change = event.change ? `, ${CHANGES.get(event.change).word}` : "";
    const unmet = event.unmet ? ", expectation unmet" : "";
    const place = `Event ${event.index + 1} of ${event.session.events.length}`;
    const text = `${place}, ${shortened(event.name, 120)}, ${shortened(event.outcome, 40)}${change}${unmet}`;
    return long && event.result.reason ? `${text}. ${shortened(words(event.result.reason), 200)}` : text;
  }

  function announce(text) {
    byId("live").textContent = text;
  }

  function stepBy(by) {
    const { session, event } = state;
    if (!session || session.events.length === 0) return;
    const at = event ? event.index + by : by > 0 ? 0 : session.events.length - 1;
    const next = session.events[at];
    if (next) select(next);
    else announce(by > 0 ? "This is the last event of the session" : "This is the first event of the session");
  }

  /** To the lane above or below, at the event nearest in order. */
  function changeLane(by) {
    const { session, event } = state;
    if (!session) return;
    if (!event) return stepBy(by);
    for (let lane = event.lane + by; lane >= 0 && lane < session.lanes.length; lane += by) {
      const { events } = session.lanes[lane];
      if (events.length === 0) continue;
      const away = (one) => Math.abs(one.index - event.index);
      return select(events.reduce((best, one) => (away(one) < away(best) ? one : best)));
    }
    return changeSession(by);
  }

  function changeSession(by) {
    const next = sessions[sessions.indexOf(state.session) + by];
    if (next) openSession(next);
    else announce(by > 0 ? "This is the last session" : "This is the first session");
  }

  /** The next one of a kind, in the order of the whole report, around its end. */
  function seek(wanted, by, none) {
    const found = everyEvent.filter(wanted);
    if (found.length === 0) return announce(none);
    const place = ({ session, index }) => sessions.indexOf(session) * 1e7 + index;
    const now = place(state.event ?? { session: state.session, index: -0.5 });
    const after = by > 0 ? found.find((event) => place(event) > now) : found.findLast((event) => place(event) < now);
    return select(after ?? found.at(by > 0 ? 0 : -1));
  }

  function seekDifference(by) {
    if (isFiltered()) seek((event) => matching.has(event), by, "No event matches");
    else seek((event) => event.differs, by, "Nothing differs");
  }

  // ---------------------------------------------------------------------------------------------------- The address

  const hashOf = (event) => `#${encodeURIComponent(event.session.key)}/${encodeURIComponent(event.line)}`;

  function writeHash(event) {
    try {
      history.replaceState(null, "", hashOf(event));
    } catch {
      // A page without an address of its own cannot be linked to; everything else works.
    }
  }

  function eventOfHash() {
    try {
      const [key, line] = location.hash.slice(1).split("/").map(decodeURIComponent);
      const session = sessions.find((one) => one.key === key);
      return session?.byLine.get(line) ?? session?.events[0] ?? null;
    } catch {
      return null;
    }
  }

  function followHash() {
    const event = eventOfHash();
    if (event && event !== state.event) select(event);
  }

  // ---------------------------------------------------------------------------------------------------- The keys

  const KEYS = [
    { keys: ["ArrowRight"], shown: "→", says: "next event", act: () => stepBy(1) },
    { keys: ["ArrowLeft"], shown: "←", says: "previous event", act: () => stepBy(-1) },
    { keys: ["ArrowUp"], shown: "↑", says: "lane above; in a list, the line above", act: () => changeLane(-1) },
    { keys: ["ArrowDown"], shown: "↓", says: "lane below; in a list, the line below", act: () => changeLane(1) },
    { keys: ["]"], shown: "]", says: "next session", act: () => changeSession(1) },
    { keys: ["["], shown: "[", says: "previous session", act: () => changeSession(-1) },
    { keys: ["n"], shown: "n", says: "next difference, or next match of the filter", act: () => seekDifference(1) },
    { keys: ["p"], shown: "p", says: "previous difference or match", act: () => seekDifference(-1) },
    { keys: ["b"], shown: "b", says: "next block", act: () => seek((event) => event.blocked, 1, "Nothing was blocked") },
    { keys: ["+", "="], shown: "+", says: "zoom in", act: () => timeline.zoom(1.4) },
    { keys: ["-"], shown: "−", says: "zoom out", act: () => timeline.zoom(0.7) },
    { keys: ["0"], shown: "0", says: "fit the whole session", act: () => timeline.fit() },
    { keys: ["/"], shown: "/", says: "search", act: () => byId("search").focus() },
    { keys: ["?"], shown: "?", says: "this help", act: openHelp },
    { keys: ["Escape"], shown: "Esc", says: "close; clear the search", act: escape },
  ];

  function onKey(press) {
    if (press.altKey || press.ctrlKey || press.metaKey || byId("help").open) return;
    const typing = press.target instanceof HTMLInputElement;
    if (typing && press.key !== "Escape") return;
    if (press.target instanceof HTMLPreElement && press.key.startsWith("Arrow")) return;
    const key = KEYS.find((one) => one.keys.includes(press.key));
    if (!key) return;
    press.preventDefault();
    key.act();
  }

  function escape() {
    if (isFiltered() || document.activeElement === byId("search")) {
      clearFilters();
      byId("search").blur();
    } else if (state.event) closeDetail();
  }

  function openHelp() {
    const dialog = byId("help");
    dialog.replaceChildren(
      el("div", { class: "card-head" },
        el("h2", { id: "help-title" }, "How to read this"),
        pushButton({ class: "tool", "aria-label": "Close", onclick: () => dialog.close() }, "×"),
      ),
      el("p", {},
        "Every mark is an event of a session, decided again. Lanes are agents, colored bands are modes with their ",
        "phases. A ring marks a decision that differs.",
      ),
      el("ul", { class: "help-marks" },
        Array.from(MARKS).reverse().map(([mark, { legend }]) => el("li", {}, markNode(mark), legend)),
        el("li", {}, markNode("pass", true), "differs from the recorded or the expected decision"),
      ),
      el("dl", { class: "help-keys" },
        KEYS.map(({ shown, says }) => el("div", {}, el("dt", {}, el("kbd", {}, shown)), el("dd", {}, says))),
      ),
      el("p", { class: "quiet" }, "Ctrl and the wheel zoom. The address contains the selected event: copy it to share."));
    if (!dialog.open) dialog.showModal();
  }

  // ---------------------------------------------------------------------------------------------------- Light and dark

  function isDark() {
    const { theme } = document.documentElement.dataset;
    return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function switchTheme() {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    remember("modegate-theme", document.documentElement.dataset.theme);
    announce(`${document.documentElement.dataset.theme} colors`);
  }

  function remember(key, value) {
    try {
      localStorage.setItem(key, value);
    } catch {
      // A browser may not store it; the choice then lasts as long as the page.
    }
  }

  function recallTheme() {
    try {
      const theme = localStorage.getItem("modegate-theme");
      if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    } catch {
      // As above.
    }
  }

  // ---------------------------------------------------------------------------------------------------- The start

  function showAll() {
    sift();
    showList();
    showSessions();
    showStory();
    showDetail();
    if (state.session) timeline.open();
    showDiagrams();
  }

  function listen() {
    let pause = 0;
    byId("search").addEventListener("input", (typed) => {
      clearTimeout(pause);
      pause = setTimeout(() => {
        state.query = typed.target.value.trim().toLowerCase();
        showSifted();
      }, 120);
    });
    byId("search").addEventListener("keydown", (press) => {
      if (press.key !== "Enter" && press.key !== "ArrowDown") return;
      press.preventDefault();
      byId("differences").querySelector(".row")?.focus();
    });
    byId("theme").addEventListener("click", switchTheme);
    byId("help-open").addEventListener("click", openHelp);
    byId("skip").addEventListener("click", () => timeline.focus());
    byId("sessions").addEventListener("keydown", roveSessions);
    document.addEventListener("keydown", onKey);
    addEventListener("hashchange", followHash);
    let wide = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth === wide) return;
      wide = innerWidth;
      showSessions();
      diagramsShown = "";
      showDiagrams();
    });
  }

  /** The event at the top of the list of differences. */
  function firstListed() {
    const [top] = grouped(listed);
    return top ? top[1].values().next().value[0] : null;
  }

  recallTheme();
  showHeader();
  showSideNotes();
  const first = eventOfHash() ?? firstListed() ?? everyEvent.find((event) => event.blocked) ?? null;
  if (first) {
    state.session = first.session;
    state.event = first;
  }
  showAll();
  timeline.reveal();
  timeline.paint();
  listen();
  performance.measure("modegate-render", "modegate-begin");
})();
