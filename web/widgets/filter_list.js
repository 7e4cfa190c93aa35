/* SPDX-License-Identifier: Apache-2.0
 * filter_list.js: what a filter field proposes: fields with what they mean, then values with their bytes. */

import { isAbort } from '../lib/api.js';
import { partsOf, splitTerms, typed } from '../lib/filter_text.js';
import { createListbox } from './listbox.js';

const MAX = 50;

/* The term at the end of the text, and what stands before it. */
function lastTerm(text) {
  const last = splitTerms(text).pop();
  return last && last.to === text.length
    ? { before: text.slice(0, last.from), term: last.text }
    : { before: text, term: '' };
}

/* Pure: fields that begin like what is typed. */
export function fieldOptions(fields, text) {
  const { before, term } = lastTerm(text);
  const { sign, field, value } = partsOf(term);
  if (field != null || /^[<>/"]/.test(value)) return [];
  return fields
    .filter((each) => each.name.startsWith(value.toLowerCase()))
    .map((each) => ({
      label: `${each.name}:`,
      figure: each.says,
      whole: `${before}${sign}${each.name}:${each.first ?? ''}`,
      isField: true,
    }));
}

/* Pure: values of a field that hold what is typed behind its last comma. */
export function valueOptions(values, text) {
  const { before, term } = lastTerm(text);
  const { sign, field, value } = partsOf(term);
  const [, kept, part] = /^((?:.*,)?)([^,]*)$/s.exec(/\[[^\]]*$/.test(value) ? value.replace(/,/g, '\u0000') : value);
  const wanted = part.replaceAll('\u0000', ',').replaceAll('"', '').toLowerCase();
  return values
    .filter((each) => each.value.toLowerCase().includes(wanted))
    .slice(0, MAX)
    .map((each) => ({
      label: each.value,
      figure: each.figure,
      whole: `${before}${sign}${field}:${kept}${each.typed ?? typed(each.value)}`,
      isField: false,
    }));
}

/* fields() → [{name, says, values}]; onTake(text, isWhole). Out: {node, open(), close(), onKey(event) → true if it was
   for the list}. */
export function createCompletion({ id, input, fields, onTake }) {
  const list = createListbox({
    id,
    input,
    label: 'Proposals',
    className: 'filter-list',
    onTake: (option) => take(option),
  });
  const { node } = list;
  const known = new Map();
  let asked = null;
  node.hidden = true;

  const close = () => {
    asked?.abort();
    node.hidden = true;
    list.show([]);
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const take = (option) => {
    close();
    onTake(option.whole, !option.isField);
    input.focus();
  };
  const show = (options) => {
    if (options.length === 0) {
      close();
      return;
    }
    list.show(options);
    node.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    list.activate(-1);
  };
  const valuesOf = async (field) => {
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    if (!known.has(field.name)) known.set(field.name, await field.values(signal));
    return signal.aborted ? [] : known.get(field.name);
  };
  const open = async () => {
    const { field: typedField } = partsOf(lastTerm(input.value).term);
    if (typedField == null) {
      show(fieldOptions(fields(), input.value));
      return;
    }
    const field = fields().find((each) => each.name === typedField.toLowerCase());
    if (!field?.values) {
      close();
      return;
    }
    try {
      const values = await valuesOf(field);
      if (document.activeElement === input) show(valueOptions(values, input.value));
    } catch (error) {
      known.delete(field.name);
      if (!isAbort(error)) close();
    }
  };
  return {
    node,
    open,
    close,
    /* Values belong to what is shown now. */
    forget: () => known.clear(),
    onKey(event) {
      if (node.hidden) {
        if (event.key !== 'ArrowDown') return false;
        open();
        return true;
      }
      if (event.key === 'ArrowDown') list.activate(Math.min(list.options.length - 1, list.active + 1));
      else if (event.key === 'ArrowUp') list.activate(Math.max(-1, list.active - 1));
      else if (event.key === 'Enter' && list.active >= 0) take(list.options[list.active]);
      else if (event.key === 'Escape') close();
      else return false;
      return true;
    },
  };
}
