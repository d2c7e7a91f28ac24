-- Trials of the newest runs
-- Every trial of the newest five runs of each suite, in order: its rate, or why it has none or does
-- not count, and the machine that it was measured on. Run is the run's id, or the word newest.
WITH newest AS (
    SELECT suite, run_id, row_number() OVER (PARTITION BY suite ORDER BY run_id DESC) AS age
    FROM runs
),
figures AS (
    SELECT
        rates.*,
        age,
        concat(test, ': ', metric, ' ', statistic, ', ', direction, ' is better') AS figure
    FROM rates
    JOIN newest ON newest.suite = rates.suite AND newest.run_id = rates.run_id
    WHERE age <= 5
),
named AS (
    SELECT
        *,
        -- The time of the test load and its load_time have one title.
        CASE
            WHEN min(figure) OVER (PARTITION BY suite, title)
                < max(figure) OVER (PARTITION BY suite, title)
                THEN concat(title, ' of ', figure)
            ELSE title
        END AS rate
    FROM figures
)
SELECT
    suite,
    run_id,
    CASE age WHEN 1 THEN 'newest' ELSE run_id END AS run,
    trial,
    concat(
        CAST(trial AS varchar),
        ': ',
        version,
        CASE WHEN excluded THEN ' (excluded)' ELSE '' END
    ) AS name,
    repetition,
    test,
    metric,
    statistic,
    labels,
    rate,
    concat(suite, ': ', rate) AS series,
    version,
    unit,
    value,
    stddev,
    min,
    max,
    samples,
    expected,
    not_finite,
    status,
    CAST(
        CASE
            WHEN excluded THEN 'no: excluded'
            WHEN value IS NULL THEN 'no: it has no rate'
            ELSE 'yes'
        END AS varchar
    ) AS counts,
    reason,
    records,
    span_seconds,
    cpu_model,
    arch,
    environment,
    package,
    image_digest,
    started_at
FROM named
ORDER BY suite, run_id DESC, trial, test, metric, statistic, labels
