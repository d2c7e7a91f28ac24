-- Events of releases
-- What each release changed over all figures of its suite, the newest first: how many became slower
-- and faster, their median change, the largest one, and how many slower levels nobody mended or
-- accepted. Suspicions of the newest run have an event of their own; drifts blame no release, and
-- changes of spread are in level_changes.sql alone.
WITH
told AS (
    SELECT
        *,
        concat(test, ' ', metric, ' ', statistic, ' ', labels) AS figure,
        CAST(CASE WHEN state = 'suspected' THEN 'suspected' ELSE 'changed' END AS varchar) AS event
    FROM (SELECT *, max(run_id) OVER (PARTITION BY suite) AS newest FROM changes) AS of_runs
    WHERE run_id = newest
),
judged AS (
    SELECT suite, count(DISTINCT figure) AS figures FROM told GROUP BY suite
),
placed AS (
    SELECT
        *,
        -- A change from zero has no share and is the largest.
        CASE WHEN change > -1 THEN abs(ln(1 + change)) ELSE 1e9 END AS size,
        count(change) OVER (PARTITION BY suite, changed_run, event, verdict) AS sized,
        row_number() OVER (
            PARTITION BY suite, changed_run, event, verdict ORDER BY change NULLS LAST, figure
        ) AS place
    FROM told
    WHERE changed_run IS NOT NULL AND state NOT IN ('drift', 'spread')
),
-- The median of several changes is the mean of the two in the middle.
middle AS (
    SELECT *, CASE WHEN place IN ((sized + 1) / 2, (sized + 2) / 2) THEN change END AS median
    FROM placed
)
SELECT
    middle.suite,
    version,
    changed_run,
    min(changed_at) AS changed_at,
    event AS state,
    count_if(verdict = 'slower') AS slower,
    count_if(verdict = 'faster') AS faster,
    max(figures) AS figures,
    avg(CASE WHEN verdict = 'slower' THEN median END) AS slower_by,
    avg(CASE WHEN verdict = 'faster' THEN median END) AS faster_by,
    CAST(max_by(title, size) AS VARCHAR) AS largest,
    CAST(max_by(change, size) AS DOUBLE) AS largest_change,
    count_if(is_open) AS still_open,
    count_if(verdict = 'slower' AND mended_version IS NOT NULL) AS mended
FROM middle JOIN judged ON judged.suite = middle.suite
GROUP BY middle.suite, changed_run, version, event
ORDER BY suite, changed_run DESC, state
