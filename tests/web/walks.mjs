/* SPDX-License-Identifier: Apache-2.0
 * walks.mjs: the main walks of every page, which the quick run of scripts/test takes; all other cases follow with
 * --all. By file of cases/, then how the name of the case begins; each has to name one case. */

export const MAIN_WALKS = {
  walk: ['the seed: from Home to the largest buffer, by mouse', 'the seed: the same by keyboard'],
  home: [
    'each session has its worst figure',
    'the demo fits no v5e',
    'filter and order stand in the URL',
    'a bare address opens the newest',
    'a new session is announced',
  ],
  home_pasted: [
    'a text dropped or pasted is named',
    'the verdict of a pasted text and a dropped profile',
    'a text typed into the box',
  ],
  live: ['the page of a run follows'],
  export: ['the file shows the module'],
  choose: ['modules are listed largest first', 'the token of a link'],
  empty: ['an empty folder says', 'a daemon that goes away is named'],
  accessibility: ['nothing is found on Home, with sessions, empty and with its dialogs, light'],
  /* the Memory Viewer */
  figures: ['the seed dump opens by itself', 'the demo shows 33.49 GiB', 'large trace'],
  capacity: ['as recorded: over by'],
  moment: ['a click on the curve sets the moment', 'a drag selects a window'],
  state: ['hover lights the buffer', 'the pane tells size', 'a click pins'],
  table: [
    'a header sorts by click',
    'a filter typed after /',
    'groups open to their buffers',
    'chosen rows are copied',
  ],
  map: ['wheel, keys and double click zoom'],
  rectangle: ['a rectangle of the URL'],
  patterns: ['a pattern has its sentence', 'its buffers are shown'],
  saving: ['what saves most', 'a buffer that is pinned says what it saves'],
  confirm: ['the compiler confirms', 'a compile that hangs'],
  whatif: ['v opens the changes', 'Fit lists at most five sets'],
  code: ['keys walk the tree', 'from a buffer to what it was made of'],
  explain: ['the needed figure opens by click'],
  pictures: ['the curve as SVG'],
  frame: ['the palette opens by key'],
  touch: ['a tap pins a bar'],
  look: ['nothing hangs over at 390 × 844'],
  fleet: ['a line a job with its capacity', 'a regression has the sentence of diff', 'a link shows the same again'],
  /* the Memory Profile */
  profile: [
    'peak, capacity and lifetime peak',
    'a click on the timeline is a moment',
    'grouped by op',
    'a drag selects a window',
  ],
  profile_states: [
    'growth: the leak of 1 MiB',
    'a launch leads to its plan',
    'addresses: blocks and holes',
    'no memory events',
  ],
  /* Device Memory */
  device: [
    'the page opens on a sentence',
    'a click pins and zooms',
    'a search lights',
    'filters are chips',
    'the sandwich has',
  ],
  device_files: ['with machinery on and functions merged', 'the leak: the first row', 'two points of the series'],
  stacks: ['a snapshot: from the Memory Profile'],
  torch_walk: ['systems-train is dropped', 'the OOM page of a request that failed'],
  /* Compare */
  compare: [
    'two commits: the sentence',
    'the waterfall leads',
    'tabs say how many',
    'what is shown becomes A',
    'two device profiles: the sentence',
  ],
  /* all modules of a session */
  modules: ['a row a module', '≠ opens the hosts', 'Enter opens the module', 'a damaged module says why'],
  /* an error text, and what is dropped */
  blocks: ['a session without an error text has', 'two pieces of advice are ticked'],
  oom_screen: ['the answer, one bar and what makes it fit are on the first screen of 1280'],
  oom: ['one buffer larger than the memory', 'enough is free, but in pieces', 'without any text the field comes first'],
  oom_report: ['the parts of a report add up', 'figures and text light each other'],
  oom_plan: ['the verdict of a dump leads to its program'],
  dropped: [
    'the files of a dump open',
    'one HLO file opens',
    'several profiles are a series',
    'a folder that is dropped',
  ],
};
