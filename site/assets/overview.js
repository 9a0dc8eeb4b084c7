// The overview: filters its tables by text, source and metric, and shows at first only what changed.
import { filter } from './lib/table.js';

const tables = document.querySelectorAll('table.standings, #standings');
const CHANGED = new Set(['worse', 'withheld', 'better', 'accepted', 'changed']);

const sections = document.querySelectorAll('section.standings');

filter(tables, sections.length > 1 ? sections[0] : tables[0]?.closest('.scroll') ?? tables[0], {
  choices: [
    { key: 'source', name: 'Source', of: (row) => row.closest('[data-source]')?.dataset.source },
    { key: 'metric', name: 'Metric', of: (row) => row.dataset.metric },
  ],
  only: { key: 'show', name: 'only changed', when: (row) => CHANGED.has(row.dataset.state) },
  empty: 'No series fits the filter. “Show all” takes it away.',
});
