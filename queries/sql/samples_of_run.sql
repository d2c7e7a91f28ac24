-- Samples of a run
-- Every rate line of every task's log, in order of time. Add WHERE suite = '…' AND run_id = '…'
-- after FROM task_rates for one run: only the objects of the suite are read.
SELECT
    suite,
    run_id,
    trial,
    test,
    metric,
    labels,
    version,
    log_stream,
    logged_at,
    line,
    task_id,
    job,
    value,
    value_text,
    records,
    excluded
FROM task_rates
ORDER BY suite, run_id, trial, test, metric, labels, logged_at, log_stream, line
