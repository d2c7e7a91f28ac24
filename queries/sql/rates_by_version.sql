-- Rates by version
-- Every metric of every suite over all runs, the versions in their order. A trial counts once,
-- by its rate; trials that were excluded, or gave no rate, are left out.
WITH by_version AS (
    SELECT
        suite,
        test,
        metric,
        statistic,
        labels,
        unit,
        direction,
        version,
        version_order,
        count(*) AS trials,
        array_agg(value ORDER BY value) AS ascending,
        min(value) AS min,
        max(value) AS max,
        min(started_at) AS first_at,
        max(started_at) AS last_at,
        CASE WHEN min(provenance) = max(provenance) THEN min(provenance) ELSE 'mixed' END AS provenance,
        -- What was imported, digit for digit, where nothing was added to it.
        CASE WHEN count(*) = 1 THEN min(value_text) END AS value_text
    FROM rates
    WHERE value IS NOT NULL AND NOT coalesce(excluded, false)
    GROUP BY suite, test, metric, statistic, labels, unit, direction, version, version_order
),
-- avg and stddev add up as rows happen to come, even if told an order: the last bits would vary.
means AS (
    SELECT
        *,
        CAST(
            reduce(ascending, 0e0, (total, rate) -> total + rate, total -> total) / trials AS double
        ) AS mean
    FROM by_version
),
named AS (
    SELECT
        *,
        -- As people name it: compaction rate (records/s).
        concat(
            CASE WHEN strpos(metric, test) = 1 THEN '' ELSE concat(test, ' ') END,
            replace(metric, '_', ' '),
            CASE WHEN statistic = 'mean' THEN '' ELSE concat(' ', statistic) END,
            CASE WHEN labels = '' THEN '' ELSE concat(' ', labels) END,
            ' (',
            unit,
            ')'
        ) AS rate
    FROM means
)
SELECT
    suite,
    test,
    metric,
    statistic,
    labels,
    unit,
    direction,
    version,
    version_order,
    trials,
    mean,
    sqrt(
        reduce(
            ascending,
            0e0,
            (total, rate) -> total + (rate - mean) * (rate - mean),
            total -> total
        ) / nullif(trials - 1, 0)
    ) AS stddev,
    min,
    max,
    first_at,
    last_at,
    provenance,
    value_text,
    rate,
    concat(suite, ': ', rate) AS series,
    -- The place of the version among those of its suite, by which charts are sorted.
    dense_rank() OVER (PARTITION BY suite ORDER BY version_order, version) AS version_rank,
    -- When the version was last measured, whatever of it.
    max(last_at) OVER (PARTITION BY suite, version) AS tested_at
FROM named
ORDER BY suite, test, metric, statistic, labels, unit, direction, version_order, version
