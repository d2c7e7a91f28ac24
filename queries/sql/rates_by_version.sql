-- Rates by version
-- Every metric of every suite over all runs, the versions in their order. A trial counts once,
-- by its rate; trials that were excluded, or gave no rate, are left out. Trials of every size count
-- alike: sizes says which there are.
WITH by_version AS (
    SELECT
        rates.suite,
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
        min(rates.started_at) AS first_at,
        max(rates.started_at) AS last_at,
        min(runs.tasks) AS min_tasks,
        max(runs.tasks) AS max_tasks,
        min(runs.records) AS min_records,
        max(runs.records) AS max_records,
        -- Null if tasks and records are all parameters of the suite.
        min(coalesce(runs.parameters, '')) AS min_parameters,
        max(coalesce(runs.parameters, '')) AS max_parameters,
        CASE WHEN min(provenance) = max(provenance) THEN min(provenance) ELSE 'mixed' END AS provenance,
        -- An imported figure, digit for digit, where nothing was added to it.
        CASE WHEN count(*) = 1 THEN min(value_text) END AS value_text
    FROM rates
    LEFT JOIN runs ON runs.suite = rates.suite AND runs.run_id = rates.run_id
    WHERE value IS NOT NULL AND NOT coalesce(excluded, false)
    GROUP BY rates.suite, test, metric, statistic, labels, unit, direction, version, version_order
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
named AS (
    SELECT
        *,
        -- As people name it: compaction rate (records/s).
        concat(
            CASE WHEN strpos(metric, test) = 1 THEN '' ELSE concat(test, ' ') END,
            replace(metric, '_', ' '),
            CASE WHEN statistic = 'mean' THEN '' ELSE concat(' ', statistic) END,
            CASE WHEN labels = '' THEN '' ELSE concat(' ', replace(labels, '"', '')) END,
            ' (',
            unit,
            ')'
        ) AS rate,
        -- The least and the most of the version, over all its metrics.
        min(min_tasks) OVER (PARTITION BY suite, version) AS least_tasks,
        max(max_tasks) OVER (PARTITION BY suite, version) AS most_tasks,
        min(min_records) OVER (PARTITION BY suite, version) AS least_records,
        max(max_records) OVER (PARTITION BY suite, version) AS most_records,
        min(min_parameters) OVER (PARTITION BY suite, version) AS least_parameters,
        max(max_parameters) OVER (PARTITION BY suite, version) AS most_parameters
    FROM means
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
    value_text,
    rate,
    concat(suite, ': ', rate) AS series,
    -- The place of the version among those of its suite, by which charts are sorted.
    dense_rank() OVER (PARTITION BY suite ORDER BY version_order, version) AS version_rank,
    -- The last trial of the version, over all its metrics.
    max(last_at) OVER (PARTITION BY suite, version) AS tested_at,
    -- Tasks and the records of each, over all trials of the version: 1–2 × 1,000,000; or else the
    -- parameters. Imported figures have no known size.
    CASE
        WHEN most_parameters <> '' THEN concat(
            least_parameters,
            CASE
                WHEN least_parameters < most_parameters THEN concat('–', most_parameters)
                ELSE ''
            END
        )
        WHEN least_records IS NULL THEN 'unknown'
        ELSE concat(
            format('%,d', least_tasks),
            CASE
                WHEN least_tasks < most_tasks THEN concat('–', format('%,d', most_tasks))
                ELSE ''
            END,
            ' × ',
            format('%,d', least_records),
            CASE
                WHEN least_records < most_records THEN concat('–', format('%,d', most_records))
                ELSE ''
            END
        )
    END AS sizes
FROM named
ORDER BY suite, test, metric, statistic, labels, unit, direction, version_order, version
