// Loads the site's data files: each once, and with an error that says which file is wrong and how.

/** Why a file cannot be shown; its message is a sentence. */
export class Broken extends Error {}

/** The way to the site's root. */
export const root = globalThis.document?.documentElement.dataset.root ?? '';

/** The value in `text`, when its schema is `schema`. */
export function parse(text, schema, file) {
  let data;
  try { data = JSON.parse(text); } catch { throw new Broken(`${file} is broken: it is not whole JSON.`); }
  if (data?.schema === schema) return data;
  const kind = typeof data?.schema === 'string' ? `the kind ${data.schema.slice(0, 60)}` : 'no known kind';
  throw new Broken(`${file} is of ${kind}; this page reads ${schema}. Reload the page, or build the site anew.`);
}

/** What `decode` makes of a file; what it trips over makes the file broken. */
export function whole(file, decode) {
  try { return decode(); } catch (error) {
    throw new Broken(`${file} is broken: ${error instanceof TypeError ? 'a part of it is missing' : error.message}.`);
  }
}

const loading = new Map();

/** `decode(data, file)` of `data/<name>.json`. A file that failed is asked for again next time. */
export function load(name, schema, decode = (data) => data) {
  const file = `data/${name}.json`;
  const get = async () => {
    const answer = await fetch(root + file).catch(() => { throw new Broken(`${file} could not be loaded: no answer.`); });
    if (!answer.ok) throw new Broken(answer.status === 404 ? `${file} is missing.` : `${file} could not be loaded: status ${answer.status}.`);
    const data = parse(await answer.text(), schema, file);
    return whole(file, () => decode(data, file));
  };
  if (!loading.has(name)) {
    loading.set(name, get());
    loading.get(name).catch(() => loading.delete(name));
  }
  return loading.get(name);
}
