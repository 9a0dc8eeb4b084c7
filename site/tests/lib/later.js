// What is to be cleaned up after all tests of a file, last things first.
import { after } from 'node:test';

const work = [];
after(async () => { for (const one of work.reverse()) await one(); });

/** Does something after all tests. A hook that is set within another hook would run right after that one. */
export const later = (act) => { work.push(act); };
