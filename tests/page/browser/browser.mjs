// browser.mjs: a browser, and pages in it that are watched: what a page says, loads or lets fail is kept.
import assert from 'node:assert/strict';
import {existsSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

export const kRoot = join(dirname(fileURLToPath(import.meta.url)), '../../..');
// Packages are installed below build/, never in the source tree.
export const packages = createRequire(join(process.env.TL_PAGE_MODULES ?? join(kRoot, 'build/page'), 'from.js'));
const {chromium} = packages('playwright-core');
const kAxe = readFileSync(packages.resolve('axe-core/axe.min.js'), 'utf8');
const kPatience = 60000; // for busy machines; nothing here asserts a time

/** @returns {Promise<any>} */
export async function startBrowser() {
  const program = process.env.TL_CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'].find(existsSync);
  // Root has no sandbox of its own, and containers little shared memory.
  return chromium.launch({
    executablePath: program,
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--js-flags=--expose-gc',
      '--enable-precise-memory-info',
    ],
    timeout: kPatience,
  });
}

/**
 * A page in a window of its own without a network.
 * @param {any} browser @param {string} file @param {{hash?: string, width?: number, height?: number, scheme?: 'light' | 'dark', motion?: boolean, prepare?: () => void}} options prepare: run in the page before its own code
 */
export async function openFile(
  browser,
  file,
  {hash = '', width = 1280, height = 800, scheme = 'light', motion = false, prepare} = {},
) {
  const context = await browser.newContext({
    viewport: {width, height},
    colorScheme: scheme,
    reducedMotion: motion ? 'no-preference' : 'reduce',
    offline: true,
    acceptDownloads: true,
  });
  context.setDefaultTimeout(kPatience);
  const address = pathToFileURL(file).href,
    told = [];
  const page = await context.newPage();
  page.on('console', (message) => told.push(`console: ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => told.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    told.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('popup', () => told.push('popup'));
  page.on('request', (request) => {
    const asked = request.url().split('#')[0];
    if (asked !== address && !asked.startsWith('blob:')) told.push(`request: ${asked}`);
  });
  await page.addInitScript(() => {
    const all = /** @type {any} */ (window);
    all.copied = null;
    all.violations = [];
    document.addEventListener('securitypolicyviolation', (event) =>
      all.violations.push(`${event.violatedDirective} ${event.blockedURI}`),
    );
    // The clipboard of the machine is shared with other tests.
    Object.defineProperty(navigator, 'clipboard', {
      value: {
        writeText: async (text) => {
          all.copied = text;
        },
      },
    });
  });
  if (prepare) await page.addInitScript(prepare);
  const opened = {
    page,
    told,
    address,
    close: () => context.close(),
    /** @param {string} view */
    drawn: (view) => page.waitForFunction((id) => document.getElementById('main')?.dataset.drawn === id, view),
    /** @param {string} to @param {string} view */
    async goto(to, view = to.slice(1).split(/[/?]/)[0]) {
      await page.evaluate(() => {
        const main = document.getElementById('main');
        if (main) delete main.dataset.drawn;
      });
      await page.evaluate((where) => {
        if (location.hash === where) dispatchEvent(new HashChangeEvent('hashchange'));
        else location.hash = where;
      }, to);
      await opened.drawn(view);
    },
    views: () => page.$$eval('nav.tabs a', (links) => links.map((link) => link.getAttribute('href').slice(1))),
    /** @param {string} selector */
    text: (selector) => page.$eval(selector, (node) => node.innerText),
    status: () => page.$eval('#status', (node) => node.textContent),
    /** What the page wrote to the clipboard. @returns {Promise<string>} */
    copied: () =>
      page
        .waitForFunction(() => /** @type {any} */ (window).copied !== null)
        .then(() =>
          page.evaluate(() => {
            const all = /** @type {any} */ (window),
              text = all.copied;
            all.copied = null;
            return text;
          }),
        ),
    /**
     * The address, once it is like that and rests: it follows what is shown after a moment. Told by the page's own
     * timers, which come later on a busy machine as those of the page do.
     * @param {RegExp} pattern @returns {Promise<string>}
     */
    async restingHash(pattern) {
      await page.waitForFunction((source) => new RegExp(source).test(location.hash), pattern.source);
      return page.evaluate(async () => {
        let hash = '';
        for (let same = 0; same < 8; ) {
          await new Promise((done) => setTimeout(done, 100));
          same = location.hash === hash ? same + 1 : 0;
          hash = location.hash;
        }
        return hash;
      });
    },
    async silent() {
      assert.deepEqual(await page.evaluate(() => /** @type {any} */ (window).violations), [], 'the policy was broken');
      assert.deepEqual(told, [], 'the page was not silent');
    },
    /** @returns {Promise<string[]>} what axe finds against WCAG 2.2 A and AA */
    async axe() {
      await page.evaluate(kAxe);
      return page.evaluate(async () => {
        // Rows of a table are alike: five tell, and dozens take axe ten seconds.
        const found = await /** @type {any} */ (window).axe.run(
          {include: [['html']], exclude: [['tr[data-row]:nth-child(n+6)']]},
          {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations']},
        );
        return found.violations.map(
          ({id, nodes}) =>
            `${id}: ${nodes
              .slice(0, 3)
              .map((node) => node.html.slice(0, 160))
              .join(' | ')} (${nodes.length})`,
        );
      });
    },
    /** How much of each canvas in sight is painted, in percent, and a sum of its colours. */
    canvases: () =>
      page.$$eval('main canvas', (all) =>
        all
          .filter((canvas) => canvas.width > 1 && canvas.getBoundingClientRect().top < innerHeight)
          .map((canvas) => {
            const pixels = new Uint32Array(
              canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer,
            );
            // Painted: another colour than the one that most pixels have.
            const seen = new Map();
            let sum = 0;
            for (const pixel of pixels) {
              seen.set(pixel, (seen.get(pixel) ?? 0) + 1);
              sum = (Math.imul(sum, 31) + pixel) >>> 0;
            }
            let blank = 0;
            for (const [pixel, times] of seen) if (pixel >>> 24 === 0) blank += times;
            return {
              label: canvas.getAttribute('aria-label') ?? canvas.className,
              painted: (100 * (pixels.length - blank)) / pixels.length,
              colours: seen.size,
              sum,
            };
          }),
      ),
  };
  await page.goto(address + hash);
  await page.waitForSelector('#main, .notice');
  return opened;
}

/** RFC 4180. @param {string} text @returns {string[][]} */
export function parseCsv(text) {
  const rows = [[]];
  let cell = '',
    quoted = false;
  for (let i = 0; i < text.length; ++i) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') {
        cell += c;
        ++i;
      } else quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === ',' || c === '\n') {
      rows[rows.length - 1].push(cell);
      cell = '';
      if (c === '\n') rows.push([]);
    } else if (c !== '\r') cell += c;
  }
  if (cell !== '') rows[rows.length - 1].push(cell);
  return rows.filter((row) => row.length);
}
