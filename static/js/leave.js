// The end of a visit: copies the completion code, and goes back to the platform by itself, unless told to stay.

for (const button of document.querySelectorAll("[data-copies]")) {
  button.addEventListener("click", async () => {
    const code = document.getElementById(button.dataset.copies);
    const copied = await navigator.clipboard?.writeText(code.textContent).then(() => true, () => false);
    if (!copied) getSelection().selectAllChildren(code);
    button.textContent = copied ? button.dataset.copied : button.dataset.failed;
  });
}

const back = document.querySelector("[data-leave]");
if (back) {
  const stay = document.querySelector("[data-stay]");
  const says = document.querySelector("[data-leaving]");
  const leaving = setTimeout(() => location.assign(back.href), Number(back.dataset.leave) * 1000);
  stay.hidden = says.hidden = false;
  stay.addEventListener("click", () => {
    clearTimeout(leaving);
    says.textContent = says.dataset.stayed;
    stay.hidden = true;
    back.focus();
  });
}
