window.BENCHMARK_DATA = {
  "lastUpdate": 1795865264868,
  "repoUrl": "https://github.com/example/sorts",
  "entries": {
    "Benchmark": [
      {
        "commit": {
          "id": "b79b22b2848d0858ef5f51ed12c1e25a930c7438",
          "message": "change 1",
          "timestamp": "2026-11-21T12:00:00Z",
          "url": "https://github.com/example/sorts/commit/b79b22b2848d0858ef5f51ed12c1e25a930c7438",
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
        "date": 1795865260105,
        "tool": "go",
        "benches": [
          {
            "name": "BenchmarkSort",
            "value": 54167,
            "unit": "ns/op\t       0 B/op\t       0 allocs/op",
            "extra": "2398 times\n2 procs"
          },
          {
            "name": "BenchmarkSort - ns/op",
            "value": 54167,
            "unit": "ns/op",
            "extra": "2398 times\n2 procs"
          },
          {
            "name": "BenchmarkSort - B/op",
            "value": 0,
            "unit": "B/op",
            "extra": "2398 times\n2 procs"
          },
          {
            "name": "BenchmarkSort - allocs/op",
            "value": 0,
            "unit": "allocs/op",
            "extra": "2398 times\n2 procs"
          },
          {
            "name": "BenchmarkCopy",
            "value": 5968,
            "unit": "ns/op\t10981.07 MB/s",
            "extra": "19460 times\n2 procs"
          },
          {
            "name": "BenchmarkCopy - ns/op",
            "value": 5968,
            "unit": "ns/op",
            "extra": "19460 times\n2 procs"
          },
          {
            "name": "BenchmarkCopy - MB/s",
            "value": 10981.07,
            "unit": "MB/s",
            "extra": "19460 times\n2 procs"
          }
        ]
      },
      {
        "commit": {
          "id": "d7d9b2f587ef78a6f2ad590c996df69e4cd217ad",
          "message": "change 2",
          "timestamp": "2026-11-22T12:00:00Z",
          "url": "https://github.com/example/sorts/commit/d7d9b2f587ef78a6f2ad590c996df69e4cd217ad",
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
        "date": 1795865261988,
        "tool": "go",
        "benches": [
          {
            "name": "BenchmarkSort",
            "value": 96200,
            "unit": "ns/op\t       0 B/op\t       0 allocs/op",
            "extra": "2700 times\n2 procs"
          },
          {
            "name": "BenchmarkSort - ns/op",
            "value": 96200,
            "unit": "ns/op",
            "extra": "2700 times\n2 procs"
          },
          {
            "name": "BenchmarkSort - B/op",
            "value": 0,
            "unit": "B/op",
            "extra": "2700 times\n2 procs"
          },
          {
            "name": "BenchmarkSort - allocs/op",
            "value": 0,
            "unit": "allocs/op",
            "extra": "2700 times\n2 procs"
          },
          {
            "name": "BenchmarkCopy",
            "value": 16151,
            "unit": "ns/op\t4057.58 MB/s",
            "extra": "10000 times\n2 procs"
          },
          {
            "name": "BenchmarkCopy - ns/op",
            "value": 16151,
            "unit": "ns/op",
            "extra": "10000 times\n2 procs"
          },
          {
            "name": "BenchmarkCopy - MB/s",
            "value": 4057.58,
            "unit": "MB/s",
            "extra": "10000 times\n2 procs"
          }
        ]
      },
      {
        "commit": {
          "id": "0ccbcd04102de8505babcd3463a2e4cc7351e3de",
          "message": "change 3",
          "timestamp": "2026-11-23T12:00:00Z",
          "url": "https://github.com/example/sorts/commit/0ccbcd04102de8505babcd3463a2e4cc7351e3de",
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
        "date": 1795865264758,
        "tool": "go",
        "benches": [
          {
            "name": "BenchmarkSort",
            "value": 112958,
            "unit": "ns/op\t       0 B/op\t       0 allocs/op",
            "extra": "9703 times\n2 procs"
          },
          {
            "name": "BenchmarkSort - ns/op",
            "value": 112958,
            "unit": "ns/op",
            "extra": "9703 times\n2 procs"
          },
          {
            "name": "BenchmarkSort - B/op",
            "value": 0,
            "unit": "B/op",
            "extra": "9703 times\n2 procs"
          },
          {
            "name": "BenchmarkSort - allocs/op",
            "value": 0,
            "unit": "allocs/op",
            "extra": "9703 times\n2 procs"
          },
          {
            "name": "BenchmarkCopy",
            "value": 11361,
            "unit": "ns/op\t5768.46 MB/s",
            "extra": "10000 times\n2 procs"
          },
          {
            "name": "BenchmarkCopy - ns/op",
            "value": 11361,
            "unit": "ns/op",
            "extra": "10000 times\n2 procs"
          },
          {
            "name": "BenchmarkCopy - MB/s",
            "value": 5768.46,
            "unit": "MB/s",
            "extra": "10000 times\n2 procs"
          }
        ]
      }
    ]
  }
}