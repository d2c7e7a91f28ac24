-- Rates by run
-- The newest 100 runs of each suite, the newest first, metric by metric: the rates of the newest
-- version that each run measured, of trials that count, and the size of the run.
WITH newest AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY suite ORDER BY run_id DESC) AS age
    FROM runs
),
counted AS (
    SELECT
        rates.*,
        newest.started_at AS run_started_at,
        -- Tasks and the records of each, 2 × 1,000,000, or else the parameters, which are null if
        -- tasks and records are all. Imported figures have no known size.
        CASE
            WHEN newest.parameters <> '' THEN newest.parameters
            WHEN newest.records IS NULL THEN 'unknown'
            ELSE concat(format('%,d', newest.tasks), ' × ', format('%,d', newest.records))
        END AS sizes,
        dense_rank() OVER (
            PARTITION BY rates.suite, rates.run_id
            ORDER BY version_order DESC, version DESC
        ) AS version_age
    FROM rates
    JOIN newest ON newest.suite = rates.suite AND newest.run_id = rates.run_id
    WHERE age <= 100 AND value IS NOT NULL AND NOT coalesce(excluded, false)
),
by_run AS (
    SELECT
        suite,
        test,
        metric,
        statistic,
        labels,
        unit,
        direction,
        run_id,
        run_started_at,
        version,
        sizes,
        count(*) AS trials,
        array_agg(value ORDER BY value) AS ascending,
        min(value) AS min,
        max(value) AS max
    FROM counted
    WHERE version_age = 1
    GROUP BY
        suite,
        test,
        metric,
        statistic,
        labels,
        unit,
        direction,
        run_id,
        run_started_at,
        version,
        sizes
),
named AS (
    SELECT
        *,
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
        min(sizes) OVER (PARTITION BY suite) AS first_sizes,
        max(sizes) OVER (PARTITION BY suite) AS last_sizes
    FROM by_run
)
SELECT
    suite,
    test,
    metric,
    statistic,
    labels,
    unit,
    direction,
    run_id,
    run_started_at,
    version,
    trials,
    -- avg adds up as rows happen to come, even if told an order: the last bits would vary.
    CAST(
        reduce(ascending, 0e0, (total, rate) -> total + rate, total -> total) / trials AS double
    ) AS mean,
    min,
    max,
    rate,
    -- A chart has a series for each size of a suite that has several.
    concat(
        suite,
        ': ',
        rate,
        CASE WHEN first_sizes < last_sizes THEN concat(', ', sizes) ELSE '' END
    ) AS series,
    sizes
FROM named
ORDER BY suite, run_id DESC, test, metric, statistic, labels, unit, direction
