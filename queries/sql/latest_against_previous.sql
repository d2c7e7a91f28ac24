-- Latest against previous
-- The newest version of each metric beside the version before it: the mean rate of each over all
-- its trials, and the change, 0.1 being 10 % more. Whether more is better, direction says.
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
        count(*) AS trials,
        -- avg adds up as rows happen to come, even if told an order: the last bits would vary.
        reduce(
            array_agg(value ORDER BY value),
            0e0,
            (total, rate) -> total + rate,
            total -> total
        ) / count(*) AS mean,
        row_number() OVER (
            PARTITION BY suite, test, metric, statistic, labels, unit, direction
            ORDER BY version_order DESC, version DESC
        ) AS age
    FROM rates
    WHERE value IS NOT NULL AND NOT coalesce(excluded, false)
    GROUP BY suite, test, metric, statistic, labels, unit, direction, version, version_order
),
pairs AS (
    SELECT
        suite,
        test,
        metric,
        statistic,
        labels,
        unit,
        direction,
        max(CASE WHEN age = 1 THEN version END) AS version,
        max(CASE WHEN age = 1 THEN trials END) AS trials,
        max(CASE WHEN age = 1 THEN mean END) AS mean,
        max(CASE WHEN age = 2 THEN version END) AS previous_version,
        max(CASE WHEN age = 2 THEN trials END) AS previous_trials,
        max(CASE WHEN age = 2 THEN mean END) AS previous_mean
    FROM by_version
    GROUP BY suite, test, metric, statistic, labels, unit, direction
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
    trials,
    mean,
    previous_version,
    previous_trials,
    previous_mean,
    mean / nullif(previous_mean, 0) - 1 AS change
FROM pairs
ORDER BY suite, test, metric, statistic, labels, unit, direction
