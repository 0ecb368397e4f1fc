-- Reads journals, and the output of `modegate replay --json`, once. Replace JOURNALS and REPLAYED by paths or globs;
-- object storage works as well: s3://bucket/journals/*/*.jsonl.
CREATE TABLE journal AS
SELECT event.session_id AS session, "at" AS time, event.hook_event_name AS kind, event.agent_type AS agent, who, event,
  decision.verdict AS verdict, decision.reason AS reason, coalesce(decision.moves, []) AS moves, findings, us,
  split_part(filename, '/', -2) AS team
FROM read_json('JOURNALS', format = 'newline_delimited', filename = true, maximum_object_size = 33554432, columns = {
  "at": 'TIMESTAMP',
  event: 'STRUCT(session_id VARCHAR, hook_event_name VARCHAR, agent_type VARCHAR, tool_name VARCHAR, tool_input STRUCT(subagent_type VARCHAR))',
  decision: 'STRUCT(verdict VARCHAR, reason VARCHAR, moves VARCHAR[])',
  findings: 'STRUCT(mode VARCHAR, phase VARCHAR, gate VARCHAR, verdict VARCHAR, reason VARCHAR, unmet BOOLEAN, outcome STRUCT(truth VARCHAR, saw VARCHAR))[]',
  who: 'VARCHAR', us: 'BIGINT'})
WHERE event IS NOT NULL; -- the first line of a recording has none

CREATE VIEW finding AS
SELECT session, time, kind, team, f.mode AS mode, f.phase AS phase, f.gate AS gate, f.verdict AS verdict,
  coalesce(f.unmet, false) AS unmet, f.outcome.truth AS truth, f.outcome.saw AS saw
FROM (SELECT session, time, kind, team, unnest(findings) AS f FROM journal);

CREATE TABLE replayed AS
SELECT session, file, line, event, kind, verdict, change, coalesce(gates, []) AS gates
FROM read_json('REPLAYED', format = 'newline_delimited', maximum_object_size = 33554432, columns = {
  session: 'VARCHAR', file: 'VARCHAR', line: 'BIGINT', event: 'VARCHAR', kind: 'VARCHAR', verdict: 'VARCHAR', change: 'VARCHAR', gates: 'VARCHAR[]'})
WHERE change IS NOT NULL; -- problems and skipped records have none
