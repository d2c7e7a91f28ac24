-- Versions compared
-- Each of the newest 15 versions of a suite beside each older one of them, metric by metric: both
-- mean rates, their change, 0.1 being 10 % more, and the verdict with the effect that it judges and
-- its 95 % interval, all of the newest run that measured both. Two versions that no run measured
-- together have the means of the newest run of each and no verdict, as `tidemark compare` has. Base
-- and new are versions, or words: newest and previous are the last two, and base is what the newest
-- version is compared with, the baseline of its run if it has one. Pairs of words come first, and
-- the others by age. Metrics of only one version are there, too; and where versions were not measured with the
-- same parameters, or in no run together, unlike says so.
WITH by_version AS (
    SELECT
        rates.suite,
        rates.run_id AS of_run,
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
        -- The mean of the logarithms, null if a rate has none.
        CASE
            WHEN min(value) > 0
                THEN reduce(
                    array_agg(ln(value) ORDER BY value),
                    0e0,
                    (total, rate) -> total + rate,
                    total -> total
                ) / count(*)
        END AS mean_logarithm,
        max(rates.started_at) AS last_at,
        min(runs.tasks) AS tasks,
        min(runs.records) AS records,
        -- Null if tasks and records are all parameters of the suite.
        min(coalesce(runs.parameters, '')) AS parameters,
        min(coalesce(runs.status, '')) = 'aborted' AS aborted
    FROM rates
    LEFT JOIN runs ON runs.suite = rates.suite AND runs.run_id = rates.run_id
    WHERE value IS NOT NULL AND NOT coalesce(excluded, false)
    GROUP BY
        rates.suite,
        rates.run_id,
        test,
        metric,
        statistic,
        labels,
        unit,
        direction,
        version,
        version_order
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
        -- Tasks and the records of each: 2 × 1,000,000; or else the parameters.
        CASE
            WHEN parameters <> '' THEN parameters
            WHEN records IS NOT NULL
                THEN concat(format('%,d', tasks), ' × ', format('%,d', records))
        END AS size
    FROM means
),
versions AS (
    SELECT
        suite,
        version,
        row_number() OVER (PARTITION BY suite ORDER BY version_order DESC, version DESC) AS age
    FROM (
        -- A version has one place, which an imported figure and a measured run may order
        -- differently. Runs that do not know the order of their versions give it a place from ~.
        SELECT
            suite,
            version,
            max_by(
                version_order,
                concat(CASE WHEN version_order < '~' THEN '1' ELSE '0' END, of_run)
            ) AS version_order
        FROM by_version
        GROUP BY suite, version
    )
),
runs_of_versions AS (
    SELECT DISTINCT suite, version, of_run, aborted FROM by_version
),
-- A run that was aborted has few trials: it stands back behind others.
newest_runs AS (
    SELECT
        suite,
        version,
        coalesce(max(CASE WHEN NOT aborted THEN of_run END), max(of_run)) AS of_run
    FROM runs_of_versions
    GROUP BY suite, version
),
-- The base of the newest version: the baseline of its newest run if that is an older version with
-- rates in it, or else the version before.
base_of_newest AS (
    SELECT
        newest.suite,
        coalesce(own.version, previous.version) AS version,
        coalesce(own.age, previous.age) AS age
    FROM versions AS newest
    JOIN newest_runs AS measured
        ON measured.suite = newest.suite
        AND measured.version = newest.version
    JOIN versions AS previous ON previous.suite = newest.suite AND previous.age = 2
    LEFT JOIN (
        SELECT runs.suite, runs.run_id, versions.version, versions.age
        FROM runs
        JOIN runs_of_versions AS rated
            ON rated.suite = runs.suite
            AND rated.of_run = runs.run_id
            AND rated.version = runs.baseline
        JOIN versions ON versions.suite = runs.suite AND versions.version = runs.baseline
        WHERE versions.age > 1
    ) AS own
        ON own.suite = newest.suite
        AND own.run_id = measured.of_run
    WHERE newest.age = 1
),
choices AS (
    SELECT suite, version AS choice, version, age FROM versions WHERE age <= 15
    UNION ALL
    SELECT suite, CASE age WHEN 1 THEN 'newest' ELSE 'previous' END AS choice, version, age
    FROM versions
    WHERE age <= 2
    UNION ALL
    SELECT suite, 'base' AS choice, version, age FROM base_of_newest
),
metrics AS (
    SELECT DISTINCT suite, test, metric, statistic, labels, unit, direction FROM by_version
),
-- The newest run with rates of both versions that count.
common_runs AS (
    SELECT
        older.suite,
        older.version AS base_version,
        younger.version AS new_version,
        coalesce(
            max(CASE WHEN NOT older.aborted THEN older.of_run END), max(older.of_run)
        ) AS of_run
    FROM runs_of_versions AS older
    JOIN runs_of_versions AS younger
        ON younger.suite = older.suite
        AND younger.of_run = older.of_run
        AND younger.version <> older.version
    GROUP BY older.suite, older.version, younger.version
),
wanted AS (
    SELECT
        metrics.*,
        older.choice AS base,
        younger.choice AS new,
        older.version AS base_version,
        younger.version AS new_version,
        -- The place of the pair among those of its suite. A pair named by words comes before the
        -- same pair by its versions.
        dense_rank() OVER (
            PARTITION BY metrics.suite
            ORDER BY
                younger.age,
                older.choice <> 'base',
                older.age,
                older.choice = older.version,
                younger.choice = younger.version
        ) AS pair,
        coalesce(common.of_run, of_older.of_run) AS base_run,
        coalesce(common.of_run, of_younger.of_run) AS new_run,
        told.verdict AS told_verdict,
        told.reason AS told_reason,
        told.effect AS told_effect,
        told.low,
        told.high,
        coalesce(told.unlike_machines, false) AS on_unlike_machines
    FROM choices AS older
    JOIN choices AS younger ON younger.suite = older.suite AND younger.age < older.age
        AND younger.choice <> 'base'
        AND (older.choice <> 'base' OR younger.choice = 'newest')
    JOIN metrics ON metrics.suite = older.suite
    JOIN newest_runs AS of_older
        ON of_older.suite = older.suite
        AND of_older.version = older.version
    JOIN newest_runs AS of_younger
        ON of_younger.suite = younger.suite
        AND of_younger.version = younger.version
    LEFT JOIN common_runs AS common
        ON common.suite = metrics.suite
        AND common.base_version = older.version
        AND common.new_version = younger.version
    LEFT JOIN verdicts AS told
        ON told.suite = metrics.suite
        AND told.run_id = common.of_run
        AND told.test = metrics.test
        AND told.metric = metrics.metric
        AND told.statistic = metrics.statistic
        AND told.labels = metrics.labels
        AND told.baseline = older.version
        AND told.version = younger.version
),
pairs AS (
    SELECT
        wanted.*,
        b.mean AS base_mean,
        n.mean AS new_mean,
        -- Rates below zero have no share.
        CASE WHEN b.min >= 0 AND n.min >= 0 THEN n.mean / nullif(b.mean, 0) - 1 END AS change,
        -- Trials of different runs are no pairs.
        CASE
            WHEN base_run = new_run THEN told_effect
            ELSE exp(n.mean_logarithm - b.mean_logarithm) - 1
        END AS effect,
        b.stddev AS base_stddev,
        n.stddev AS new_stddev,
        coalesce(b.trials, 0) AS base_trials,
        coalesce(n.trials, 0) AS new_trials,
        b.min AS base_min,
        b.max AS base_max,
        n.min AS new_min,
        n.max AS new_max,
        -- Imported figures have no known size.
        CASE
            WHEN b.size <> n.size THEN concat(
                b.version,
                ': ',
                coalesce(b.size, 'unknown'),
                ', ',
                n.version,
                ': ',
                coalesce(n.size, 'unknown')
            )
        END AS sizes,
        -- Differences between runs cannot be told from differences between versions.
        CASE WHEN base_run <> new_run THEN 'no run measured both' END AS apart,
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
        AND b.of_run = wanted.base_run
    LEFT JOIN figures AS n
        ON n.suite = wanted.suite
        AND n.test = wanted.test
        AND n.metric = wanted.metric
        AND n.statistic = wanted.statistic
        AND n.labels = wanted.labels
        AND n.unit = wanted.unit
        AND n.direction = wanted.direction
        AND n.version = wanted.new_version
        AND n.of_run = wanted.new_run
    WHERE b.version IS NOT NULL OR n.version IS NOT NULL
),
judged AS (
    SELECT
        *,
        -- More is better, so that what is gained is above zero.
        CASE direction WHEN 'higher' THEN change ELSE -change END AS gain,
        CASE direction WHEN 'higher' THEN effect ELSE -effect END AS effect_gain,
        CASE direction WHEN 'higher' THEN low ELSE -high END AS gain_low,
        CASE direction WHEN 'higher' THEN high ELSE -low END AS gain_high,
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
    FROM pairs
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
                ELSE coalesce(told_verdict, 'cannot tell')
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
        WHEN told_reason IS NOT NULL THEN told_reason
        WHEN apart IS NULL THEN 'no verdict is stored'
        ELSE 'different runs measured the versions'
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
    -- Counts to add up: slower, missing on one side, and untold, which includes the missing.
    -- Unlike machines change rates as versions do, so a verdict on them tells nothing of versions.
    CASE WHEN verdict = 'slower' AND NOT on_unlike_machines THEN 1 ELSE 0 END AS slower,
    CASE WHEN verdict = 'not comparable' THEN 1 ELSE 0 END AS missing,
    CASE
        WHEN on_unlike_machines OR verdict IN ('cannot tell', 'not comparable') THEN 1
        ELSE 0
    END AS untold,
    array_join(
        ARRAY[sizes, apart, CASE WHEN on_unlike_machines THEN 'their machines differ' END], '; '
    ) AS unlike,
    pair,
    -- The ends of the interval as gains, so that what is lost is below zero for every metric.
    gain_low,
    gain_high,
    -- The change that the verdict judges, to which the interval belongs.
    effect,
    effect_gain,
    -- As people read it: slower on unlike machines.
    CASE
        WHEN on_unlike_machines AND verdict IN ('slower', 'faster', 'same')
            THEN concat(verdict, ' on unlike machines')
        ELSE verdict
    END AS qualified_verdict
FROM told
ORDER BY suite, pair, test, metric, statistic, labels, unit, direction
