-- Rates by version
-- Every metric of every suite over all runs, by version and size: the versions in their order. A
-- trial counts once, by its rate, with the trials of its size alone: sizes says which. Trials that
-- were excluded, or gave no rate, are left out, and so are those of an image that a later run of
-- the same version and size no longer had.
WITH counted AS (
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
        value,
        value_text,
        rates.started_at,
        provenance,
        -- Tasks and the records of each, 2 × 1,000,000, or else the parameters, which are null if
        -- tasks and records are all. Imported figures have no known size.
        CASE
            WHEN runs.parameters <> '' THEN runs.parameters
            WHEN runs.records IS NULL THEN 'unknown'
            ELSE concat(format('%,d', runs.tasks), ' × ', format('%,d', runs.records))
        END AS sizes,
        coalesce(image_digest, '') AS image,
        rates.run_id AS of_run,
        trial
    FROM rates
    LEFT JOIN runs ON runs.suite = rates.suite AND runs.run_id = rates.run_id
    WHERE value IS NOT NULL AND NOT coalesce(excluded, false)
),
of_images AS (
    SELECT
        *,
        first_value(image) OVER (
            PARTITION BY suite, test, version, sizes
            ORDER BY of_run DESC, trial DESC, image
        ) AS newest_image,
        -- A version has one place, which an imported figure and a measured run may order
        -- differently. Runs that do not know the order of their versions give it a place from ~.
        first_value(version_order) OVER (
            PARTITION BY suite, version
            ORDER BY version_order >= '~', of_run DESC, version_order
        ) AS place
    FROM counted
),
by_version AS (
    SELECT
        suite,
        test,
        metric,
        statistic,
        labels,
        unit,
        direction,
        version,
        place AS version_order,
        sizes,
        count(*) AS trials,
        array_agg(value ORDER BY value) AS ascending,
        min(value) AS min,
        max(value) AS max,
        min(started_at) AS first_at,
        max(started_at) AS last_at,
        CASE WHEN min(provenance) = max(provenance) THEN min(provenance) ELSE 'mixed' END AS provenance,
        -- An imported figure, digit for digit, where nothing was added to it.
        CASE WHEN count(*) = 1 THEN min(value_text) END AS value_text
    FROM of_images
    WHERE image = newest_image
    GROUP BY
        suite,
        test,
        metric,
        statistic,
        labels,
        unit,
        direction,
        version,
        place,
        sizes
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
        min(sizes) OVER (PARTITION BY suite) AS first_sizes,
        max(sizes) OVER (PARTITION BY suite) AS last_sizes
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
    -- A chart has a series for each size of a suite that has several.
    concat(
        suite,
        ': ',
        rate,
        CASE WHEN first_sizes < last_sizes THEN concat(', ', sizes) ELSE '' END
    ) AS series,
    -- The place of the version among those of its suite, by which charts are sorted.
    dense_rank() OVER (PARTITION BY suite ORDER BY version_order, version) AS version_rank,
    -- The last trial of the version and size, over all its metrics.
    max(last_at) OVER (PARTITION BY suite, version, sizes) AS tested_at,
    sizes
FROM named
ORDER BY suite, test, metric, statistic, labels, unit, direction, version_order, version, sizes
