-- Rates by run
-- The newest 100 runs of each suite, the newest first, metric by metric: the rates of the newest
-- version that each run measured, of trials that count, and the size of the run.
WITH placed AS (
    SELECT
        version_rates.*,
        runs.started_at AS run_started_at,
        dense_rank() OVER (
            PARTITION BY version_rates.suite, version_rates.run_id
            ORDER BY version_order DESC, version DESC
        ) AS version_age
    FROM version_rates
    JOIN (
        SELECT *, row_number() OVER (PARTITION BY suite ORDER BY run_id DESC) AS age FROM runs
    ) AS runs ON runs.suite = version_rates.suite AND runs.run_id = version_rates.run_id
    WHERE age <= 100 AND trials > 0
),
named AS (
    SELECT
        *,
        concat(test, ': ', metric, ' ', statistic, ', ', direction, ' is better') AS figure
    FROM placed
    WHERE version_age = 1
),
of_newest AS (
    SELECT
        *,
        -- The time of the test load and its load_time have one title.
        CASE
            WHEN min(figure) OVER (PARTITION BY suite, title)
                < max(figure) OVER (PARTITION BY suite, title)
                THEN concat(title, ' of ', figure)
            ELSE title
        END AS rate,
        min(sizes) OVER (PARTITION BY suite) < max(sizes) OVER (PARTITION BY suite) AS has_sizes
    FROM named
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
    mean,
    min,
    max,
    rate,
    -- A chart has a series for each size of a suite that has several.
    concat(suite, ': ', rate, CASE WHEN has_sizes THEN concat(', ', sizes) ELSE '' END) AS series,
    sizes
FROM of_newest
ORDER BY suite, run_id DESC, test, metric, statistic, labels, unit, direction
