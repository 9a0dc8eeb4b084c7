// Waits for a page to come to rest: for conditions, never for a time.

/** Waits until the page's scripts have no pending work: no file is being loaded, nothing is about to be drawn, written to the address or read aloud. */
export const settled = (page) => page.waitForSelector('html:not([data-busy])', { state: 'attached' });

/** Waits until what was drawn by now is on the screen. */
export const painted = (page) => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(() => done())); }));
