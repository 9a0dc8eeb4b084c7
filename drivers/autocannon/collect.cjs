'use strict'
// autocannon's --setupClient: keeps the time of every answer, which autocannon itself only counts in whole milliseconds, and
// adds a line of JSON for each thread to the file in $AUTOCANNON_TIMES when the thread ends.

const { appendFileSync, readFileSync } = require('node:fs')

const answers = {}
let first
let last

module.exports = (client) => {
  if (first === undefined) first = process.hrtime.bigint()
  if (process.env.AUTOCANNON_BODY) client.setBody(readFileSync(process.env.AUTOCANNON_BODY))
  client.on('response', (status, bytes, milliseconds) => {
    const times = answers[status] ?? (answers[status] = [])
    times.push(Math.round(milliseconds * 1e6))
    last = process.hrtime.bigint()
  })
}

// ns since the machine started: exact in JSON's numbers for a hundred days.
process.on('exit', () => {
  if (first === undefined) return
  const line = { first: Number(first), last: Number(last ?? first), answers }
  appendFileSync(process.env.AUTOCANNON_TIMES, JSON.stringify(line) + '\n')
})
