window.BENCHMARK_DATA = {
 "lastUpdate": 1767261600000,
 "repoUrl": "https://github.com/octo/weather",
 "entries": {
  "Benchmark": [
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "0000000000000000000000000000000000000001",
     "message": "Change 0",
     "timestamp": "2026-01-01T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/0000000000000000000000000000000000000001"
    },
    "date": 1767261600000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 100,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234567891.0,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "0000000000000000000000000000000000000002",
     "message": "Change 1",
     "timestamp": "2026-01-02T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/0000000000000000000000000000000000000002"
    },
    "date": 1767348000000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 101,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234569002.25,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "0000000000000000000000000000000000000003",
     "message": "Change 2",
     "timestamp": "2026-01-03T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/0000000000000000000000000000000000000003"
    },
    "date": 1767434400000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 102,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234570113.5,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "0000000000000000000000000000000000000004",
     "message": "Change 3",
     "timestamp": "2026-01-04T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/0000000000000000000000000000000000000004"
    },
    "date": 1767520800000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 100,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234567891.0,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "0000000000000000000000000000000000000005",
     "message": "Change 4",
     "timestamp": "2026-01-05T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/0000000000000000000000000000000000000005"
    },
    "date": 1767607200000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 101,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234569002.25,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "0000000000000000000000000000000000000006",
     "message": "Change 5",
     "timestamp": "2026-01-06T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/0000000000000000000000000000000000000006"
    },
    "date": 1767693600000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 102,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234570113.5,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "0000000000000000000000000000000000000007",
     "message": "Change 6",
     "timestamp": "2026-01-07T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/0000000000000000000000000000000000000007"
    },
    "date": 1767780000000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 100,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234567891.0,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "0000000000000000000000000000000000000008",
     "message": "Change 7",
     "timestamp": "2026-01-08T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/0000000000000000000000000000000000000008"
    },
    "date": 1767866400000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 101,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234569002.25,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "0000000000000000000000000000000000000009",
     "message": "Change 8",
     "timestamp": "2026-01-09T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/0000000000000000000000000000000000000009"
    },
    "date": 1767952800000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 102,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234570113.5,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "000000000000000000000000000000000000000a",
     "message": "Change 9",
     "timestamp": "2026-01-10T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/000000000000000000000000000000000000000a"
    },
    "date": 1768039200000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 100,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234567891.0,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "000000000000000000000000000000000000000b",
     "message": "Change 10",
     "timestamp": "2026-01-11T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/000000000000000000000000000000000000000b"
    },
    "date": 1768125600000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 101,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234569002.25,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "000000000000000000000000000000000000000c",
     "message": "Change 11",
     "timestamp": "2026-01-12T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/000000000000000000000000000000000000000c"
    },
    "date": 1768212000000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 102,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234570113.5,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "000000000000000000000000000000000000000d",
     "message": "Change 12",
     "timestamp": "2026-01-13T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/000000000000000000000000000000000000000d"
    },
    "date": 1768298400000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 100,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234567891.0,
      "unit": "ns/iter"
     }
    ]
   },
   {
    "commit": {
     "author": {
      "name": "A. Writer",
      "username": "writer"
     },
     "id": "000000000000000000000000000000000000000e",
     "message": "Change 13",
     "timestamp": "2026-01-14T10:00:00Z",
     "url": "https://github.com/octo/weather/commit/000000000000000000000000000000000000000e"
    },
    "date": 1768384800000,
    "tool": "customSmallerIsBetter",
    "benches": [
     {
      "name": "errors",
      "value": 0,
      "unit": "errors"
     },
     {
      "name": "parse",
      "value": 101,
      "unit": "ns"
     },
     {
      "name": "whole suite",
      "value": 1234567891.5,
      "unit": "ns/iter"
     }
    ]
   }
  ]
 }
}
