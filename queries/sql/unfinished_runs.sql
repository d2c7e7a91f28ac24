-- Unfinished runs
-- The newest 50 runs of each suite that did not complete, the newest first: how each ended, what is
-- missing of it, and why.
WITH unfinished AS (
    SELECT *, row_number() OVER (PARTITION BY suite ORDER BY run_id DESC) AS age
    FROM runs
    WHERE status <> 'complete'
)
SELECT
    suite,
    run_id,
    status,
    reason,
    array_join(versions, ', ') AS versions,
    trials_planned,
    trials_done,
    trials_planned - trials_done AS trials_missing,
    started_at,
    ended_at,
    trigger,
    note
FROM unfinished
WHERE age <= 50
ORDER BY run_id DESC, suite
