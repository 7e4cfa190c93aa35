/* SPDX-License-Identifier: Apache-2.0
 * empty.js: what stands where there is no module to show, and why. Pure; each answer is {title, text, run, kind,
 * action}. Its own file: each tool has its empty states in one. */

export { failure as failed } from '../../lib/failure.js';

/* link: of the context, see app.js. */
export function noModules(session, { link }) {
  if (session.kind === 'profiles')
    return {
      title: 'This session has no modules.',
      text: 'It has device profiles, which contain arrays and call stacks, but no programs.',
      action: { label: 'Device Memory', href: link(session.id, { tool: 'device_memory' }) },
    };
  if (session.kind === 'text')
    return {
      title: 'This session has no modules.',
      text: 'It has texts. What they say about memory is on the OOM page.',
      action: { label: 'OOM', href: link(session.id, { tool: 'oom' }) },
    };
  return {
    title: 'This session has no modules.',
    text:
      'Nothing was compiled or run by XLA while the trace was taken, or the profiler did not save the programs. ' +
      'If allocator events were recorded, they are in the',
    action: { label: 'Memory Profile', href: link(session.id, { tool: 'memory_profile' }) },
  };
}

export const noRows = ({ filter, isOutliers }, showAll) =>
  filter
    ? {
        title: 'Nothing matches.',
        text: 'The filter leaves out every row.',
        action: { label: 'Show all', run: showAll },
      }
    : isOutliers
      ? {
          title: 'No host differs.',
          text: 'Every module has the same figures on all hosts that were read.',
          action: { label: 'Show all', run: showAll },
        }
      : { title: 'No module takes memory here.', text: 'Choose another memory space above.' };

export const noModule = (close) => ({
  title: 'This module is not in the session.',
  text: 'The link names a module that is no longer here.',
  action: { label: 'Close', run: close },
});
