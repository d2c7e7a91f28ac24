window.BENCHMARK_DATA = {
  "lastUpdate": 1795865622977,
  "repoUrl": "https://github.com/example/sorts",
  "entries": {
    "Benchmark": [
      {
        "commit": {
          "id": "46d3298b8c6e9dda18ca5f3a423c5fe81a5db28b",
          "message": "change 1",
          "timestamp": "2026-11-21T12:00:00Z",
          "url": "https://github.com/example/sorts/commit/46d3298b8c6e9dda18ca5f3a423c5fe81a5db28b",
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
        "date": 1795865616922,
        "tool": "jmh",
        "benches": [
          {
            "name": "b.Sorts.sorted ( {\"n\":\"100\"} )",
            "value": 0.0071954816427240356,
            "unit": "ops/us",
            "extra": "iterations: 2\nforks: 1\nthreads: 1"
          },
          {
            "name": "b.Sorts.sorted ( {\"n\":\"1000\"} )",
            "value": 0.0007104452609061162,
            "unit": "ops/us",
            "extra": "iterations: 2\nforks: 1\nthreads: 1"
          },
          {
            "name": "b.Sorts.sum ( {\"n\":\"100\"} )",
            "value": 1.2664073523861865,
            "unit": "us/op",
            "extra": "iterations: 2\nforks: 1\nthreads: 1"
          },
          {
            "name": "b.Sorts.sum ( {\"n\":\"1000\"} )",
            "value": 6.181278693487134,
            "unit": "us/op",
            "extra": "iterations: 2\nforks: 1\nthreads: 1"
          }
        ]
      },
      {
        "commit": {
          "id": "a75e9b7767cfa71c0dbcfddd8730ff96f1761f77",
          "message": "change 2",
          "timestamp": "2026-11-22T12:00:00Z",
          "url": "https://github.com/example/sorts/commit/a75e9b7767cfa71c0dbcfddd8730ff96f1761f77",
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
        "date": 1795865619960,
        "tool": "jmh",
        "benches": [
          {
            "name": "b.Sorts.sorted ( {\"n\":\"100\"} )",
            "value": 0.0080010329809027,
            "unit": "ops/us",
            "extra": "iterations: 2\nforks: 2\nthreads: 1"
          },
          {
            "name": "b.Sorts.sorted ( {\"n\":\"1000\"} )",
            "value": 0.0008172832336490359,
            "unit": "ops/us",
            "extra": "iterations: 2\nforks: 2\nthreads: 1"
          },
          {
            "name": "b.Sorts.sum ( {\"n\":\"100\"} )",
            "value": 0.49805004371681205,
            "unit": "us/op",
            "extra": "iterations: 2\nforks: 2\nthreads: 1"
          },
          {
            "name": "b.Sorts.sum ( {\"n\":\"1000\"} )",
            "value": 5.77328319285801,
            "unit": "us/op",
            "extra": "iterations: 2\nforks: 2\nthreads: 1"
          }
        ]
      },
      {
        "commit": {
          "id": "8ebfce46268858abcb276dcb9c3ec070ddb3db5f",
          "message": "change 3",
          "timestamp": "2026-11-23T12:00:00Z",
          "url": "https://github.com/example/sorts/commit/8ebfce46268858abcb276dcb9c3ec070ddb3db5f",
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
        "date": 1795865622880,
        "tool": "jmh",
        "benches": [
          {
            "name": "b.Sorts.sorted ( {\"n\":\"100\"} )",
            "value": 0.022918451967825118,
            "unit": "ops/us",
            "extra": "iterations: 2\nforks: 3\nthreads: 1"
          },
          {
            "name": "b.Sorts.sorted ( {\"n\":\"1000\"} )",
            "value": 0.0015465405929980794,
            "unit": "ops/us",
            "extra": "iterations: 2\nforks: 3\nthreads: 1"
          },
          {
            "name": "b.Sorts.sum ( {\"n\":\"100\"} )",
            "value": 0.9752256203476031,
            "unit": "us/op",
            "extra": "iterations: 2\nforks: 3\nthreads: 1"
          },
          {
            "name": "b.Sorts.sum ( {\"n\":\"1000\"} )",
            "value": 13.2950142598637,
            "unit": "us/op",
            "extra": "iterations: 2\nforks: 3\nthreads: 1"
          }
        ]
      }
    ]
  }
}