-- Latest run
-- Every rate of the newest run of each suite, the versions in their order. It reads a few kB for
-- each suite, however many runs are stored.
SELECT
    suite,
    run_id,
    trial,
    test,
    metric,
    statistic,
    labels,
    version,
    version_order,
    unit,
    direction,
    value,
    samples,
    expected,
    stddev,
    min,
    max,
    repetition,
    excluded,
    status,
    reason,
    started_at
FROM (
    -- While a run is being recorded, the one before it may be there too.
    SELECT *, max(run_id) OVER (PARTITION BY suite) AS newest FROM latest_rates
)
WHERE run_id = newest
ORDER BY suite, test, metric, statistic, labels, version_order, version, trial
