-- Trials of the newest runs
-- Every trial of the newest five runs of each suite, in order: its rate, or why it has none or does
-- not count, and the machine that it was measured on. Run is the run's id, or the word newest.
WITH newest AS (
    SELECT suite, run_id, row_number() OVER (PARTITION BY suite ORDER BY run_id DESC) AS age
    FROM runs
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
    title AS rate,
    concat(suite, ': ', title) AS series,
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
FROM (
    SELECT rates.*, age
    FROM rates
    JOIN newest ON newest.suite = rates.suite AND newest.run_id = rates.run_id
    WHERE age <= 5
) AS of_newest
ORDER BY suite, run_id DESC, trial, test, metric, statistic, labels
