// The changes: filters the table by text, status and metric.
import { filter } from './lib/table.js';

const table = document.getElementById('changes-table');

if (table) {
  filter([table], table.closest('.scroll') ?? table, {
    choices: [{ key: 'status', name: 'Status', of: (row) => row.dataset.status }, { key: 'metric', name: 'Metric', of: (row) => row.dataset.metric }],
    empty: 'No change fits the filter. “Show all” takes it away.',
  });
}
