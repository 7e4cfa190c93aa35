/* SPDX-License-Identifier: Apache-2.0
 * clipboard.js: copies text. Browsers keep the modern way for secure origins; a daemon on another
 * machine is often none, and gets the old one. */

function copyOld(text) {
  let isDone = false;
  const give = (event) => {
    event.clipboardData.setData('text/plain', text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isDone = true;
  };
  document.addEventListener('copy', give, { capture: true, once: true });
  try {
    document.execCommand('copy');
  } catch {
    /* not allowed */
  }
  document.removeEventListener('copy', give, { capture: true });
  return isDone;
}

/* True when the text is on the clipboard. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOld(text);
  }
}
