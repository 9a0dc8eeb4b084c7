// Records what a page draws on its canvases, so that a test can compare it with a still picture.

/** For `addInitScript`: every canvas gets `drawn`, what was painted on it since it was last cleared: texts, and paths with their points. */
export function record() {
  const points = new WeakMap();
  for (const name of ['moveTo', 'lineTo']) {
    const draw = Path2D.prototype[name];
    Path2D.prototype[name] = function (x, y) {
      points.set(this, [...(points.get(this) ?? []), [x, y]]);
      return draw.call(this, x, y);
    };
  }
  const wrap = (name, note) => {
    const draw = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...args) {
      note(this, ...args);
      return draw.apply(this, args);
    };
  };
  const add = (ctx, entry) => (ctx.canvas.drawn ??= []).push(entry);
  wrap('clearRect', (ctx) => { ctx.canvas.drawn = []; });
  for (const name of ['fillText', 'strokeText']) {
    wrap(name, (ctx, text, x, y) => {
      const by = { left: ctx.measureText(text).width / 2, right: -ctx.measureText(text).width / 2 }[ctx.textAlign] ?? 0;
      // A text that reads upwards is drawn in turned axes.
      const { a, b, c, d, e, f } = ctx.getTransform();
      const at = x + by;
      add(ctx, { text, x: a * at + c * y + e, y: b * at + d * y + f, colour: name === 'fillText' ? ctx.fillStyle : ctx.strokeStyle });
    });
  }
  for (const name of ['fill', 'stroke']) {
    wrap(name, (ctx, path) => {
      if (!(path instanceof Path2D) || !points.has(path)) return;
      const colour = name === 'fill' ? ctx.fillStyle : ctx.strokeStyle;
      add(ctx, { what: name, points: points.get(path), colour, width: ctx.lineWidth, alpha: ctx.globalAlpha, dash: ctx.getLineDash().join(' ') });
    });
  }
}
