// The changes: filters its table by text and status.
import { filter, valuesOf } from './lib/table.js';

const table = document.getElementById('changes-table');

if (table?.tBodies[0]) {
  filter(table, {
    choices: [{ key: 'status', name: 'Status', values: valuesOf(table, 'status'), of: (row) => row.dataset.status }],
    empty: 'No change fits the filter. “Show all” takes it away.',
  });
}
