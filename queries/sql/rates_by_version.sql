-- Rates by version
-- Every metric of every suite over all runs, by version and size: the versions in their order. A
-- trial counts once, by its rate, with the trials of its size alone: sizes says which. Trials that
-- were excluded, or gave no rate, are left out, and so are trials of an image that a later run of
-- the same version and size no longer had.
WITH named AS (
    SELECT
        *,
        concat(test, ': ', metric, ' ', statistic, ', ', direction, ' is better') AS figure
    FROM version_rates
    WHERE trials > 0
),
placed AS (
    SELECT
        *,
        -- The time of the test load and its load_time have one title.
        CASE
            WHEN min(figure) OVER (PARTITION BY suite, title)
                < max(figure) OVER (PARTITION BY suite, title)
                THEN concat(title, ' of ', figure)
            ELSE title
        END AS rate,
        coalesce(image_digest, '') AS image,
        first_value(coalesce(image_digest, '')) OVER (
            PARTITION BY suite, test, version, sizes ORDER BY run_id DESC, image_digest
        ) AS newest_image,
        -- A version has one place, which an imported figure and a measured run may order
        -- differently. Runs that do not know the order of their versions give it a place from ~.
        first_value(version_order) OVER (
            PARTITION BY suite, version
            ORDER BY version_order >= '~', run_id DESC, version_order
        ) AS place,
        -- Rates of several runs are added up as differences from one of their means, which keeps
        -- their digits.
        first_value(mean) OVER (
            PARTITION BY suite, test, metric, statistic, labels, unit, direction, version, sizes
            ORDER BY run_id DESC
        ) AS near
    FROM named
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
        rate,
        version,
        place AS version_order,
        sizes,
        near,
        sum(trials) AS trials,
        CASE WHEN count(*) = 1 THEN min(stddev) END AS stddev_of_run,
        -- sum adds up as rows happen to come: the last bits would vary.
        CAST(
            reduce(
                array_agg(trials * (mean - near) ORDER BY run_id),
                0e0,
                (total, run) -> total + run,
                total -> total
            ) / sum(trials) AS double
        ) AS distance,
        reduce(
            array_agg(
                (trials - 1) * coalesce(stddev * stddev, 0e0) + trials * (mean - near) * (mean - near)
                ORDER BY run_id
            ),
            0e0,
            (total, run) -> total + run,
            total -> total
        ) AS squares,
        min(min) AS min,
        max(max) AS max,
        min(first_at) AS first_at,
        max(last_at) AS last_at,
        CASE WHEN min(provenance) = max(provenance) THEN min(provenance) ELSE 'mixed' END AS provenance,
        -- An imported figure, digit for digit, where nothing was added to it.
        CASE WHEN count(*) = 1 THEN min(value_text) END AS value_text
    FROM placed
    WHERE image = newest_image
    GROUP BY
        suite,
        test,
        metric,
        statistic,
        labels,
        unit,
        direction,
        rate,
        version,
        place,
        sizes,
        near
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
    near + distance AS mean,
    coalesce(
        stddev_of_run,
        sqrt(greatest(squares - trials * distance * distance, 0e0) / nullif(trials - 1, 0))
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
        CASE
            WHEN min(sizes) OVER (PARTITION BY suite) < max(sizes) OVER (PARTITION BY suite)
                THEN concat(', ', sizes)
            ELSE ''
        END
    ) AS series,
    -- The place of the version among the suite's versions; charts are sorted by it.
    dense_rank() OVER (PARTITION BY suite ORDER BY version_order, version) AS version_rank,
    -- The last trial of the version and size, over all its metrics.
    max(last_at) OVER (PARTITION BY suite, version, sizes) AS tested_at,
    sizes,
    -- How much better the version is than the geometric mean of all versions of its size. avg, too,
    -- adds up as rows happen to come, where its window has no order.
    exp(
        CASE direction WHEN 'higher' THEN 1 ELSE -1 END * (
            ln(CASE WHEN near + distance > 0 THEN near + distance END)
            - avg(ln(CASE WHEN near + distance > 0 THEN near + distance END)) OVER (
                PARTITION BY suite, test, metric, statistic, labels, unit, direction, sizes
                ORDER BY version_order, version
                ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
            )
        )
    ) - 1 AS usual_gain
FROM by_version
ORDER BY suite, test, metric, statistic, labels, unit, direction, version_order, version, sizes
