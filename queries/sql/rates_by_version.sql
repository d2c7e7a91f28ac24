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
    SELECT *, reduce(ascending, 0e0, (total, rate) -> total + rate, total -> total) / trials AS mean
    FROM by_version
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
    value_text
FROM means
ORDER BY suite, test, metric, statistic, labels, unit, direction, version_order, version
