/* SPDX-License-Identifier: Apache-2.0
 * memory_viewer_only.js: legend words in the text of the filter. Pure. */

const TERM = /(^|\s)cat:([a-z_,]+)(?=\s|$)/;

/* Categories that the filter asks for; none: all. */
export function categoriesOf(filter) {
  return TERM.exec(filter)?.[2].split(',').filter(Boolean) ?? [];
}

/* The filter with only `category`, or with it added or taken away; without it when it was alone. */
export function toggledCategory(filter, category, isAdded) {
  const now = categoriesOf(filter);
  const has = now.includes(category);
  let next = has && now.length === 1 ? [] : [category];
  if (isAdded) next = has ? now.filter((each) => each !== category) : [...now, category];
  const rest = filter.replace(TERM, ' ').trim();
  return [next.length ? `cat:${next.join(',')}` : '', rest].filter(Boolean).join(' ');
}
