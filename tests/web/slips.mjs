/* SPDX-License-Identifier: Apache-2.0
 * slips.mjs: no page says "undefined" or "NaN", in text, in attributes or on a canvas. So looks a member that is absent
 * from an answer and was printed, or counted with, all the same. Each case of every page fails on it. */

/* Runs in the page, before its own scripts. */
function watchSlips() {
  const SLIP = /.{0,60}\b(undefined|NaN)\b.{0,60}/;
  const said = new Set();
  const look = (text) => {
    const found = SLIP.exec(text)?.[0];
    if (!found || said.has(found)) return;
    said.add(found);
    console.error(`the page says ${found}`);
  };
  const lookAt = (node) => look(node.outerHTML ?? node.data ?? '');
  new MutationObserver((records) => {
    for (const { type, target, attributeName, addedNodes } of records)
      if (type === 'attributes') look(target.getAttribute(attributeName) ?? '');
      else if (type === 'characterData') lookAt(target);
      else addedNodes.forEach(lookAt);
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    look(String(text));
    return write.call(this, text, ...place);
  };
}

/* Before the first page of a browser context. */
export const refuseSlips = (context) => context.addInitScript(watchSlips);
