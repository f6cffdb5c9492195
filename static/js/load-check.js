// Tells whether the scripts of a page have started. A classic script without imports, and the first of the page: it
// sees all others fail. What promises the work of scripts is shown from `data-started` on (see the stylesheet).

const page = document.documentElement;
let isComplete = true;

addEventListener("error", ({ target, filename }) => {
  const source = target instanceof HTMLScriptElement ? target.src : filename;
  if (source?.startsWith(`${location.origin}/`)) isComplete = false; // an extension's script is no part of the page
}, true);

addEventListener("load", () => {
  if (isComplete) {
    page.dataset.started = "";
    return;
  }
  page.dataset.incomplete = "";
  const notice = document.getElementById("incomplete");
  notice.role = "alert";
  notice.hidden = false;
});
