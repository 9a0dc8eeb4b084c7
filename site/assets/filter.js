// Tables of the overview and of head to head, and the cards of changes: filtered by text and by what they are about.
import { showStale } from './lib/stale.js';
import { filter } from './lib/table.js';

showStale();

const CHANGED = new Set(['worse', 'withheld', 'better', 'accepted', 'fixed', 'changed']);
const choice = (key, name) => ({ key, name, of: (row) => row.dataset[key] });
const bodiesOf = (tables) => tables.flatMap((table) => [...table.tBodies]);
const rowsOf = (tables) => bodiesOf(tables).flatMap((body) => [...body.rows].filter((row) => row.className !== 'group'));

const standings = [...document.querySelectorAll('table.standings')];
const jobs = [...document.querySelectorAll('table.jobs-table')];
if (standings.length) {
  filter(rowsOf(standings), [...standings, ...bodiesOf(standings)], standings.length > 1 ? standings[0].closest('details') : standings[0], {
    choices: [
      { key: 'source', name: 'Source', of: (row) => row.closest('[data-source]')?.dataset.source },
      choice('metric', 'Metric'),
    ],
    only: { key: 'show', name: 'only changed', when: (row) => CHANGED.has(row.dataset.state) },
    empty: 'No series fits the filter. “Show all” takes it away.',
  });
} else if (jobs.length) {
  filter(rowsOf(jobs), jobs, jobs[0], {
    choices: [choice('scenario', 'Scenario'), choice('driver', 'Driver'), choice('server', 'Server')],
    empty: 'No job fits the filter. “Show all” takes it away.',
  });
} else {
  filter([...document.querySelectorAll('article.cause')], [...document.querySelectorAll('details.month')], document.getElementById('causes'), {
    choices: [choice('status', 'Status')],
    empty: 'No change fits the filter. “Show all” takes it away.',
  });
}
