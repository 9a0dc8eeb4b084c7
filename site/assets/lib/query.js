// The view in the page's address: readable, ranges as commits.

const isSha = (text) => (/^[0-9a-f]{7,40}$/.test(text ?? '') ? text.slice(0, 12) : null);
const isPage = (text) => /^[\w.~@+-]{1,200}$/.test(text);

/** What an address asks for. Parts that make no sense count as not there. */
export function read(search) {
  const query = new URLSearchParams(search);
  return {
    metric: query.get('metric'),
    from: isSha(query.get('from')),
    to: isSha(query.get('to')),
    pin: isSha(query.get('pin')),
    raw: query.get('y') === 'value',
    zero: query.get('zero') === '1',
    log: query.get('log') === '1',
    byDate: query.get('x') === 'date',
    lines: (query.get('with') ?? '').split(',').filter(isPage).slice(0, 60),
    all: query.get('lines') === 'all',
  };
}

/** The address of a view, with what is as at first left out. */
export function write(view) {
  const query = new URLSearchParams();
  if (view.metric) query.set('metric', view.metric);
  if (view.from) query.set('from', view.from);
  if (view.to) query.set('to', view.to);
  if (view.raw) query.set('y', 'value');
  if (view.zero) query.set('zero', '1');
  if (view.log) query.set('log', '1');
  if (view.byDate) query.set('x', 'date');
  if (view.all) query.set('lines', 'all');
  else if (view.lines?.length) query.set('with', view.lines.join(','));
  if (view.pin) query.set('pin', view.pin);
  const text = query.toString().replaceAll('%2C', ',');
  return text ? `?${text}` : '';
}
