// Every view of every page: reached by click, by key and by its address; silent, without a network, in both
// colour schemes, at 360 and 1280 pixels, and without a finding of axe.
import assert from 'node:assert/strict';
import {after, before, describe, it} from 'node:test';
import {openFile, startBrowser} from './browser.mjs';
import {kTestedPages, pageFile} from './pages.mjs';

let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

/** The views that a page must have; others may be there. */
const kExpected = {
  gpt: ['overview', 'timeline', 'tree', 'ops', 'kernels', 'roofline', 'table', 'about'],
  zoo: ['overview', 'timeline', 'tree', 'ops', 'kernels', 'roofline', 'table', 'about'],
  streams: ['overview', 'timeline', 'ops', 'kernels'],
  jax: ['overview', 'timeline', 'ops', 'kernels'],
  rocprof: ['overview', 'timeline', 'kernels'],
  ranks: ['overview', 'timeline', 'ranks'],
  memory: ['overview', 'timeline', 'memory'],
  diff: ['overview', 'timeline', 'diff'],
  compare: ['overview', 'diff'],
  empty: ['overview', 'table', 'about'],
  gpu_only: ['overview', 'timeline', 'kernels'],
};
/** Axe takes a second per view: once per kind of page, dark where all colours of work are; tables and columns look alike everywhere. */
const kAxePages = ['gpt', 'jax', 'rocprof', 'memory', 'ranks', 'diff', 'empty'],
  kDarkAxePages = ['gpt', 'ranks', 'diff'];
const wantsAxe = (pages, name, view) =>
  pages.includes(name) && (name === 'gpt' || (view !== 'table' && view !== 'about'));

const widthProblem = () => {
  const root = document.documentElement;
  if (root.scrollWidth <= innerWidth) return '';
  // What scrolls by itself is no problem.
  const scrolls = (node) => {
    for (let at = node.parentElement; at && at !== document.body; at = at.parentElement)
      if (getComputedStyle(at).overflowX !== 'visible') return true;
    return false;
  };
  const wide = [...document.querySelectorAll('body *')].filter(
    (node) => node.getBoundingClientRect().right > innerWidth + 1 && !scrolls(node),
  );
  return `${root.scrollWidth} pixels wide: ${wide
    .slice(0, 4)
    .map((node) => `${node.tagName}.${node.getAttribute('class')}`)
    .join(', ')}`;
};
const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

for (const name of kTestedPages.filter((page) => page !== 'redacted')) {
  // as gpt, see safety.test.mjs
  describe(`page ${name}`, () => {
    const canvases = {};

    it('every view by click and by key, light and wide', async () => {
      const opened = await openFile(browser, pageFile(name), {motion: true}),
        {page} = opened,
        views = await opened.views(),
        found = [];
      for (const view of kExpected[name] ?? ['overview', 'about'])
        assert.ok(views.includes(view), `${view} is missing: ${views}`);
      assert.equal(await page.$$eval('h1', (all) => all.length), 1);
      await opened.drawn('overview');
      for (const [i, view] of views.entries()) {
        if (i < 9) {
          await page.keyboard.press(String(i + 1));
          await opened.drawn(view);
          assert.equal(
            await page.$eval('nav.tabs a[aria-current=page]', (link) => link.getAttribute('href')),
            '#' + view,
            `key ${i + 1}`,
          );
          await page.keyboard.press(i ? '1' : '2');
          await opened.drawn(views[i ? 0 : 1]);
        }
        await page.click(`nav.tabs a[href="#${view}"]`);
        await opened.drawn(view);
        assert.equal(
          await page.$eval('nav.tabs a[aria-current=page]', (link) => link.getAttribute('href')),
          '#' + view,
        );
        assert.ok((await opened.text('main')).trim().length > 20, `${view} is empty`);
        assert.deepEqual(
          await page.$$eval('main .notice[role=alert]', (all) => all.map((node) => node.textContent)),
          [],
          view,
        );
        await page.evaluate(frames);
        canvases[view] = await opened.canvases();
        if (wantsAxe(kAxePages, name, view))
          for (const problem of await opened.axe()) found.push(`${view}: ${problem}`);
      }
      await opened.silent();
      await opened.close();
      assert.deepEqual(found, []);
    });

    it('its address gives every view again, dark and narrow', async () => {
      const opened = await openFile(browser, pageFile(name), {scheme: 'dark'}),
        {page} = opened,
        found = [],
        narrow = [];
      let differ = false,
        painted = 0;
      assert.equal(await page.$eval('html', (root) => root.dataset.theme), 'dark');
      for (const view of await opened.views()) {
        await page.setViewportSize({width: 1280, height: 800});
        await opened.goto('#' + view);
        await page.evaluate(frames);
        if (wantsAxe(kDarkAxePages, name, view))
          for (const problem of await opened.axe()) found.push(`${view}: ${problem}`);
        const dark = await opened.canvases(),
          light = canvases[view] ?? [];
        assert.equal(light.length, dark.length, view);
        dark.forEach((canvas, i) => {
          // A lane with one short kernel is nearly blank, and one that is full has no paper in it.
          assert.ok(canvas.painted > 0 && light[i].painted > 0, `${view}: nothing in ${canvas.label}`);
          if (canvas.sum !== light[i].sum) differ = true;
          ++painted;
        });
        await page.setViewportSize({width: 360, height: 740});
        await opened.goto('#' + view);
        await page.evaluate(frames); // tables fit their width when they stand
        const first = await opened.text('main'),
          problem = await page.evaluate(widthProblem);
        if (problem) narrow.push(`${view}: ${problem}`);
        await page.reload();
        await opened.drawn(view);
        await page.evaluate(frames);
        assert.equal(await opened.text('main'), first, `${view} after a reload`);
      }
      await opened.silent();
      await opened.close();
      assert.deepEqual(found, []);
      assert.deepEqual(narrow, []);
      assert.ok(differ || !painted, 'the pictures are the same in light and dark');
    });
  });
}
