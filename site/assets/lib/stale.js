// Says that the newest run is too old to go by: computed when the page is read, since a site that nobody builds anew ages too.
const DAY = 86_400_000;

// The sentence for a newest run at `newest`, an ISO time; null while it is at most `most` days old.
export function stale(newest, most, now = Date.now()) {
  const days = Math.floor((now - Date.parse(newest)) / DAY);
  if (!(days > most)) return null;
  return `Stale: the newest run is of ${newest.slice(0, 10)}, ${days} days ago. What came after it was not measured.`;
}

export function showStale() {
  const note = document.getElementById('stale');
  const text = note && stale(note.dataset.newest, Number(note.dataset.most));
  if (!text) return;
  note.textContent = text;
  note.hidden = false;
}
