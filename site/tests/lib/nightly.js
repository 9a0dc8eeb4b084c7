// Tests that are long and rarely fail: `scripts/test.sh` skips them, `scripts/test.sh --nightly` runs them. So does writing pictures anew.

/** For the options of a test: `{ skip: nightly }`. */
export const nightly = process.env.WIREBENCH_NIGHTLY || process.env.WIREBENCH_WRITE_PICTURES ? false : 'nightly';
