window.BENCHMARK_DATA = {
  "lastUpdate": 1700000900000,
  "repoUrl": "https://example.invalid/owner/name",
  "entries": {
    "Bigger is better (it says)": [
      {
        "commit": {
          "author": {"email": "someone@example.invalid", "name": "Some One", "username": "someone"},
          "id": "1111111111111111111111111111111111111111",
          "message": "first\n\nwith \"quotes\" and a </script>",
          "timestamp": "2023-11-14T22:13:20Z"
        },
        "date": 1700000100000,
        "tool": "go",
        "benches": [
          {"name": "parse", "value": 100.5, "unit": "ns/op\t 16 B/op\t 1 allocs/op", "extra": "10 times"},
          {"name": "parse", "value": 101, "unit": "ns/op"},
          {"name": "serve p50", "value": 20, "unit": "ms"},
          {"name": "serve p99", "value": 10, "unit": "ms"},
          {"name": "rate", "value": 5000, "unit": "req/s"},
          {"name": "score", "value": 7, "unit": "points"}
        ]
      },
      {
        "commit": {"id": "2222222222222222222222222222222222222222", "timestamp": "2023-11-15T01:00:00+03:00"},
        "date": 1700000300000,
        "tool": "go",
        "benches": [
          {"name": "parse", "value": "null", "unit": "ns/op"},
          {"name": "serve p50", "value": 2e1, "unit": "ms", "range": "± 1"},
          {"name": "serve p99", "value": 40, "unit": "ms"},
          {"name": "rate", "value": "5100", "unit": ""},
          {"name": "score", "value": -7, "unit": "points"}
        ]
      },
      {
        "commit": {"id": "2222222222222222222222222222222222222222", "timestamp": "yesterday"},
        "date": 1700000200000,
        "benches": [
          {"name": "parse", "value": 100500000, "unit": "us/op"},
          {"name": "serve p50", "value": 0, "unit": "ms"},
          {"name": "rate", "value": null},
          {"name": "score", "value": "NaN", "unit": "points"}
        ]
      }
    ],
    "Declared": [
      {
        "commit": {"id": "3333333", "timestamp": "2023-11-16T00:00:00Z"},
        "date": 1700000400000,
        "tool": "customBiggerIsBetter",
        "benches": [
          {"name": "goals", "value": 3, "unit": "goals"},
          {"name": "time", "value": 3, "unit": "ms"}
        ]
      }
    ]
  }
};
