-- Changes of level
-- The places in the history of each suite where the level of a metric changed for good, the newest
-- first: the first run on the new level, both levels, the cause that the history shows, and the
-- size of the runs.
SELECT
    told.suite,
    told.run_id,
    test,
    metric,
    statistic,
    labels,
    -- As people name it: compaction rate (records/s).
    concat(
        CASE WHEN strpos(metric, test) = 1 THEN '' ELSE concat(test, ' ') END,
        replace(metric, '_', ' '),
        CASE WHEN statistic = 'mean' THEN '' ELSE concat(' ', statistic) END,
        CASE WHEN labels = '' THEN '' ELSE concat(' ', replace(labels, '"', '')) END,
        ' (',
        unit,
        ')'
    ) AS rate,
    unit,
    direction,
    changed_run,
    changed_at,
    version,
    version_before,
    level_before,
    level_after,
    change,
    verdict,
    cause,
    accepted_level,
    acknowledged_until,
    acknowledged_reason,
    -- Tasks and the records of each, 2 × 1,000,000, or else the parameters, which are null if tasks
    -- and records are all. A run whose row is missing has no known size.
    CASE
        WHEN runs.parameters <> '' THEN runs.parameters
        WHEN runs.records IS NULL THEN 'unknown'
        ELSE concat(format('%,d', runs.tasks), ' × ', format('%,d', runs.records))
    END AS sizes
FROM (
    -- The rows of an earlier run may be there, too: the newest run is being recorded, or its
    -- recording died. What the history does not tell are rows without a changed run.
    SELECT *, max(run_id) OVER (PARTITION BY suite) AS newest FROM changes
) AS told
LEFT JOIN runs ON runs.suite = told.suite AND runs.run_id = told.changed_run
WHERE told.run_id = newest AND changed_run IS NOT NULL
ORDER BY suite, changed_run DESC, test, metric, statistic, labels
