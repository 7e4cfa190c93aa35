/* SPDX-License-Identifier: Apache-2.0
 * acts.mjs: what a reader does with a page, and what comes late. Places are [x, y] in pixels of the window. */

/* The place at these shares of the first `selector`, which is scrolled into view. */
export async function placeOn(page, selector, x, y = 0.5) {
  const node = page.locator(selector).first();
  await node.scrollIntoViewIfNeeded();
  const box = await node.boundingBox();
  return [box.x + box.width * x, box.y + box.height * y];
}

/* Pressed at the one place, by a place between, let go at the other; with `key` held down. */
export async function drag(page, from, to, { button = 'left', key = null } = {}) {
  if (key) await page.keyboard.down(key);
  await page.mouse.move(...from);
  await page.mouse.down({ button });
  await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2);
  await page.mouse.move(...to);
  await page.mouse.up({ button });
  if (key) await page.keyboard.up(key);
}

export async function wheel(page, place, [dx, dy], key = null) {
  await page.mouse.move(...place);
  if (key) await page.keyboard.down(key);
  await page.mouse.wheel(dx, dy);
  if (key) await page.keyboard.up(key);
}

/* What a name of the URL holds; null without it. */
export const inUrl = (page, name) => page.evaluate((key) => new URLSearchParams(location.search).get(key), name);

/* Another place without a load, as a link of the page goes there. Does not wait for it. */
export const goTo = (page, query) =>
  page.evaluate((next) => {
    history.pushState(null, '', next);
    window.dispatchEvent(new PopStateEvent('popstate'));
  }, query);

/* Keeps an answer back, of what is asked under `pattern` what isHeld(url) says. Out: release() lets it come, and
   `asked`
 * is kept once something under `pattern` was asked for. */
export async function holdBack(page, pattern, isHeld = () => true) {
  let release = null;
  const held = new Promise((done) => {
    release = done;
  });
  const asked = page.waitForRequest(pattern);
  asked.catch(() => {}); // not every case asks
  await page.route(pattern, async (route) => {
    if (isHeld(new URL(route.request().url()))) await held;
    await route.continue().catch(() => {}); // the page may have given it up meanwhile
  });
  return { release, asked };
}

/* Matches the addresses of a file of the pages, "widgets/palette.js": as it is, and with the hash of its content. */
export const fileOf = (path) => new RegExp(`/${path.replace(/\.(\w+)$/, '(-[0-9a-f]{16})?\\.$1')}$`);

/* Opens the card of a figure by its key, with the module that the page itself has loaded. */
export const explainIn = (page, key) =>
  page.evaluate((each) => {
    globalThis.memviewd.use('widgets/explain.js').explain(each);
  }, key);
