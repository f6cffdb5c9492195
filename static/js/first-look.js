// The numbers of a page that was sent without them. Where they do not come, the page says so.

const says = document.querySelector("[data-first-look]");

for (const problem of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
  document.body.addEventListener(problem, () => {
    says.textContent = "The numbers did not come: the server did not answer or refused. Reload the page to try again.";
    says.parentElement.querySelector("progress")?.remove();
  });
}
