window.BENCHMARK_DATA = {
  "lastUpdate": 1795865272845,
  "repoUrl": "https://github.com/example/sorts",
  "entries": {
    "Benchmark": [
      {
        "commit": {
          "id": "b44e8b815da20bcb1b239b6c768f96d8957971b9",
          "message": "change 1",
          "timestamp": "2026-11-21T12:00:00Z",
          "url": "https://github.com/example/sorts/commit/b44e8b815da20bcb1b239b6c768f96d8957971b9",
          "author": {
            "name": "dev",
            "email": "a@example.com",
            "username": "dev"
          },
          "committer": {
            "name": "dev",
            "email": "a@example.com",
            "username": "dev"
          }
        },
        "date": 1795865267301,
        "tool": "pytest",
        "benches": [
          {
            "name": "test_sorts.py::test_sort",
            "value": 225098.48614663837,
            "unit": "iter/sec",
            "range": "stddev: 1.465558829088623e-7",
            "extra": "mean: 4.442499890241638 usec\nrounds: 70"
          },
          {
            "name": "test_sorts.py::test_sum",
            "value": 85718.24140860852,
            "unit": "iter/sec",
            "range": "stddev: 8.217840349100602e-8",
            "extra": "mean: 11.666128277563704 usec\nrounds: 39"
          },
          {
            "name": "test_sorts.py::test_join",
            "value": 201003.03186236587,
            "unit": "iter/sec",
            "range": "stddev: 4.887521587186507e-8",
            "extra": "mean: 4.975049335000761 usec\nrounds: 81"
          }
        ]
      },
      {
        "commit": {
          "id": "e01ff0cb08c7c80b6fd3c2e3b38e0de77d1dcf01",
          "message": "change 2",
          "timestamp": "2026-11-22T12:00:00Z",
          "url": "https://github.com/example/sorts/commit/e01ff0cb08c7c80b6fd3c2e3b38e0de77d1dcf01",
          "author": {
            "name": "dev",
            "email": "a@example.com",
            "username": "dev"
          },
          "committer": {
            "name": "dev",
            "email": "a@example.com",
            "username": "dev"
          }
        },
        "date": 1795865269891,
        "tool": "pytest",
        "benches": [
          {
            "name": "test_sorts.py::test_sort",
            "value": 111616.70517564105,
            "unit": "iter/sec",
            "range": "stddev: 0.0000017210736846596847",
            "extra": "mean: 8.959232387539043 usec\nrounds: 43"
          },
          {
            "name": "test_sorts.py::test_sum",
            "value": 34849.27729862177,
            "unit": "iter/sec",
            "range": "stddev: 0.000004018902205341257",
            "extra": "mean: 28.694999653251013 usec\nrounds: 18"
          },
          {
            "name": "test_sorts.py::test_join",
            "value": 2195.907014044035,
            "unit": "iter/sec",
            "range": "stddev: 0.002994511811345922",
            "extra": "mean: 455.3926890366711 usec\nrounds: 45"
          }
        ]
      },
      {
        "commit": {
          "id": "8aefdb8cd5288e76af70d485180c094bc94f340a",
          "message": "change 3",
          "timestamp": "2026-11-23T12:00:00Z",
          "url": "https://github.com/example/sorts/commit/8aefdb8cd5288e76af70d485180c094bc94f340a",
          "author": {
            "name": "dev",
            "email": "a@example.com",
            "username": "dev"
          },
          "committer": {
            "name": "dev",
            "email": "a@example.com",
            "username": "dev"
          }
        },
        "date": 1795865272720,
        "tool": "pytest",
        "benches": [
          {
            "name": "test_sorts.py::test_sort",
            "value": 80833.99240652256,
            "unit": "iter/sec",
            "range": "stddev: 1.840370996030508e-7",
            "extra": "mean: 12.371033153613098 usec\nrounds: 30"
          },
          {
            "name": "test_sorts.py::test_sum",
            "value": 19641.638146912708,
            "unit": "iter/sec",
            "range": "stddev: 0.00002649414528668154",
            "extra": "mean: 50.91225042027266 usec\nrounds: 12"
          },
          {
            "name": "test_sorts.py::test_join",
            "value": 68501.6808313181,
            "unit": "iter/sec",
            "range": "stddev: 1.0125514085558022e-7",
            "extra": "mean: 14.598181940417623 usec\nrounds: 33"
          }
        ]
      }
    ]
  }
}