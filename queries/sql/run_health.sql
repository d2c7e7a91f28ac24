-- Run health
-- How each run ended, the newest first: what was planned and what was done, and why not all of it.
SELECT
    suite,
    run_id,
    status,
    reason,
    trials_planned,
    trials_done,
    array_join(versions, ', ') AS versions,
    started_at,
    ended_at,
    task_seconds,
    note,
    trigger
FROM runs
ORDER BY started_at DESC, run_id DESC
