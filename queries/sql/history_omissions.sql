-- Omissions of histories
-- What the history of a figure, or of all figures, leaves out and cannot tell yet, as sentences.
SELECT
    suite,
    run_id,
    coalesce(test, '') AS test,
    coalesce(metric, '') AS metric,
    coalesce(statistic, '') AS statistic,
    coalesce(labels, '') AS labels,
    coalesce(title, 'all') AS rate,
    untold AS sentence
FROM (SELECT *, max(run_id) OVER (PARTITION BY suite) AS newest FROM changes) AS told
WHERE run_id = newest AND untold <> ''
ORDER BY suite, test, metric, statistic, labels, sentence
