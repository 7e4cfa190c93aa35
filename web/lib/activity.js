/* SPDX-License-Identifier: Apache-2.0
 * activity.js: knows what is under way. <body data-idle> is there while nothing is;
 * the progress line appears only after 150 ms of waiting. */

const LINE_AFTER_MS = 150;

let pending = 0;
let requests = 0;
let timer = 0;
let frame = 0;
let queue = [];

function settle() {
  if (pending === 0) document.body.setAttribute('data-idle', '');
}

/* Something began; call the answer once when it ends. */
export function begin() {
  pending++;
  document.body.removeAttribute('data-idle');
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    isOpen = false;
    pending--;
    if (pending === 0) setTimeout(settle, 0);
  };
}

/* The same for a request, which also shows the line at the top when it takes long. */
export function beginRequest() {
  const end = begin();
  requests++;
  if (requests === 1) timer = setTimeout(() => document.body.setAttribute('data-busy', ''), LINE_AFTER_MS);
  let isOpen = true;
  return () => {
    end();
    if (!isOpen) return;
    isOpen = false;
    requests--;
    if (requests > 0) return;
    clearTimeout(timer);
    document.body.removeAttribute('data-busy');
  };
}

/* Runs `task` after a while, counted as under way; the answer takes it back. */
export function later(task, afterMs) {
  const end = begin();
  const timer = setTimeout(() => {
    try {
      task();
    } finally {
      end();
    }
  }, afterMs);
  return () => {
    clearTimeout(timer);
    end();
  };
}

function runFrame() {
  const tasks = queue;
  frame = 0;
  queue = [];
  for (const { task, end } of tasks) {
    try {
      task();
    } finally {
      end();
    }
  }
}

/* Runs `task` in the next frame, once, however often it is asked before. */
export function nextFrame(task) {
  if (queue.some((entry) => entry.task === task)) return;
  queue.push({ task, end: begin() });
  if (frame === 0) frame = requestAnimationFrame(runFrame);
}

/* Does now what waits for the next frame: before a page is printed there is none. */
export function flushFrames() {
  cancelAnimationFrame(frame);
  runFrame();
}
