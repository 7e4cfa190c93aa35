/* SPDX-License-Identifier: Apache-2.0
 * snapshots.mjs: allocator snapshots of PyTorch in the Memory Profile: what is live with its stack, ranks of a job, and
 * a pickle that is none. Snapshots are those of tests/golden/made_snapshots.py; what they hold is told from there. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { idle, text } from '../harness.mjs';

const GOLDEN = join(dirname(fileURLToPath(import.meta.url)), '../../golden');
/* Writes snapshots into folders, and prints the sums of blocks that are in use at the end of each device. */
const MAKE = `
import json, pickle, sys
sys.path.insert(0, sys.argv[1])
import made_snapshots
one = made_snapshots.made(4, 2, 300, 250)
for name in sys.argv[2:4]:
    pickle.dump(one, open(name, "wb"), protocol=4)
open(sys.argv[4], "wb").write(made_snapshots.REFUSED["a function"])
print(json.dumps([sum(block["requested_size"] for segment in one["segments"] if segment["device"] == device for block in segment["blocks"]
                      if block["state"] != "inactive") for device in range(2)]))
`;

export function run({ test, includes, truth, daemon, open }) {
  const made = () => {
    const folder = mkdtempSync(join(tmpdir(), 'snapshots-'));
    for (const name of ['job', 'none']) mkdirSync(join(folder, name));
    const files = ['job/rank0.pickle', 'job/rank1.pickle', 'none/model.pickle'].map((name) => join(folder, name));
    const active = JSON.parse(execFileSync('python3', ['-B', '-c', MAKE, GOLDEN, ...files], { encoding: 'utf8' }));
    return { folder, active };
  };

  test('snapshots: what is live has the stack of who asked for it, and ranks stand side by side', async () => {
    const { folder, active } = made();
    try {
      const page = await open(`${await daemon(`--logdir=${join(folder, 'job')}`)}?tool=memory_profile`);
      includes(await text(page, 'h1'), 'GPU');
      const ids = await page.locator('body').innerText();
      for (const name of ['rank0 GPU 0', 'rank0 GPU 1', 'rank1 GPU 0', 'rank1 GPU 1']) includes(ids, name);
      const details = await text(page, '#details');
      includes(details, 'free in segments at peak');
      truth(active.some((bytes) => details.replaceAll(',', '').includes(String(bytes))), `last of ${active} in ${details}`);
      await page.locator('.panel-live tbody tr:not(:has(.inferred))').first().click();
      await idle(page);
      const pinned = await text(page, '#details');
      includes(pinned, 'stack frame');
      await page.locator('#details .folded summary').first().click().catch(() => {});
      includes(await page.locator('#details').innerText(), '.py:');
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('snapshots: a pickle that would run code is named with the opcode and its place', async () => {
    const { folder } = made();
    try {
      const page = await open(`${await daemon(`--logdir=${join(folder, 'none')}`)}?tool=memory_profile`, { allow: /Failed to load resource/ });
      const said = await page.locator('body').innerText();
      includes(said, 'opcode STACK_GLOBAL');
      includes(said, 'byte ');
      await page.finish();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
