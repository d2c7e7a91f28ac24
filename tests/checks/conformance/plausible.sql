-- Plausible statements over the tables, one a line; each has one order of rows.
SELECT regexp_extract(version, '^(\d+)\.', 1) AS major, count(*) FROM rates GROUP BY 1 ORDER BY 1
SELECT date_parse('2026-11-20', '%Y-%m-%d')
SELECT date_diff('month', min(started_at), max(started_at)) FROM runs
SELECT TRY(CAST(note AS integer)) FROM runs
SELECT count(DISTINCT version) FROM rates
SELECT version, test, avg(value) AS rate, stddev(value) AS sd, count(*) AS n FROM rates WHERE metric = 'rate' GROUP BY version, test ORDER BY test, rate DESC
SELECT date_trunc('month', started_at) AS m, count(*) FROM runs GROUP BY 1 ORDER BY 1
SELECT date_format(started_at, '%Y-%m') AS m, count(*) FROM runs GROUP BY 1
SELECT run_id, v, i FROM runs CROSS JOIN UNNEST(versions) WITH ORDINALITY AS t(v, i) ORDER BY 1, 3 LIMIT 3
SELECT array_agg(DISTINCT version ORDER BY version) FROM rates
SELECT floor(value / 1000) * 1000 AS bucket, count(*) FROM rates GROUP BY 1 ORDER BY 1
SELECT run_id FROM runs EXCEPT SELECT run_id FROM rates
SELECT 'a' UNION ALL SELECT 'b'
SELECT CASE WHEN value > 1000 THEN 'high' ELSE 'low' END AS band, count(*) FROM rates GROUP BY 1
SELECT version FROM rates ORDER BY value DESC NULLS LAST OFFSET 2 LIMIT 3
SELECT DISTINCT version FROM rates ORDER BY 1
SELECT count(*) FROM rates WHERE version LIKE '9.%' ESCAPE '\'
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(n, s)
SELECT stddev_samp(value) / avg(value) * 100 FROM rates
SELECT min(value), max(value), count(value), count(*) FROM rates
SELECT suite, count(*) FROM rates GROUP BY suite ORDER BY 1
SELECT version, format('%.1f', avg(value)) FROM rates WHERE value < 1e9 GROUP BY version ORDER BY 1
SELECT version, CAST(max(value) AS varchar) FROM rates GROUP BY version ORDER BY 1
SELECT version, CAST(max(value) AS decimal(18, 2)) FROM rates WHERE value < 1e9 GROUP BY version ORDER BY 1
SELECT run_id, versions[1], cardinality(versions) FROM runs WHERE cardinality(versions) > 0 ORDER BY 1
SELECT run_id, slice(versions, 1, 2), array_position(versions, '9.8.4') FROM runs ORDER BY 1
SELECT run_id, filter(versions, v -> v LIKE '9%') FROM runs ORDER BY 1
SELECT run_id, array_max(versions), array_distinct(versions) FROM runs ORDER BY 1
SELECT version, test, count(*) FROM rates GROUP BY ROLLUP (version, test) ORDER BY 1, 2
SELECT version, test, count(*) FROM rates GROUP BY CUBE (version, test) ORDER BY 1, 2
SELECT version, test, count(*) FROM rates GROUP BY GROUPING SETS ((version), (test), ()) ORDER BY 1, 2
SELECT run_id FROM runs ORDER BY run_id FETCH FIRST 3 ROWS ONLY
SELECT run_id, EXTRACT(DOW FROM started_at), EXTRACT(WEEK FROM started_at) FROM runs ORDER BY 1
SELECT run_id, format_datetime(started_at, 'yyyy-MM-dd HH:mm') FROM runs ORDER BY 1
SELECT run_id, date_diff('month', started_at, TIMESTAMP '2027-01-01 00:00:00') FROM runs ORDER BY 1
SELECT run_id, to_iso8601(from_unixtime(to_unixtime(started_at))) FROM runs ORDER BY 1
SELECT count(*) FROM runs WHERE started_at > from_iso8601_timestamp('2025-01-01T00:00:00Z')
SELECT run_id, date_trunc('week', started_at) FROM runs ORDER BY 1
SELECT run_id, trim(BOTH '"' FROM note), position('x' IN note) FROM runs ORDER BY 1
SELECT run_id, substring(run_id FROM 1 FOR 8) FROM runs ORDER BY 1
SELECT run_id, concat_ws('/', suite, run_id, status) FROM runs ORDER BY 1
SELECT run_id, lpad(CAST(repetitions AS varchar), 3, '0'), rpad(status, 10, '.') FROM runs ORDER BY 1
SELECT regexp_extract(version, '^([0-9]+)', 1) AS major, count(*) FROM rates GROUP BY 1 ORDER BY 1
SELECT DISTINCT regexp_replace(version, '[.]', '_') FROM rates ORDER BY 1
SELECT DISTINCT split_part(version, '.', 2) FROM rates ORDER BY 1
SELECT version, rank() OVER (ORDER BY count(*) DESC, version) FROM rates GROUP BY version ORDER BY 2
SELECT test, count_if(value > 1000), sum(value) FILTER (WHERE value < 1000) FROM rates GROUP BY test ORDER BY 1
SELECT run_id, TRY(CAST(note AS integer)), coalesce(note, 'none') FROM runs ORDER BY 1
SELECT width_bucket(value, 0, 100000, 10), count(*) FROM rates WHERE value < 1e9 GROUP BY 1 ORDER BY 1
VALUES (1, 'a'), (2, 'b')
SELECT version, grouping(version), count(*) FROM rates GROUP BY ROLLUP (version) ORDER BY 2, 1
SELECT run_id, ended_at - started_at FROM runs ORDER BY 1
SELECT max(ended_at) - min(started_at), avg(ended_at - started_at), sum(ended_at - started_at) FROM runs
SELECT count(*) FROM runs WHERE ended_at - started_at > INTERVAL '1' HOUR
SELECT test, count(*) * 100.0 / sum(count(*)) OVER () FROM rates GROUP BY test ORDER BY 1
SELECT test, round(count(*) * 100.0 / 7, 2), sum(samples) * 1.5 FROM rates GROUP BY test ORDER BY 1
SELECT test, sum(CAST(value AS decimal(18, 2))) / count(*), avg(CAST(value AS decimal(18, 2))) FROM rates WHERE value < 1e9 GROUP BY test ORDER BY 1
SELECT test, sum(CASE WHEN value > 0.5 THEN 1.0 ELSE 0.0 END) / count(*) FROM rates GROUP BY test ORDER BY 1
SELECT element_at(histogram(version), '9.8.4'), cardinality(histogram(version)) FROM rates
SELECT run_id, any_match(versions, v -> v = '9.8.4'), all_match(versions, v -> v LIKE '9%') FROM runs ORDER BY 1
SELECT version, test, repetition, avg(value) OVER w FROM rates WHERE metric = 'rate' WINDOW w AS (PARTITION BY test ORDER BY version, run_id, trial) ORDER BY 1, 2, 3, 4
