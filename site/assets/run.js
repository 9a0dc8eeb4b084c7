// A run: a link to the rounds of a series opens what they are folded into.
function reveal() {
  const place = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (!place) return;
  for (let fold = place.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
  place.scrollIntoView();
}

addEventListener('hashchange', reveal);
// Asked for once more, the address does not change.
addEventListener('click', ({ target }) => { if (target.closest?.('a')?.hash === location.hash) reveal(); });
reveal();
