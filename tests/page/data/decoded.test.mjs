// decoded.test.mjs: the reader decodes what the writer wrote: every table of a page, copied as CSV, is the file of
// the same report, byte for byte. No browser is needed.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';
import {pageOf} from '../../../web/data.js';
import {csvOf} from '../../../web/text.js';

const kRoot = fileURLToPath(new URL('../../..', import.meta.url));
const kProgram = process.env.TRACELENS ?? join(kRoot, 'build/check/apps/tracelens/tracelens');

function readPage(file) {
  const text = readFileSync(file, 'utf8');
  const element = (id) => new RegExp(`<script[^>]* id="${id}">([^<]*)`).exec(text)?.[1] ?? null;
  return pageOf(JSON.parse(element('tl-manifest')), (blob) => element('tl-b' + blob));
}

for (const trace of ['h200_gpt_train_amp.json.gz', 'jax_transformer_xla.xplane.pb.gz', 'rocprof_results.json.gz'])
  test(`the page of ${trace} holds the tables of its report`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tracelens-page-'));
    try {
      for (const output of ['page.html', 'tables/'])
        execFileSync(kProgram, ['report', join(kRoot, 'tests/data', trace), '--quiet', '-o', join(folder, output)]);
      const page = readPage(join(folder, 'page.html'));
      let compared = 0;
      for (const {name} of page.manifest.tables) {
        const file = join(folder, 'tables', name + '.csv');
        const table = await page.table(name);
        if (!existsSync(file) || table.rows < table.allRows) continue; // of pages alone, or cut
        const rows = Array.from({length: table.rows}, (_, row) => row);
        assert.equal(csvOf(table.columns, rows).trimEnd(), readFileSync(file, 'utf8').trimEnd(), name);
        ++compared;
      }
      assert.ok(compared > 5, `${compared} tables`);
      for (const [i, {slices, runs}] of page.manifest.lanes.entries()) {
        const lane = await page.lane(i);
        assert.equal(lane.start.length, slices);
        assert.equal(lane.runs.start.length, runs);
      }
      await page.ops();
      await page.nodes();
    } finally {
      rmSync(folder, {recursive: true});
    }
  });
