'use strict'
// Ends a process at SIGTERM with `process.exit`, because a process that a signal ends writes no coverage.
const { isMainThread } = require('node:worker_threads')
if (isMainThread) process.on('SIGTERM', () => process.exit(0))
