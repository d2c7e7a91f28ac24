-- Versions compared
-- Each of the newest 15 versions of a suite beside each older one of them, metric by metric: both
-- mean rates, the change, 0.1 being 10 % more, its 95 % interval (Student's t, Welch) and the
-- verdict. Base and new are versions, or the words newest and previous: that pair comes first, and
-- the others by age. What only one of them has measured is there, too; and where versions were not
-- measured with the same parameters, or in no run together, unlike says so.
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
        max(rates.started_at) AS last_at,
        array_agg(DISTINCT rates.run_id) AS in_runs,
        min(runs.tasks) AS least_tasks,
        max(runs.tasks) AS most_tasks,
        min(runs.records) AS least_records,
        max(runs.records) AS most_records,
        -- Parameters of a suite that has others than tasks and records.
        min(
            CASE
                WHEN runs.parameters = concat(
                    '{"records": ',
                    CAST(runs.records AS varchar),
                    ', "tasks": ',
                    CAST(runs.tasks AS varchar),
                    '}'
                ) THEN ''
                ELSE coalesce(runs.parameters, '')
            END
        ) AS least_parameters,
        max(
            CASE
                WHEN runs.parameters = concat(
                    '{"records": ',
                    CAST(runs.records AS varchar),
                    ', "tasks": ',
                    CAST(runs.tasks AS varchar),
                    '}'
                ) THEN ''
                ELSE coalesce(runs.parameters, '')
            END
        ) AS most_parameters
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
figures AS (
    SELECT
        *,
        sqrt(
            reduce(
                ascending,
                0e0,
                (total, rate) -> total + (rate - mean) * (rate - mean),
                total -> total
            ) / nullif(trials - 1, 0)
        ) AS stddev,
        least_tasks < most_tasks
        OR least_records < most_records
        OR least_parameters < most_parameters AS mixed,
        -- Tasks and the records of each: 1–2 × 1,000,000; or else the parameters.
        CASE
            WHEN most_parameters <> '' THEN concat(
                least_parameters,
                CASE
                    WHEN least_parameters < most_parameters THEN concat('–', most_parameters)
                    ELSE ''
                END
            )
            WHEN least_records IS NOT NULL THEN concat(
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
        END AS size
    FROM means
),
versions AS (
    SELECT
        suite,
        version,
        row_number() OVER (PARTITION BY suite ORDER BY version_order DESC, version DESC) AS age
    FROM (SELECT DISTINCT suite, version, version_order FROM by_version)
),
choices AS (
    SELECT suite, version AS choice, version, age FROM versions WHERE age <= 15
    UNION ALL
    SELECT suite, CASE age WHEN 1 THEN 'newest' ELSE 'previous' END AS choice, version, age
    FROM versions
    WHERE age <= 2
),
metrics AS (
    SELECT DISTINCT suite, test, metric, statistic, labels, unit, direction FROM by_version
),
wanted AS (
    SELECT
        metrics.*,
        older.choice AS base,
        younger.choice AS new,
        older.version AS base_version,
        younger.version AS new_version,
        -- The place of the pair among those of its suite; of the same two by their words first.
        dense_rank() OVER (
            PARTITION BY metrics.suite
            ORDER BY
                younger.age,
                older.age,
                older.choice = older.version,
                younger.choice = younger.version
        ) AS pair
    FROM choices AS older
    JOIN choices AS younger ON younger.suite = older.suite AND younger.age < older.age
    JOIN metrics ON metrics.suite = older.suite
),
pairs AS (
    SELECT
        wanted.*,
        b.mean AS base_mean,
        n.mean AS new_mean,
        -- Of what is below zero there is no share.
        CASE WHEN b.min >= 0 AND n.min >= 0 THEN n.mean / nullif(b.mean, 0) - 1 END AS change,
        b.stddev AS base_stddev,
        n.stddev AS new_stddev,
        coalesce(b.trials, 0) AS base_trials,
        coalesce(n.trials, 0) AS new_trials,
        b.min AS base_min,
        b.max AS base_max,
        n.min AS new_min,
        n.max AS new_max,
        -- Of figures that others measured no size is known.
        CASE
            WHEN b.size <> n.size OR b.mixed OR n.mixed THEN concat(
                b.version,
                ': ',
                coalesce(b.size, 'unknown'),
                ', ',
                n.version,
                ': ',
                coalesce(n.size, 'unknown')
            )
        END AS sizes,
        -- What differs between the runs is then not told from what differs between the versions.
        CASE WHEN NOT arrays_overlap(b.in_runs, n.in_runs) THEN 'no run measured both' END AS apart,
        coalesce(n.last_at, b.last_at) AS last_at
    FROM wanted
    LEFT JOIN figures AS b
        ON b.suite = wanted.suite
        AND b.test = wanted.test
        AND b.metric = wanted.metric
        AND b.statistic = wanted.statistic
        AND b.labels = wanted.labels
        AND b.unit = wanted.unit
        AND b.direction = wanted.direction
        AND b.version = wanted.base_version
    LEFT JOIN figures AS n
        ON n.suite = wanted.suite
        AND n.test = wanted.test
        AND n.metric = wanted.metric
        AND n.statistic = wanted.statistic
        AND n.labels = wanted.labels
        AND n.unit = wanted.unit
        AND n.direction = wanted.direction
        AND n.version = wanted.new_version
    WHERE b.version IS NOT NULL OR n.version IS NOT NULL
),
-- From here on by the steps of tidemark/figures/verdict.py, so that a comparison report says the same. The
-- variance of each side's part in new / base, by the delta method:
variances AS (
    SELECT
        *,
        new_mean / nullif(base_mean, 0) * base_stddev / nullif(base_mean, 0)
            * (new_mean / nullif(base_mean, 0) * base_stddev / nullif(base_mean, 0))
            / base_trials AS of_base,
        new_stddev / nullif(base_mean, 0) * (new_stddev / nullif(base_mean, 0))
            / new_trials AS of_new
    FROM pairs
),
-- Degrees of freedom by Welch and Satterthwaite; one if no trial differs from another.
freedoms AS (
    SELECT
        *,
        coalesce(
            round(
                (of_base + of_new) * (of_base + of_new) / nullif(
                    of_base * of_base / nullif(base_trials - 1, 0)
                        + of_new * of_new / nullif(new_trials - 1, 0),
                    0
                ),
                6
            ),
            1e0
        ) AS freedom
    FROM variances
),
-- Two-sided 95 %. Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
student (freedom, quantile) AS (
    VALUES
        (1, 12.706e0), (2, 4.303e0), (3, 3.182e0), (4, 2.776e0), (5, 2.571e0), (6, 2.447e0),
        (7, 2.365e0), (8, 2.306e0), (9, 2.262e0), (10, 2.228e0), (11, 2.201e0), (12, 2.179e0),
        (13, 2.160e0), (14, 2.145e0), (15, 2.131e0), (16, 2.120e0), (17, 2.110e0), (18, 2.101e0),
        (19, 2.093e0), (20, 2.086e0), (21, 2.080e0), (22, 2.074e0), (23, 2.069e0), (24, 2.064e0),
        (25, 2.060e0), (26, 2.056e0), (27, 2.052e0), (28, 2.048e0), (29, 2.045e0), (30, 2.042e0),
        (40, 2.021e0), (60, 2.000e0), (120, 1.980e0)
),
-- Half of the interval of the logarithm of new / base; one of rates, none of which is below zero,
-- does not reach a loss of everything. Between two known degrees of freedom the larger quantile
-- holds.
halves AS (
    SELECT
        freedoms.*,
        quantile * sqrt(of_base + of_new) / coalesce(nullif(1 + change, 0), 1) AS half
    FROM freedoms
    JOIN student ON student.freedom = CASE
        WHEN freedoms.freedom >= 120 THEN 120
        WHEN freedoms.freedom >= 60 THEN 60
        WHEN freedoms.freedom >= 40 THEN 40
        WHEN freedoms.freedom >= 30 THEN 30
        -- Of figures as far apart as 1e-200 and 1e200 no degree of freedom is left.
        ELSE greatest(1, coalesce(TRY_CAST(floor(freedoms.freedom) AS integer), 1))
    END
),
judged AS (
    SELECT
        *,
        (1 + change) * exp(-half) - 1 AS low,
        (1 + change) * exp(half) - 1 AS high,
        -- More is better, so that what is gained is above zero.
        CASE direction WHEN 'higher' THEN change ELSE -change END AS gain,
        -- As people name it: compaction rate (records/s).
        concat(
            CASE WHEN strpos(metric, test) = 1 THEN '' ELSE concat(test, ' ') END,
            replace(metric, '_', ' '),
            CASE WHEN statistic = 'mean' THEN '' ELSE concat(' ', statistic) END,
            CASE WHEN labels = '' THEN '' ELSE concat(' ', replace(labels, '"', '')) END,
            ' (',
            unit,
            ')'
        ) AS rate
    FROM halves
),
told AS (
    SELECT
        *,
        -- In which unit each side was measured: a change of unit or direction leaves a row of either.
        max(CASE WHEN base_mean IS NOT NULL THEN unit END) OVER (
            PARTITION BY suite, test, metric, statistic, labels, base, new
        ) AS base_unit,
        max(CASE WHEN new_mean IS NOT NULL THEN unit END) OVER (
            PARTITION BY suite, test, metric, statistic, labels, base, new
        ) AS new_unit,
        CASE direction WHEN 'higher' THEN 'lower' ELSE 'higher' END AS opposite,
        CAST(
            CASE
                WHEN base_mean IS NULL OR new_mean IS NULL THEN 'not comparable'
                WHEN low >= -0.05e0 AND high <= 0.05e0 THEN 'same'
                WHEN low > 0 OR high < 0 THEN CASE WHEN gain > 0 THEN 'faster' ELSE 'slower' END
                ELSE 'cannot tell'
            END AS varchar
        ) AS verdict
    FROM judged
)
SELECT
    suite,
    test,
    metric,
    statistic,
    labels,
    unit,
    direction,
    rate,
    concat(suite, ': ', rate) AS series,
    base,
    new,
    base_version,
    new_version,
    base_mean,
    new_mean,
    change,
    gain,
    low,
    high,
    verdict,
    CASE
        WHEN base_mean IS NULL AND base_unit <> unit
            THEN concat('another unit: ', base_version, ' has it in ', base_unit)
        WHEN new_mean IS NULL AND new_unit <> unit
            THEN concat('another unit: ', new_version, ' has it in ', new_unit)
        WHEN base_mean IS NULL AND base_unit = unit
            THEN concat('another direction: ', opposite, ' was better for ', base_version)
        WHEN new_mean IS NULL AND new_unit = unit
            THEN concat('another direction: ', opposite, ' is better for ', new_version)
        WHEN base_mean IS NULL THEN concat('no rate of ', base_version)
        WHEN new_mean IS NULL THEN concat('no rate of ', new_version)
        WHEN verdict <> 'cannot tell' THEN ''
        WHEN base_mean = 0 THEN 'the rate of the base is zero'
        WHEN base_min < 0 OR new_min < 0 THEN 'a rate is below zero'
        WHEN low IS NULL THEN 'one trial shows no spread'
        ELSE 'the trials scatter too much'
    END AS reason,
    base_stddev,
    new_stddev,
    base_trials,
    new_trials,
    base_min,
    base_max,
    new_min,
    new_max,
    last_at,
    -- To be added up: how many got slower, how many are missing on one side, and of how many it
    -- cannot be told whether they got slower, those among them.
    CASE WHEN verdict = 'slower' THEN 1 ELSE 0 END AS slower,
    CASE WHEN verdict = 'not comparable' THEN 1 ELSE 0 END AS missing,
    CASE WHEN verdict IN ('cannot tell', 'not comparable') THEN 1 ELSE 0 END AS untold,
    array_join(ARRAY[sizes, apart], '; ') AS unlike,
    pair
FROM told
ORDER BY suite, pair, test, metric, statistic, labels, unit, direction
