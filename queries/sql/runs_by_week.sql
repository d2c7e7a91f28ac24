-- Runs by week
-- The number of runs of each suite by week and by how they ended, with the trials that were planned
-- and not done, and the weeks before that had no run at all.
WITH started AS (
    SELECT
        suite,
        CAST(date_trunc('week', started_at) AS timestamp) AS week,
        status,
        coalesce(trials_planned, 0) AS planned,
        coalesce(trials_done, 0) AS done
    FROM runs
    WHERE started_at IS NOT NULL
),
weeks AS (
    SELECT
        suite,
        week,
        date_diff('week', lag(week) OVER (PARTITION BY suite ORDER BY week), week) AS since
    FROM (SELECT DISTINCT suite, week FROM started)
),
counted AS (
    SELECT
        suite,
        week,
        status,
        count(*) AS runs,
        sum(planned) AS planned,
        sum(done) AS done,
        row_number() OVER (PARTITION BY suite, week ORDER BY status) AS place
    FROM started
    GROUP BY suite, week, status
)
SELECT
    counted.suite,
    counted.week,
    status,
    runs,
    CASE WHEN status = 'complete' THEN 0 ELSE runs END AS not_complete,
    planned AS trials_planned,
    done AS trials_done,
    planned - done AS trials_missing,
    -- To be added up: told once a week, however its runs ended.
    CASE WHEN place = 1 THEN coalesce(since - 1, 0) ELSE 0 END AS weeks_without_run
FROM counted
JOIN weeks ON weeks.suite = counted.suite AND weeks.week = counted.week
ORDER BY suite, week, status
