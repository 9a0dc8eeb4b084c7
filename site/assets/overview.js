// The overview: filters its table by text, source and metric, and shows at first only what changed.
import { filter, valuesOf } from './lib/table.js';

const table = document.getElementById('standings');
const CHANGED = new Set(['worse', 'better', 'accepted', 'changed']);
const choice = (key, name) => ({ key, name, values: valuesOf(table, key), of: (row) => row.dataset[key] });

if (table?.tBodies[0]) {
  filter(table, {
    choices: [choice('source', 'Source'), choice('metric', 'Metric')],
    only: { key: 'show', name: 'only changed', when: (row) => CHANGED.has(row.dataset.state) },
    empty: 'No series fits the filter. “Show all” takes it away.',
  });
}
