// The overview's tables and the cards of changes: filtered by text and by what they are about.
import { filter } from './lib/table.js';

const tables = [...document.querySelectorAll('table.standings')];
const CHANGED = new Set(['worse', 'withheld', 'better', 'accepted', 'fixed', 'changed']);

if (tables.length) {
  filter(tables.flatMap((table) => [...table.tBodies[0].rows]), tables, tables.length > 1 ? tables[0].closest('details') : tables[0], {
    choices: [
      { key: 'source', name: 'Source', of: (row) => row.closest('[data-source]')?.dataset.source },
      { key: 'metric', name: 'Metric', of: (row) => row.dataset.metric },
    ],
    only: { key: 'show', name: 'only changed', when: (row) => CHANGED.has(row.dataset.state) },
    empty: 'No series fits the filter. “Show all” takes it away.',
  });
} else {
  filter([...document.querySelectorAll('article.cause')], [], document.getElementById('causes'), {
    choices: [{ key: 'status', name: 'Status', of: (card) => card.dataset.status }],
    empty: 'No change fits the filter. “Show all” takes it away.',
  });
}
