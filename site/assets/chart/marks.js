// What stands beside the values: releases, breaks, change points, failed runs; and how they are drawn.
import { percent, verdict } from '../lib/format.js';

/** Every mark of a column, in order: `{ at, kind, text, … }`. */
export function marks(column, releases) {
  return [
    ...releases.map(({ at, name }) => ({ at, kind: 'release', short: name, text: `release ${name}` })),
    ...column.breaks.map(({ at, why }) => ({ at, kind: 'break', short: why, text: `not comparable with what came before: ${why}` })),
    ...column.steps.map((step) => {
      const { shape, word, colour } = verdict(step);
      const size = percent(step.change_percent);
      return {
        at: step.first_after, kind: 'step', step, colour, shape, short: `${shape} ${word} ${size}`, brief: `${shape} ${size}`,
        text: `${shape} ${word} by ${size} (${percent(step.low_percent)} to ${percent(step.high_percent)})${step.accepted ? `, meant: ${step.accepted}` : ''}`,
      };
    }),
    ...column.failures.map(({ at, why }) => ({ at, kind: 'failure', text: `✕ no value: ${why}` })),
  ].sort((one, other) => one.at - other.at);
}

const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Rules through the plot, with their names in two rows above it; a name that would lie on another is left out. */
export function drawMarks(ctx, scene, list) {
  const { X, box, colours, px } = scene;
  const narrow = box.width < 560 * px;
  const ends = [-Infinity, -Infinity];
  ctx.font = `${12 * px}px system-ui, sans-serif`;
  ctx.textBaseline = 'middle';
  const name = (text, x, lane, colour) => {
    const width = ctx.measureText(text).width;
    const left = Math.max(0, Math.min(x - width / 2, box.left + box.width - width));
    if (left < ends[lane] + 6 * px) return false;
    ends[lane] = left + width;
    ctx.fillStyle = colour;
    ctx.textAlign = 'left';
    ctx.fillText(text, left, box.top - (lane === 0 ? 27 : 10) * px);
    return true;
  };
  for (const mark of list) {
    const x = X(mark.kind === 'step' ? (mark.step.last_before + mark.step.first_after) / 2 : mark.kind === 'break' ? mark.at - 0.5 : mark.at);
    if (mark.kind === 'failure' || x < box.left - 1 || x > box.left + box.width + 1) continue;
    const colour = mark.kind === 'step' ? colours[mark.colour] : mark.kind === 'break' ? colours.text : colours.quiet;
    if (mark.kind === 'step') {
      const [left, right] = [X(mark.step.last_before), X(mark.step.first_after)];
      ctx.globalAlpha = 0.1;
      ctx.fillStyle = colour;
      if (right - left > 3 * px) ctx.fillRect(left, box.top, right - left, box.height);
      ctx.globalAlpha = 1;
    }
    ctx.strokeStyle = colour;
    ctx.lineWidth = px;
    ctx.setLineDash(mark.kind === 'break' ? [6 * px, 4 * px] : mark.kind === 'step' ? [px, 3 * px] : []);
    ctx.beginPath();
    ctx.moveTo(Math.round(x) + 0.5, box.top - (mark.kind === 'step' ? 2 : 19) * px);
    ctx.lineTo(Math.round(x) + 0.5, box.top + box.height);
    ctx.stroke();
    ctx.setLineDash([]);
    if (mark.kind !== 'step') name(shorten(mark.short, narrow ? 14 : 32), x, 0, colour);
    else if (!name(narrow ? mark.brief : mark.short, x, 1, colour)) name(mark.shape, x, 1, colour);
  }
}
