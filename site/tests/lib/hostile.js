// Text that tries to become something else than text: the corpus of the tests against injection.

/** A flag that any of it sets when it runs. */
const RUN = 'window.__xss=1';

export const CORPUS = [
  `<script>${RUN}</script>`,
  `"><img src=x onerror="${RUN}">`,
  `'><svg onload='${RUN}'>`,
  `</title><script>${RUN}</script>`,
  `</script><script>${RUN}</script>`,
  `--><script>${RUN}</script><!--`,
  `]]><script>${RUN}</script>`,
  `<iframe srcdoc="<script>parent.__xss=1</script>">`,
  `<a href="javascript:${RUN}">x</a>`,
  `javascript:${RUN}//`,
  `" onfocus="${RUN}" autofocus="`,
  `\${${RUN}}`,
  `{{ ${RUN} }}{% include "x" %}`,
  `\`;${RUN};//`,
  `<base href="//evil.invalid/">`,
  `<meta http-equiv="refresh" content="0;url=//evil.invalid">`,
  `<style>*{display:none}</style>`,
  `<link rel=stylesheet href=//evil.invalid/x.css>`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror=${RUN}>`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `\u202Etxet desrever\u202C`,
  `../../../../etc/passwd`,
  `__proto__`,
  `constructor`,
  `%3Cscript%3E${RUN}%3C/script%3E`,
  `{/'}\\"; set output '/tmp/x'; !touch /tmp/x #`,
  `@enhanced {/Symbol a} $(touch x) %s %n`,
];

/** What must not be in a page: `[what, how often]` of each kind that is there. */
export function injected() {
  const found = [];
  const count = (what, selector) => { const all = document.querySelectorAll(selector).length; if (all) found.push([what, all]); };
  if (window.__xss) found.push(['a script ran', 1]);
  count('script', 'main script, main iframe, main object, main embed, base, meta[http-equiv=refresh]');
  count('style', 'main style, main link');
  count('image', 'img[src="x"], img:not([src]), main math');
  count('form', 'form:not([method=dialog])');
  for (const one of document.querySelectorAll('*')) {
    for (const { name, value } of one.attributes) {
      if (/^on/i.test(name)) found.push([`${one.localName} ${name}`, 1]);
      if (/^(href|src|action|formaction|xlink:href)$/i.test(name) && /^\s*(javascript|data|vbscript):/i.test(value)) found.push([`${one.localName} ${name}=${value}`, 1]);
      if (/^(href|src)$/i.test(name) && new URL(value, document.baseURI).host === 'evil.invalid') found.push([`${one.localName} ${name}=${value}`, 1]);
    }
  }
  return found;
}
