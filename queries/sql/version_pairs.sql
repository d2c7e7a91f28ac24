-- Versions compared
-- Each of the newest 30 versions of a suite beside each older one of them, metric by metric: both
-- mean rates, the change, 0.1 being 10 % more, and what it is worth. Base and new are versions, or
-- the words newest and previous. What only one of them has measured is there, too.
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
        max(started_at) AS last_at
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
figures AS (
    SELECT
        *,
        sqrt(
            reduce(
                ascending,
                0e0,
                (total, rate) -> total + (rate - mean) * (rate - mean),
                total -> total
            ) / nullif(trials - 1, 0)
        ) AS stddev
    FROM means
),
versions AS (
    SELECT
        suite,
        version,
        row_number() OVER (PARTITION BY suite ORDER BY version_order DESC, version DESC) AS age
    FROM (SELECT DISTINCT suite, version, version_order FROM by_version)
),
choices AS (
    SELECT suite, version AS choice, version, age FROM versions WHERE age <= 30
    UNION ALL
    SELECT suite, CASE age WHEN 1 THEN 'newest' ELSE 'previous' END AS choice, version, age
    FROM versions
    WHERE age <= 2
),
metrics AS (
    SELECT DISTINCT suite, test, metric, statistic, labels, unit, direction FROM by_version
),
wanted AS (
    SELECT
        metrics.*,
        older.choice AS base,
        younger.choice AS new,
        older.version AS base_version,
        younger.version AS new_version
    FROM choices AS older
    JOIN choices AS younger ON younger.suite = older.suite AND younger.age < older.age
    JOIN metrics ON metrics.suite = older.suite
),
pairs AS (
    SELECT
        wanted.*,
        b.mean AS base_mean,
        n.mean AS new_mean,
        n.mean / nullif(b.mean, 0) - 1 AS change,
        b.stddev AS base_stddev,
        n.stddev AS new_stddev,
        coalesce(b.trials, 0) AS base_trials,
        coalesce(n.trials, 0) AS new_trials,
        b.min AS base_min,
        b.max AS base_max,
        n.min AS new_min,
        n.max AS new_max,
        coalesce(n.last_at, b.last_at) AS last_at
    FROM wanted
    LEFT JOIN figures AS b
        ON b.suite = wanted.suite
        AND b.test = wanted.test
        AND b.metric = wanted.metric
        AND b.statistic = wanted.statistic
        AND b.labels = wanted.labels
        AND b.unit = wanted.unit
        AND b.direction = wanted.direction
        AND b.version = wanted.base_version
    LEFT JOIN figures AS n
        ON n.suite = wanted.suite
        AND n.test = wanted.test
        AND n.metric = wanted.metric
        AND n.statistic = wanted.statistic
        AND n.labels = wanted.labels
        AND n.unit = wanted.unit
        AND n.direction = wanted.direction
        AND n.version = wanted.new_version
    WHERE b.version IS NOT NULL OR n.version IS NOT NULL
),
judged AS (
    SELECT
        *,
        -- More is better, so that what is gained is above zero.
        CASE direction WHEN 'higher' THEN change ELSE -change END AS gain,
        -- As people name it: compaction rate (records/s).
        concat(
            CASE WHEN strpos(metric, test) = 1 THEN '' ELSE concat(test, ' ') END,
            replace(metric, '_', ' '),
            CASE WHEN statistic = 'mean' THEN '' ELSE concat(' ', statistic) END,
            CASE WHEN labels = '' THEN '' ELSE concat(' ', labels) END,
            ' (',
            unit,
            ')'
        ) AS rate,
        -- The larger spread of the two versions; unknown if either has one trial.
        greatest(base_stddev, new_stddev) AS spread
    FROM pairs
)
SELECT
    suite,
    test,
    metric,
    statistic,
    labels,
    unit,
    direction,
    rate,
    concat(suite, ': ', rate) AS series,
    base,
    new,
    base_version,
    new_version,
    base_mean,
    new_mean,
    change,
    gain,
    base_stddev,
    new_stddev,
    base_trials,
    new_trials,
    base_min,
    base_max,
    new_min,
    new_max,
    last_at,
    CASE
        WHEN base_mean IS NULL THEN concat('no rate of ', base_version)
        WHEN new_mean IS NULL THEN concat('no rate of ', new_version)
        WHEN new_mean = base_mean THEN 'no change'
        WHEN change IS NULL THEN concat('the rate of ', base_version, ' is zero')
        ELSE concat(
            CASE WHEN gain > 0 THEN 'faster' ELSE 'slower' END,
            CASE
                WHEN spread IS NULL THEN '; spread unknown: one trial'
                WHEN abs(new_mean - base_mean) <= spread THEN ', within the spread'
                ELSE ', beyond the spread'
            END
        )
    END AS finding,
    -- To be added up: how many got slower, and how many are missing on one side.
    CASE WHEN gain < 0 AND abs(new_mean - base_mean) > spread THEN 1 ELSE 0 END AS slower,
    CASE WHEN base_mean IS NULL OR new_mean IS NULL THEN 1 ELSE 0 END AS missing
FROM judged
ORDER BY suite, test, metric, statistic, labels, unit, direction, base, new
