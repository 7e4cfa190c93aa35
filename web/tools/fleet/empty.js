/* SPDX-License-Identifier: Apache-2.0
 * empty.js: what stands where there is nothing to show of many jobs, and why. Pure; each answer is {title, text, run,
 * kind, action}. Its own file: each tool has its empty states in one. */

export { failure as failed } from '../../lib/failure.js';

const FILL =
  'memviewd index LOGDIR --label job=NAME --label commit=$(git rev-parse HEAD) --catalog=postgresql://HOST/DATABASE';

export function nothing(
  { sentence, is_catalog: isCatalog, unlabelled_count: unlabelled, unknown_count: unknown },
  isFiltered,
  showAll,
) {
  if (isFiltered)
    return {
      title: 'Nothing matches.',
      text: 'The filter leaves out every row.',
      action: { label: 'Show all', run: showAll },
    };
  if (unlabelled > 0)
    return {
      title: sentence,
      text:
        'Put a file memviewd.json next to the profiles of a job, or in a folder above them, or label them when ' +
        'you index them.',
      run: isCatalog ? FILL : 'echo \'{"job": "bert", "commit": "c0ffee"}\' > memviewd.json',
    };
  if (unknown > 0)
    return {
      title: sentence,
      text:
        'The files could not be read, or have no figures; unreadable files are tried again. For the reason of ' +
        'each, run',
      run: 'memviewd index LOGDIR --format=csv',
    };
  if (isCatalog)
    return {
      title: 'The catalog has no figures.',
      text: 'memviewd.rows.error says why a file has none. To fill the catalog:',
      run: FILL,
    };
  return {
    title: 'No jobs yet.',
    text:
      'This shows the folders of this daemon, and nothing in them names a job. For many jobs, start it with ' +
      '--catalog=postgresql://… and fill the catalog:',
    run: FILL,
  };
}

const NONE = {
  jobs: ['No jobs.', ''],
  modules: ['No modules.', ''],
  regressions: ['No regression.', 'No series changed by more than its noise.'],
  hosts: ['No host differs.', 'Where a commit was seen on several hosts, all of them need the same.'],
  next: ['Nothing is over its capacity, and nothing grows towards it.', 'A trend needs five commits over a day.'],
  commits: ['No commits.', ''],
};

const UNKNOWN = {
  needed: 'What they need is not known.',
  peak: 'Their peaks are not known.',
  share: 'The capacity is not known.',
};

/* Lines of which no point has both a place in time and a height. */
export function noPoints(lines, metric) {
  const isTimed = lines.some(({ at_ms: all }) => all.some((each) => each != null));
  return isTimed
    ? { title: UNKNOWN[metric], text: 'Another figure can be chosen above.' }
    : { title: 'It is not known when the files were written.', text: 'The tables below show what is in them.' };
}

export const noRows = (tab) => ({ title: NONE[tab][0], text: NONE[tab][1] });
