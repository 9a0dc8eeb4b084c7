// Says, when the page of a series is opened as a file, why its chart does not move: browsers let such a page load neither modules nor data.
if (location.protocol === 'file:') {
  const note = document.createElement('p');
  note.className = 'note';
  note.setAttribute('role', 'status');
  note.textContent = 'Opened as a file: nothing moves. “wirebench site serve” opens the same pages with everything.';
  document.getElementById('chart')?.append(note);
}
