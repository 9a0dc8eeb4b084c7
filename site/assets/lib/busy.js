// Counts work that is pending, and marks the page with `data-busy` while there is some: whoever reads a page by program waits for its end.

let pending = 0;

function count(by) {
  pending += by;
  globalThis.document?.documentElement.toggleAttribute('data-busy', pending > 0);
}

// Counts a promise as pending work until it is settled.
export function during(work) {
  count(1);
  return work.finally(() => count(-1));
}

// Runs `work` once, `wait` ms after the last call.
export function later(work, wait) {
  let timer = 0;
  return (...args) => {
    if (timer) clearTimeout(timer); else count(1);
    timer = setTimeout(async () => {
      timer = 0;
      try { await work(...args); } finally { count(-1); }
    }, wait);
  };
}
