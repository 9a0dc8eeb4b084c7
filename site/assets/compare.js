// A comparison's page: a button that copies its Markdown.

const text = document.getElementById("markdown");
if (text) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy as Markdown";
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  said.className = "quiet";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.value);
      said.textContent = "Copied.";
    } catch {
      // Over plain HTTP, or without permission, there is no clipboard: the text is selected for the reader to copy.
      text.closest("details").open = true;
      text.focus();
      text.select();
      said.textContent = "Selected: press Ctrl+C to copy.";
    }
  });
  const controls = document.createElement("p");
  controls.className = "controls";
  controls.append(button, said);
  text.closest("details").before(controls);
}
