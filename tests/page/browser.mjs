// Opens pages in Chromium and checks what must hold for every page, whatever is in it:
//   npm ci && node browser.mjs report.html [more.html ...] [--shots FOLDER]
// no message, no error, no request but the file itself; every view by click, by key and after a reload; nothing wider
// than the window; few rows in the document; no violation of WCAG A or AA. In both themes, wide and narrow.
import {readFileSync, mkdirSync} from 'node:fs';
import {createRequire} from 'node:module';
import {basename, join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

const require = createRequire(import.meta.url);
const options = process.argv.slice(2),
  at = options.indexOf('--shots');
const shots = at < 0 ? null : options.splice(at, 2)[1];
if (shots) mkdirSync(shots, {recursive: true});

let chromium, axe;
try {
  ({chromium} = require('playwright-core'));
  axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
} catch {
  console.log('skipped: npm ci was not run in tests/page');
  process.exit(0);
}

let failures = 0;
const fail = (where, what) => {
  ++failures;
  console.log(`FAIL ${where}: ${what}`);
};
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});

async function checkView(page, where) {
  const {wide, rows, notice} = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    rows: document.querySelectorAll('tr[data-row]').length,
    notice: document.querySelector('main .notice[role=alert]')?.textContent,
  }));
  if (wide > 0) fail(where, `${wide} pixels wider than the window`);
  if (rows > 200) fail(where, `${rows} rows of tables in the document`);
  if (notice) fail(where, notice);
  const {violations} = await page.evaluate(() =>
    globalThis.axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}),
  );
  for (const {id, help, nodes} of violations)
    fail(where, `axe ${id}: ${help} (${nodes.length}): ${nodes[0].target} ${nodes[0].html.slice(0, 120)}`);
}

async function checkPage(file, colorScheme, width) {
  const context = await browser.newContext({
    viewport: {width, height: 800},
    colorScheme,
    offline: true,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage(),
    url = pathToFileURL(resolve(file)).href,
    title = `${basename(file)} ${colorScheme} ${width}`;
  page.on('console', (message) => fail(title, `console: ${message.text()}`));
  page.on('pageerror', (error) => fail(title, `error: ${error.message}`));
  page.on('request', (request) => request.url().split('#')[0] !== url && fail(title, `request: ${request.url()}`));
  const drawn = (view) =>
    page
      .waitForFunction((id) => document.querySelector('main')?.dataset.drawn === id, view, {timeout: 15000})
      .catch(() => fail(`${title} #${view}`, 'not drawn'));
  await page.goto(url);
  await drawn('overview');
  await page.evaluate(axe);
  const views = await page.$$eval('.tabs a', (links) => links.map((link) => link.getAttribute('href').slice(1)));
  for (const [i, view] of views.entries()) {
    await page.click(`.tabs a[href="#${view}"]`);
    await drawn(view);
    await page.waitForTimeout(200);
    await checkView(page, `${title} #${view}`);
    if (shots)
      await page.screenshot({
        path: join(shots, `${basename(file, '.html')}_${view}_${colorScheme}_${width}.png`),
        fullPage: view === 'overview',
      });
    if (width < 1000 || colorScheme === 'dark') continue;
    if (i < 9) {
      await page.click('.tabs a >> nth=0');
      await drawn('overview');
      await page.keyboard.press(String(i + 1));
      await drawn(view);
    }
    for (const toggle of (await page.$$('.picture-toggle')).slice(0, 1)) {
      await page.keyboard.press('t');
      await page
        .waitForSelector('.picture .grid', {timeout: 5000})
        .catch(() => fail(`${title} #${view}`, 't gives no table'));
      await page.keyboard.press('c');
      await page.waitForTimeout(100);
      if (!(await page.evaluate(() => navigator.clipboard.readText())).includes('\n'))
        fail(`${title} #${view}`, 'c copies no table');
      await toggle.click().catch(() => {});
    }
    await page.reload();
    await drawn(view);
    await page.evaluate(axe);
  }
  await context.close();
}

for (const file of options)
  for (const theme of ['light', 'dark']) for (const width of [1280, 360]) await checkPage(file, theme, width);
await browser.close();
console.log(failures ? `${failures} failures` : `${options.length} pages: good`);
process.exit(failures ? 1 : 0);
