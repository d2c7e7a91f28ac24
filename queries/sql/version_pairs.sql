-- Versions compared
-- Each of the newest 15 versions of a suite beside each older one of them, metric by metric: both
-- mean rates, their change, 0.1 being 10 % more, and the verdict with the effect that it judges and
-- its 95 % interval, all of the newest run that measured both. Two versions that no run measured
-- together have the means of the newest run of each and no verdict, as `tidemark compare` has. Base
-- and new are versions, or words: newest and previous are the last two, and base is what the newest
-- version is compared with, the baseline of its run if it has one. Pairs of words come first, and
-- the others by age. Metrics of only one version are there, too; and where versions were not measured with the
-- same parameters, or in no run together, unlike says so.
WITH rated AS (
    SELECT
        version_rates.*,
        baseline,
        -- A run that was aborted has few trials: it stands back behind others.
        concat(CASE WHEN status = 'aborted' THEN '0' ELSE '1' END, version_rates.run_id) AS place,
        concat(test, ': ', metric, ' ', statistic, ', ', direction, ' is better') AS figure
    FROM version_rates
    LEFT JOIN runs ON runs.suite = version_rates.suite AND runs.run_id = version_rates.run_id
    WHERE trials > 0
),
versions AS (
    SELECT
        suite,
        version,
        place,
        row_number() OVER (PARTITION BY suite ORDER BY version_order DESC, version DESC) AS age
    FROM (
        -- A version has one place, which an imported figure and a measured run may order
        -- differently. Runs that do not know the order of their versions give it a place from ~.
        SELECT
            suite,
            version,
            max(place) AS place,
            max_by(
                version_order,
                concat(CASE WHEN version_order < '~' THEN '1' ELSE '0' END, run_id)
            ) AS version_order
        FROM rated
        GROUP BY suite, version
    )
),
choices AS (
    SELECT suite, version AS choice, version, place, age FROM versions WHERE age <= 15
    UNION ALL
    SELECT suite, CASE age WHEN 1 THEN 'newest' ELSE 'previous' END AS choice, version, place, age
    FROM versions
    WHERE age <= 2
    UNION ALL
    -- The base of the newest version: the baseline of its newest run if that is another version
    -- with rates in it, or else the version before.
    SELECT older.suite, 'base' AS choice, older.version, older.place, older.age
    FROM versions AS older
    JOIN (
        SELECT newest.suite, coalesce(max(baseline), max(previous.version)) AS version
        FROM versions AS newest
        JOIN versions AS previous ON previous.suite = newest.suite AND previous.age = 2
        LEFT JOIN rated
            ON rated.suite = newest.suite
            AND rated.place = newest.place
            AND rated.version = baseline
            AND rated.version <> newest.version
        WHERE newest.age = 1
        GROUP BY newest.suite
    ) AS base ON base.suite = older.suite AND base.version = older.version
),
measured AS (
    SELECT DISTINCT suite, version, place FROM rated
),
-- The newest run with rates of both versions that count.
common AS (
    SELECT
        older.suite,
        older.version AS base_version,
        younger.version AS new_version,
        max(older.place) AS place
    FROM measured AS older
    JOIN measured AS younger
        ON younger.suite = older.suite
        AND younger.place = older.place
        AND younger.version <> older.version
    GROUP BY older.suite, older.version, younger.version
),
chosen AS (
    SELECT
        older.suite,
        older.choice AS base,
        younger.choice AS new,
        older.version AS base_version,
        younger.version AS new_version,
        -- The place of the pair among the suite's pairs. A pair named by words comes before the
        -- same pair by its versions.
        dense_rank() OVER (
            PARTITION BY older.suite
            ORDER BY
                younger.age,
                older.choice <> 'base',
                older.age,
                older.choice = older.version,
                younger.choice = younger.version
        ) AS pair,
        coalesce(common.place, older.place) AS base_place,
        coalesce(common.place, younger.place) AS new_place,
        substr(common.place, 2) AS run_id,
        -- Differences between runs cannot be told from differences between versions.
        CASE WHEN common.place IS NULL THEN 'no run measured both' END AS apart
    FROM choices AS older
    JOIN choices AS younger ON younger.suite = older.suite AND younger.age < older.age
        AND younger.choice <> 'base'
        AND (older.choice <> 'base' OR younger.choice = 'newest')
    LEFT JOIN common
        ON common.suite = older.suite
        AND common.base_version = older.version
        AND common.new_version = younger.version
),
pairs AS (
    SELECT
        *,
        -- Rates below zero have no share.
        CASE WHEN base_min >= 0 AND new_min >= 0 THEN new_mean / nullif(base_mean, 0) - 1 END AS change,
        -- Trials of different runs are not pairs.
        CASE
            WHEN apart IS NULL THEN told_effect
            ELSE exp(new_mean_logarithm - base_mean_logarithm) - 1
        END AS effect,
        CASE
            WHEN base_sizes <> new_sizes AND base_sizes <> 'unknown' AND new_sizes <> 'unknown'
                THEN concat(base_version, ': ', base_sizes, ', ', new_version, ': ', new_sizes)
        END AS unlike_sizes,
        -- Unlike machines change rates as versions do: a verdict on them tells nothing of versions.
        coalesce(unlike_machines, false) AS on_unlike_machines,
        CASE direction WHEN 'higher' THEN 'lower' ELSE 'higher' END AS opposite,
        CAST(
            CASE
                WHEN base_mean IS NULL OR new_mean IS NULL THEN 'not comparable'
                ELSE coalesce(told_verdict, 'cannot tell')
            END AS varchar
        ) AS verdict,
        -- In which unit each side was measured: a change of unit or direction leaves a row of either.
        max(CASE WHEN base_mean IS NOT NULL THEN unit END) OVER (
            PARTITION BY suite, test, metric, statistic, labels, base, new
        ) AS base_unit,
        max(CASE WHEN new_mean IS NOT NULL THEN unit END) OVER (
            PARTITION BY suite, test, metric, statistic, labels, base, new
        ) AS new_unit
    FROM chosen
    JOIN (
        SELECT DISTINCT suite, test, metric, statistic, labels, unit, direction, rate FROM (
            -- The time of the test load and its load_time have one title.
            SELECT
                *,
                CASE
                    WHEN min(figure) OVER (PARTITION BY suite, title)
                        < max(figure) OVER (PARTITION BY suite, title)
                        THEN concat(title, ' of ', figure)
                    ELSE title
                END AS rate
            FROM rated
        )
    ) AS metrics USING (suite)
    LEFT JOIN (
        SELECT
            suite,
            test,
            metric,
            statistic,
            labels,
            unit,
            direction,
            version AS base_version,
            place AS base_place,
            mean AS base_mean,
            stddev AS base_stddev,
            trials AS base_trials,
            min AS base_min,
            max AS base_max,
            mean_logarithm AS base_mean_logarithm,
            sizes AS base_sizes,
            last_at AS base_last_at
        FROM rated
    ) AS older
        USING (
            suite, test, metric, statistic, labels, unit, direction, base_version, base_place
        )
    LEFT JOIN (
        SELECT
            suite,
            test,
            metric,
            statistic,
            labels,
            unit,
            direction,
            version AS new_version,
            place AS new_place,
            mean AS new_mean,
            stddev AS new_stddev,
            trials AS new_trials,
            min AS new_min,
            max AS new_max,
            mean_logarithm AS new_mean_logarithm,
            sizes AS new_sizes,
            last_at AS new_last_at
        FROM rated
    ) AS younger
        USING (
            suite, test, metric, statistic, labels, unit, direction, new_version, new_place
        )
    LEFT JOIN (
        SELECT
            suite,
            test,
            metric,
            statistic,
            labels,
            baseline AS base_version,
            version AS new_version,
            run_id,
            verdict AS told_verdict,
            reason AS told_reason,
            effect AS told_effect,
            low,
            high,
            unlike_machines
        FROM verdicts
    ) AS told USING (suite, test, metric, statistic, labels, base_version, new_version, run_id)
    WHERE base_mean IS NOT NULL OR new_mean IS NOT NULL
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
    -- More is better, so that what is gained is above zero.
    CASE direction WHEN 'higher' THEN change ELSE -change END AS gain,
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
    coalesce(base_trials, 0) AS base_trials,
    coalesce(new_trials, 0) AS new_trials,
    base_min,
    base_max,
    new_min,
    new_max,
    coalesce(new_last_at, base_last_at) AS last_at,
    -- Counts to add up: slower, missing on one side, and untold, which includes the missing.
    CASE WHEN verdict = 'slower' AND NOT on_unlike_machines THEN 1 ELSE 0 END AS slower,
    CASE WHEN verdict = 'not comparable' THEN 1 ELSE 0 END AS missing,
    CASE
        WHEN on_unlike_machines OR verdict IN ('cannot tell', 'not comparable') THEN 1
        ELSE 0
    END AS untold,
    array_join(
        ARRAY[unlike_sizes, apart, CASE WHEN on_unlike_machines THEN 'their machines differ' END],
        '; '
    ) AS unlike,
    pair,
    -- The ends of the interval as gains, so that what is lost is below zero for every metric.
    CASE direction WHEN 'higher' THEN low ELSE -high END AS gain_low,
    CASE direction WHEN 'higher' THEN high ELSE -low END AS gain_high,
    -- The change that the verdict judges, to which the interval belongs.
    effect,
    CASE direction WHEN 'higher' THEN effect ELSE -effect END AS effect_gain,
    -- As people read it: slower on unlike machines.
    CASE
        WHEN on_unlike_machines AND verdict IN ('slower', 'faster', 'same')
            THEN concat(verdict, ' on unlike machines')
        ELSE verdict
    END AS qualified_verdict
FROM pairs
ORDER BY suite, pair, test, metric, statistic, labels, unit, direction
