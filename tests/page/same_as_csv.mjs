// The reader decodes what the writer wrote: every table of a page, copied as CSV, is the file of the same report.
//   tracelens report TRACE -o page.html && tracelens report TRACE -o tables/ && node same_as_csv.mjs page.html tables/
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pageOf} from '../../web/data.js';
import {csvOf} from '../../web/text.js';

const [html, folder] = process.argv.slice(2),
  text = readFileSync(html, 'utf8');
const element = (id) => new RegExp(`<script[^>]* id="${id}">([^<]*)`).exec(text)?.[1] ?? null;
const page = pageOf(JSON.parse(element('tl-manifest')), (blob) => element('tl-b' + blob));
let compared = 0,
  different = 0;
for (const {name} of page.manifest.tables) {
  const file = join(folder, name + '.csv');
  if (!existsSync(file)) continue;
  const table = await page.table(name),
    ours = csvOf(
      table.columns,
      Array.from({length: table.rows}, (_, row) => row),
    ).split('\n');
  const theirs = readFileSync(file, 'utf8').split('\n'),
    at = table.rows === table.allRows ? ours.findIndex((line, i) => line !== theirs[i]) : -1;
  ++compared;
  if (at < 0) continue;
  ++different;
  console.log(`FAIL ${name}, line ${at + 1}:\n  page ${ours[at]?.slice(0, 200)}\n  file ${theirs[at]?.slice(0, 200)}`);
}
for (const [i] of page.manifest.lanes.entries()) await page.lane(i);
await page.ops();
await page.nodes();
console.log(
  `${compared} tables, ${page.manifest.lanes.length} lanes: ${different ? `${different} different` : 'good'}`,
);
process.exit(different || !compared ? 1 : 0);
