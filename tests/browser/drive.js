"use strict";

// Drives the report's page and writes what it finds as lines of PASS and FAIL. `PART` says which page it is.

(async () => {
  const $ = (selector) => document.querySelector(selector);
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const lines = [];
  const say = (line) => {
    lines.push(line.replace(/[\r\n]+/g, " "));
    $("#result").textContent = lines.join("\n");
  };
  const check = (what, fine, seen = "") => say(`${fine ? "PASS" : "FAIL"} ${what}${fine ? "" : `: ${String(seen).slice(0, 300)}`}`);
  const same = (what, seen, wanted) => check(what, seen === wanted, `${seen} instead of ${wanted}`);
  const has = (what, text, wanted) => check(what, text.includes(wanted), `no "${wanted}" in "${text}"`);
  // A browser that runs by virtual time may never come to a frame, so frames come by the clock here.
  window.requestAnimationFrame = (act) => setTimeout(() => act(performance.now()), 1);
  const rest = (time = 20) => new Promise((done) => setTimeout(done, time));
  const scrollDown = async (top) => {
    $("#scroller").scrollTop = top;
    $("#scroller").dispatchEvent(new Event("scroll"));
    await rest();
  };
  const key = async (name, target = document.activeElement ?? document.body) => {
    target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
    await rest();
  };
  const click = async (node) => {
    node.click();
    await rest();
  };
  const detail = () => $("#detail").textContent;
  const name = () => $("#detail h2")?.textContent ?? "";
  const marks = () => all("#timeline [role=option]");

  async function full() {
    same("the headline counts", $("#verdict").textContent, "5,007 events in 3 sessions: 12 decisions differ, 1 undecidable, 2 expectations unmet");
    has("the eyebrow names the comparison", $("#eyebrow").textContent, "decided again by other modes");
    has("the rest is shown", $("#left-out").textContent, "2 more sessions with 30 events");
    has("problems have their place", $("#problems").textContent, "x.jsonl:12");
    same("every session is listed", all("#sessions .session").length, 3);
    same("differences are listed", all("#differences .row").length, 14);
    same("the first difference is open", location.hash === "" && name(), "SubagentStop(strategic-planner)");

    await parts();
    await drawing();
    await keys();
    await lists();
    await theme();
    await strangers();
    await long();
  }

  async function parts() {
    const text = detail();
    for (const wanted of ["blocked", "newly blocked", "Before", "Now", "Plan not created. Continue working.", "plan: draft done", "which files match plans/*.md?", "none", "exit 2", "oh", "to do: write plans/plan.md"]) has("the detail is complete", text, wanted);
    same("the check is a tree", all("#detail .tree ul > li").length, 2);
    has("truth has a sign and a word", $("#detail .truth").textContent, "✗ fails");
    has("JSON is laid out", $("#detail pre").textContent, '{\n  "decision": "block"\n}');
    await key("ArrowRight");
    has("an unmet expectation is shown", detail(), "✗ not met: expected block, got pass");
    await key("ArrowRight");
    has("what is not recorded is shown", detail(), "which commit is HEAD?");
    has("what the user is shown", detail(), "for the user");
    await key("ArrowLeft");
    await key("ArrowLeft");
    has("the way back", detail(), "newly blocked");
  }

  async function drawing() {
    same("every event has a mark", marks().length, 4);
    same("blocks are diamonds", all("#timeline .mark.block").length, 1);
    same("undecidable is a hollow circle", all("#timeline .mark.unknown").length, 1);
    same("differences have a ring", all("#timeline .ring").length, 3);
    same("lanes are agents", all("#timeline .lane-name:not(.strong)").map((node) => node.firstChild.data).join(), "main,strategic-planner");
    same("phases are bands", all("#timeline .band-name").length, 2);
    const plan = $("#diagrams svg[role=img]");
    has("the diagram can be read out", plan.getAttribute("aria-label"), "draft: done, the selected event is here");
    same("phases are boxes", plan.querySelectorAll(".phase").length, 3);
    same("the detour is drawn beside", plan.querySelectorAll(".way.side").length, 1);
    same("the path is marked", plan.querySelectorAll(".way.taken").length, 1);
    same("the phase of the event is marked", plan.querySelector(".phase.here .phase-name").textContent, "draft");
    same("blocks are counted", plan.querySelector(".gate-count").textContent, "1×");
    const time = all(".switch button").find((button) => button.textContent === "By time");
    await click(time);
    same("true time keeps the marks", marks().length, 4);
    same("true time is pressed", $(".switch [aria-pressed=true]").textContent, "By time");
    await click(all(".switch button")[0]);
    const at = $("#timeline .mark.unknown").getBoundingClientRect();
    $("#timeline").dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: at.left + at.width / 2, clientY: at.top + at.height / 2 }));
    await rest();
    same("a click selects", name(), "PostToolUse(Bash)");
  }

  async function keys() {
    same("the address has the event", location.hash, "#story/4");
    await key("ArrowUp");
    await key("ArrowDown");
    same("down goes to the lane below", name(), "SubagentStop(strategic-planner)");
    await key("p");
    has("p goes to the difference before", detail(), "event 2 of 4");
    await key("n");
    has("n goes to the next difference", detail(), "event 3 of 4");
    has("the event is announced", $("#live").textContent, "Event 3 of 4, SubagentStop(strategic-planner), allowed, expectation unmet");
    await key("b");
    has("b goes to the next block", $("#story-head h2").textContent, "<script>");
    await key("[");
    has("[ goes to the session before", $("#story-head h2").textContent, "story");
    same("the mark is the active one", $("#timeline").getAttribute("aria-activedescendant"), $("#timeline [aria-selected=true]").id);
    await key("Escape");
    check("Esc closes the detail", $("#detail").hidden);
    same("and the timeline has the focus", document.activeElement.id, "timeline");
    await key("?");
    check("? opens the help", $("#help").open && $("#help").textContent.includes("next difference"));
    $("#help").close();
    await key("/");
    same("/ goes to the search", document.activeElement.id, "search");
    location.hash = "#story/1";
    await rest();
    same("a link is followed", name(), "UserPromptSubmit(/plan x)");
    has("what the model is shown", detail(), "the modelPlanning Phase.");
    await key("n", $("#search"));
    same("typing is not a shortcut", name(), "UserPromptSubmit(/plan x)");
    $("#search").blur();
  }

  async function search(text) {
    $("#search").value = text;
    $("#search").dispatchEvent(new Event("input"));
    await rest(300);
  }

  async function lists() {
    await click($("[data-filter=undecidable]"));
    same("a chip filters", all("#differences .row").length, 1);
    same("a chip is pressed", $("[data-filter=undecidable]").getAttribute("aria-pressed"), "true");
    same("others are faint", all("#timeline .spot.faint").length, 2);
    await click($("[data-filter=undecidable]"));
    same("and is released", all("#differences .row").length, 14);
    await search("SUBAGENTSTOP plans");
    same("the search finds words in any case", all("#differences .row").length, 2);
    await search("no such thing anywhere");
    has("nothing found is shown", $("#differences").textContent, "No event is like that");
    await key("Escape", $("#search"));
    same("Esc clears the search", all("#differences .row").length, 14);
    const rows = all("#differences .row");
    same("one row is a tab stop", rows.filter((row) => row.tabIndex === 0).length, 1);
    rows[0].focus();
    await key("ArrowDown");
    check("arrows go through the list", document.activeElement === rows[1] && rows[1].tabIndex === 0 && rows[0].tabIndex === -1);
    const sessions = all("#sessions .session");
    same("one session is a tab stop", sessions.filter((node) => node.tabIndex === 0).length, 1);
    sessions[0].focus();
    await key("ArrowDown");
    has("arrows go through the sessions", document.activeElement.textContent, "script");
    await key("ArrowUp");
    has("and back", $("#story-head h2").textContent, "story");
  }

  async function theme() {
    const paper = () => getComputedStyle($("header")).backgroundColor;
    const before = paper();
    await click($("#theme"));
    check("the theme changes", paper() !== before, paper());
    await click($("#theme"));
    same("and changes back", paper(), before);
  }

  async function strangers() {
    const before = all("script, img, iframe").length;
    await click(all("#sessions .session")[1]);
    has("a hostile name is shown as it is", name(), "<\/script><script>window.pwned = 1<\/script><img src=x");
    has("a long text is cut", $("#detail .more").textContent, "more");
    const long = all("#detail .more").at(-1);
    await click(long);
    same("and opens", long.getAttribute("aria-expanded"), "true");
    for (let step = 0; step < 6; step += 1) await key("ArrowRight");
    await search("pwned");
    check("it can be searched for", all("#differences .row").length > 0);
    await key("Escape", $("#search"));
    same("nothing of it has run", window.pwned, undefined);
    same("nothing of it is markup", all("script, img, iframe").length, before);
    same("odd modes do no harm", {}.x, undefined);
    check("nothing is wider than the page", document.documentElement.scrollWidth <= innerWidth, document.documentElement.scrollWidth);
  }

  async function long() {
    await click(all("#sessions .session")[2]);
    has("the long session is open at its first difference", detail(), "event 500 of 5000");
    check("only what is in view is drawn", marks().length > 5 && marks().length < 400, marks().length);
    check("and only the lanes in view", all("#timeline .lane-name").length < 30, all("#timeline .lane-name").length);
    check("an overview is there", !$("#overview").hidden && $("#overview .lens"));
    const from = performance.now();
    for (let step = 0; step < 200; step += 1) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    say(`INFO 200 steps took ${Math.round(performance.now() - from)} ms`);
    await rest();
    has("200 steps lead 200 events on", detail(), `event ${500 + 200} of 5000`);
    check("the selected event is in view", $("#timeline [aria-selected=true]"));
    await key("0");
    await scrollDown(0);
    check("the whole session fits", $("#timeline .crowd") && marks().length > 10 && marks().length < 500, marks().length);
    check("events that lie close are announced", marks().some((mark) => mark.getAttribute("aria-label").includes("next to it")));
    await scrollDown(3000);
    check("other lanes come into view", all("#timeline .lane-name").some((node) => /agent|worker|helper/.test(node.textContent)));
    await key("n");
    has("n works here too", detail(), "event 1000 of 5000");
    await search("bash 4321)");
    same("the search finds one of thousands", all("#differences .row").length, 1);
    await key("Escape", $("#search"));
    await click($("[data-filter=blocked]"));
    check("a long list comes in portions", $(".more-rows") && all("#differences .row").length < 200);
    const shown = all("#differences .row").length;
    await click($(".more-rows"));
    check("and goes on", all("#differences .row").length > shown);
    const [render] = performance.getEntriesByName("modegate-render");
    say(`INFO first render took ${Math.round(render?.duration ?? -1)} ms`);
  }

  async function calm() {
    same("the headline is calm", $("#verdict").textContent, "1 event in 1 session: all decisions are unchanged");
    has("nothing differs", $("#differences").textContent, "Nothing differs. Every decision is as recorded.");
    await key("n");
    same("n says so", $("#live").textContent, "Nothing differs");
    await key("b");
    same("b says so", $("#live").textContent, "Nothing was blocked");
    await key("ArrowRight");
    same("an event can be selected", name(), "UserPromptSubmit(/plan x)");
    has("JSON is laid out", $("#detail pre").textContent, '"b": 1');
  }

  async function empty() {
    same("the headline says so", $("#verdict").textContent, "No events to replay");
    has("the list says so", $("#differences").textContent, "There is nothing here yet");
    check("there is no timeline", $("#story").hidden);
    check("there is no detail", $("#detail").hidden);
    for (const one of ["ArrowRight", "ArrowDown", "]", "n", "b", "0", "+", "Escape"]) await key(one);
    for (const session of all("#sessions .session")) await click(session);
    check("keys do no harm", $("#detail").hidden);
  }

  window.addEventListener("error", (error) => say(`FAIL an error: ${error.message}`));
  window.addEventListener("unhandledrejection", (error) => say(`FAIL an error: ${error.reason}`));
  document.addEventListener("securitypolicyviolation", (event) => say(`FAIL against the policy: ${event.violatedDirective}`));
  await rest();
  try {
    await { full, calm, empty }[PART]();
    say("DONE");
  } catch (error) {
    say(`FAIL an error: ${error.stack}`);
  }
})();
