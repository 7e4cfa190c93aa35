/* SPDX-License-Identifier: Apache-2.0
 * order.js: the order of the profiles of a series: by name, by the time they were taken,
 * or by hand (drag, or Alt+↑ ↓ in the list). */

import { el, fill } from '../../lib/dom.js';
import { cutMiddle, visible, when } from '../../lib/format.js';

const ORDERS = [
  ['name', 'order: name'],
  ['time', 'order: time taken'],
  ['hand', 'order: by hand'],
];

const MAX_BY_HAND = 100;

/* Out: {select, list, set(order, profiles)}. */
export function createOrder({ onOrder, onMove, onPick }) {
  const select = el(
    'select',
    { class: 'device-choice', 'aria-label': 'Order of the profiles', on: { change: () => onOrder(select.value) } },
    ORDERS.map(([value, word]) => el('option', { value }, word)),
  );
  const list = el('ol', { class: 'order-list', 'aria-label': 'Profiles in order; drag them, or Alt and arrow up or down' });
  let dragged = -1;
  let focusAt = -1;

  const row = (profile, at, total) =>
    el(
      'li',
      {
        class: 'order-row',
        draggable: 'true',
        on: {
          dragstart: (event) => {
            dragged = at;
            event.dataTransfer.effectAllowed = 'move';
            event.dataTransfer.setData('text/plain', profile.name);
          },
          dragover: (event) => dragged >= 0 && event.preventDefault(),
          drop: (event) => {
            event.preventDefault();
            event.stopPropagation();
            if (dragged >= 0 && dragged !== at) onMove(dragged, at);
            dragged = -1;
          },
          dragend: () => {
            dragged = -1;
          },
        },
      },
      el(
        'button',
        {
          type: 'button',
          class: 'site-button',
          on: {
            click: () => onPick(at),
            keydown: (event) => {
              const to = at + (event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : NaN);
              if (!event.altKey || !(to >= 0 && to < total)) return;
              event.preventDefault();
              event.stopPropagation();
              focusAt = to;
              onMove(at, to);
            },
          },
        },
        el('bdi', { dir: 'ltr', class: 'mono' }, cutMiddle(visible(profile.name), 40)),
      ),
      profile.captured_at_ms ? el('span', { class: 'dim' }, ` ${when(profile.captured_at_ms)}`) : null,
    );
  return {
    select,
    list,
    set(order, profiles) {
      /* A link holds no more of them. */
      const isTooMany = profiles.length > MAX_BY_HAND;
      select.lastChild.disabled = isTooMany;
      select.title = isTooMany ? `By hand: up to ${MAX_BY_HAND} profiles` : '';
      select.value = order;
      list.hidden = order !== 'hand';
      fill(list, list.hidden ? [] : profiles.map((profile, at) => row(profile, at, profiles.length)));
      if (focusAt >= 0) list.children[focusAt]?.querySelector('button').focus();
      focusAt = -1;
    },
  };
}
