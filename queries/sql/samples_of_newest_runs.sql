-- Samples of the newest runs
-- Every rate line of every task's log in the newest five runs of each suite, in order of time. Run
-- is the run's id, or the word newest.
WITH newest AS (
    SELECT suite, run_id, row_number() OVER (PARTITION BY suite ORDER BY run_id DESC) AS age
    FROM runs
)
SELECT
    task_rates.suite,
    task_rates.run_id,
    CASE age WHEN 1 THEN 'newest' ELSE task_rates.run_id END AS run,
    trial,
    version,
    test,
    metric,
    labels,
    concat(metric, CASE WHEN labels = '' THEN '' ELSE concat(' ', replace(labels, '"', '')) END) AS name,
    logged_at,
    line,
    task_id,
    job,
    value,
    value_text,
    records,
    CAST(
        CASE
            WHEN excluded THEN 'no: excluded'
            WHEN value IS NULL THEN 'no: it is not a number'
            ELSE 'yes'
        END AS varchar
    ) AS counts,
    cpu_model,
    host,
    zone
FROM task_rates
JOIN newest ON newest.suite = task_rates.suite AND newest.run_id = task_rates.run_id
WHERE age <= 5
ORDER BY
    suite,
    run_id DESC,
    trial,
    test,
    metric,
    labels,
    logged_at,
    line,
    task_id
