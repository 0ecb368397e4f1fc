-- Ten questions about journals and replays, for DuckDB. `journal` and `finding` are made from journals, `replayed` from
-- `modegate replay --json`; see tables.sql. Each question begins with `-- N. `.

-- 1. Which gates block most?
SELECT mode, gate, count(*) AS blocks, count(DISTINCT session) AS sessions
FROM finding WHERE verdict IN ('block', 'stop') GROUP BY ALL ORDER BY blocks DESC, gate LIMIT 10;

-- 2. How often did patience run out, and at which gate?
SELECT mode, gate, count(*) AS allowed_unmet, count(DISTINCT session) AS sessions
FROM finding WHERE unmet GROUP BY ALL ORDER BY allowed_unmet DESC, gate;

-- 3. How long does it take from /plan to a consulted plan?
WITH times AS (
  SELECT session,
    min(time) FILTER (list_contains(moves, 'plan mode activated')) AS begun,
    min(time) FILTER (list_contains(moves, 'plan: consult done')) AS consulted
  FROM journal GROUP BY session)
SELECT count(begun) AS begun, count(consulted) AS consulted,
  round(median(epoch(consulted - begun)), 1) AS median_seconds, round(quantile_cont(epoch(consulted - begun), 0.9), 1) AS p90_seconds
FROM times WHERE begun IS NOT NULL;

-- 4. Which share of the modes that begin is completed?
SELECT regexp_extract(move, '^(\S+) mode', 1) AS mode,
  count(*) FILTER (move LIKE '% mode activated') AS begun, count(*) FILTER (move LIKE '% mode complete') AS completed,
  round(100 * completed / begun) AS percent
FROM (SELECT unnest(moves) AS move FROM journal) WHERE move LIKE '% mode %' GROUP BY ALL ORDER BY begun DESC, mode;

-- 5. How many blocks does a gate need before it passes?
WITH per_session AS (
  SELECT session, gate, count(*) FILTER (verdict = 'block') AS blocks, bool_or(verdict = 'pass' AND NOT unmet) AS passed
  FROM finding GROUP BY ALL)
SELECT gate, round(avg(blocks), 2) AS blocks_per_session, max(blocks) AS most, count(*) FILTER (NOT passed) AS never_passed
FROM per_session WHERE blocks > 0 GROUP BY ALL ORDER BY blocks_per_session DESC, gate LIMIT 10;

-- 6. Which agents are blocked most, at their start and at their stop?
SELECT coalesce(who, agent, event.tool_input.subagent_type, 'main agent') AS agent_name,
  count(*) FILTER (kind = 'PreToolUse') AS start_blocked, count(*) FILTER (kind IN ('SubagentStop', 'Stop')) AS stop_blocked
FROM journal WHERE verdict IN ('block', 'stop') AND kind IN ('PreToolUse', 'SubagentStop', 'Stop')
GROUP BY ALL ORDER BY start_blocked + stop_blocked DESC, agent_name LIMIT 10;

-- 7. How long do people and agents wait for the hook?
SELECT kind, count(*) AS events, round(median(us) / 1000, 2) AS median_ms, round(quantile_cont(us, 0.99) / 1000, 2) AS p99_ms
FROM journal GROUP BY ALL ORDER BY p99_ms DESC LIMIT 10;

-- 8. How many sessions and blocks does each team have per week?
SELECT team, date_trunc('week', time)::DATE AS week, count(DISTINCT session) AS sessions,
  count(*) FILTER (verdict IN ('block', 'stop')) AS blocks
FROM journal GROUP BY ALL ORDER BY team, week LIMIT 12;

-- 9. Where did a check not find out what it asked, so that a gate could not decide?
SELECT gate, saw, count(*) AS findings FROM finding WHERE truth = 'unknown' GROUP BY ALL ORDER BY findings DESC, gate LIMIT 10;

-- 10. Which past decisions would other modes change?
SELECT change, coalesce(gate, '-') AS gate, count(*) AS events, count(DISTINCT session) AS sessions
FROM (SELECT change, session, unnest(coalesce(nullif(gates, []), [NULL])) AS gate FROM replayed)
WHERE change NOT IN ('same', 'new') GROUP BY ALL ORDER BY events DESC, gate;
