/* SPDX-License-Identifier: Apache-2.0
 * stacks.mjs: allocator snapshots of PyTorch in Device Memory: the line that holds most at the peak, other moments, and
 * the way there from the Memory Profile and back. Snapshots and sums are those of tests/golden. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goTo } from '../acts.mjs';
import { idle, text } from '../harness.mjs';

const GOLDEN = join(dirname(fileURLToPath(import.meta.url)), '../../golden');
/* Writes a snapshot of one device; prints, at the peak and at the end, bytes in use, blocks, and the person's own line
   that
 * holds most: a name, a file's last part and a line. */
const MAKE = `
import collections, json, pickle, sys
sys.path.insert(0, sys.argv[1])
import made_snapshots, torch_stacks
one = made_snapshots.annotated(made_snapshots.made(11, 1, 700, 10**6))
one["device_traces"] = [trace[:-5] for trace in one["device_traces"]]
pickle.dump(one, open(sys.argv[2], "wb"), protocol=4)
rows = torch_stacks.changes(one, 0)
before, own = torch_stacks.told(one, 0, rows)
def of(end):
    live = torch_stacks.live_at(before, own, rows, end)
    lines = collections.Counter()
    for (stack, size), many in live.items():
        mine = [frame for frame in stack if frame[1].endswith(".py") and "-packages/" not in frame[1]]
        lines[mine[0] if mine else ("(no user frame)", "", 0)] += size * many
    (name, file, line), most = (lines.most_common(1) or [(("", "", 0), 0)])[0]
    return {"total": sum(size * many for (_, size), many in live.items()), "count": sum(live.values()), "most": most,
            "name": name, "place": f"{file.rpartition('/')[2]}:{line}"}
level = [of(end)["total"] for end in range(len(rows) + 1)]
peak = max(range(1, len(rows) + 1), key=lambda at: (level[at], -at))
print(json.dumps({"peak": of(peak), "end": of(len(rows))}))
`;

export function run({ test, equal, includes, truth, daemon, open }) {
  const bytes = (value) =>
    value >= 2 ** 20 ? `${(value / 2 ** 20).toFixed(2)} MiB` : `${(value / 1024).toFixed(1)} KiB`;
  const serve = async (act) => {
    const folder = mkdtempSync(join(tmpdir(), 'stacks-'));
    try {
      const known = JSON.parse(
        execFileSync('python3', ['-B', '-c', MAKE, GOLDEN, join(folder, 'rank0.pickle')], { encoding: 'utf8' }),
      );
      await act(await daemon(`--logdir=${folder}`), known);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  /* In the list of lines, by what each holds itself. */
  const holds = async (page, { total, count, most, name, place }) => {
    includes(await text(page, 'h1'), `${bytes(total)} in use on GPU 0 of rank0 at the`);
    includes(await text(page, 'h1'), `${count} blocks.`);
    const found = page.locator('.panel-top tbody tr[data-id]').first().locator('td, th');
    await found.last().waitFor(); /* rows come a frame behind the sentence */
    const cells = await found.allInnerTexts();
    equal(cells[0].trim(), bytes(most).split(' ')[0]);
    includes(cells.join(' '), name);
    includes(cells.join(' '), place);
  };

  test('a snapshot: from the Memory Profile to the line of code that holds most at the peak, and back', () =>
    serve(async (base, known) => {
      const page = await open(`${base}?tool=memory_profile`);
      await page.locator('.panel-live .see-why').click();
      await idle(page);
      truth(/a=[0-9a-f]{12}@peak/.test(page.url()), page.url());
      includes(await page.locator('.panel-flame').innerText(), 'Flame graph');
      await goTo(page, `${new URL(page.url()).search}&view=top&sort=-self`);
      await holds(page, known.peak);
      await page.locator('.device-largest .site-button').first().click();
      await idle(page);
      includes(await text(page, '#details'), 'Pinned frame');
      await page.locator('.device-standing a').click();
      await idle(page);
      includes(page.url(), 'tool=memory_profile');
      includes(await text(page, 'h1'), 'reached');
      await page.finish();
    }));

  test('a snapshot: another moment is chosen from a list or typed, and two make a difference', () =>
    serve(async (base, known) => {
      const page = await open(`${base}?tool=device_memory&view=top&sort=-self`);
      await page.locator('.device-profiles .selector-button').first().click();
      await page.locator('.selector-option', { hasText: 'the end' }).click();
      await idle(page);
      await holds(page, known.end);
      await page.locator('.device-profiles .selector-button').last().click();
      await page.locator('.selector-option', { hasText: 'the peak' }).click();
      await idle(page);
      includes(
        await text(page, 'h1'),
        `from the peak, ${bytes(known.peak.total)}, to the end, ${bytes(known.end.total)}`,
      );
      equal(await page.locator('.device-standing a').count(), 2);
      await page.locator('.device-profiles .selector-button').first().click();
      await page.keyboard.type('1.5 ms');
      await page.locator('.selector-option', { hasText: 'at 1.5 ms' }).click();
      await idle(page);
      includes(page.url(), '@1.5ms');
      await page.finish();
    }));
}
