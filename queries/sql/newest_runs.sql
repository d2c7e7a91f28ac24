-- Newest runs
-- The newest five runs of each suite: what was asked, how each ended, and what it took. Run is the
-- run's id, or the word newest.
WITH newest AS (
    SELECT *, row_number() OVER (PARTITION BY suite ORDER BY run_id DESC) AS age FROM runs
)
SELECT
    suite,
    run_id,
    CASE age WHEN 1 THEN 'newest' ELSE run_id END AS run,
    status,
    reason,
    array_join(versions, ', ') AS versions,
    baseline,
    repetitions,
    tasks,
    records,
    trials_planned,
    trials_done,
    started_at,
    ended_at,
    date_diff('second', started_at, ended_at) AS seconds,
    task_seconds,
    cost_usd,
    insights_bytes,
    trigger,
    note,
    tidemark_version
FROM newest
WHERE age <= 5
ORDER BY suite, run_id DESC
