// Loads the site's data files: each once, and with an error that says which file is wrong and how.

/** Why a file cannot be shown; its message is a sentence. */
export class Broken extends Error {}

/** The value in `text`, when its schema is `schema`. */
export function parse(text, schema, file) {
  let data;
  try { data = JSON.parse(text); } catch { throw new Broken(`${file} is broken: it is not whole JSON.`); }
  const found = data?.schema;
  if (found !== schema) {
    throw new Broken(`${file} is of ${typeof found === 'string' ? `the kind ${found.slice(0, 60)}` : 'no known kind'}; this page reads ${schema}. Reload the page, or build the site anew.`);
  }
  return data;
}

const root = globalThis.document?.documentElement.dataset.root ?? '';
const loading = new Map();

/** The data of `data/<name>.json`. A file that failed is asked for again next time. */
export function load(name, schema) {
  if (!loading.has(name)) {
    const file = `data/${name}.json`;
    const asked = fetch(root + file)
      .catch(() => { throw new Broken(`${file} could not be loaded: no answer.`); })
      .then((answer) => {
        if (!answer.ok) throw new Broken(answer.status === 404 ? `${file} is missing.` : `${file} could not be loaded: status ${answer.status}.`);
        return answer.text();
      })
      .then((text) => parse(text, schema, file));
    asked.catch(() => loading.delete(name));
    loading.set(name, asked);
  }
  return loading.get(name);
}

/** Lets go of a file that has been decoded. */
export const forget = (name) => loading.delete(name);

export { root };
