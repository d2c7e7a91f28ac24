-- Changes of level
-- The places in the history of each suite where the level of a metric changed, the newest first:
-- the first run on the new level, both levels, the cause that the history shows, the size of the
-- runs, and the version that mended a slower one. A change of the state suspected has one run, and
-- for a drift no version is to blame. A change of spread is a row of the table changes alone.
SELECT
    told.suite,
    told.run_id,
    test,
    metric,
    statistic,
    labels,
    CASE
        WHEN shared.title IS NULL THEN told.title
        -- As in rates_by_version.sql.
        ELSE concat(told.title, ' of ', figure)
    END AS rate,
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
    -- A run without figures of its versions has no known size.
    coalesce(sizes, 'unknown') AS sizes,
    state,
    CAST(is_open AS VARCHAR) AS is_open,
    last_run,
    last_version,
    mended_run,
    mended_version,
    each,
    family
FROM (
    -- The rows of an earlier run may be there, too: the newest run is being recorded, or its
    -- recording died. What the history does not tell are rows without a changed run.
    SELECT
        *,
        max(run_id) OVER (PARTITION BY suite) AS newest,
        concat(test, ': ', metric, ' ', statistic, ', ', direction, ' is better') AS figure
    FROM changes
) AS told
LEFT JOIN (
    SELECT suite, run_id, max(sizes) AS sizes FROM version_rates GROUP BY suite, run_id
) AS changed ON changed.suite = told.suite AND changed.run_id = told.changed_run
LEFT JOIN (
    SELECT suite, title
    FROM (
        SELECT
            suite,
            title,
            concat(test, ': ', metric, ' ', statistic, ', ', direction, ' is better') AS figure
        FROM version_rates
        WHERE trials > 0
    )
    GROUP BY suite, title
    HAVING min(figure) < max(figure)
) AS shared ON shared.suite = told.suite AND shared.title = told.title
WHERE told.run_id = newest AND changed_run IS NOT NULL AND coalesce(state, 'new') <> 'spread'
ORDER BY suite, changed_run DESC, test, metric, statistic, labels
