#!/usr/bin/env node
// page.mjs: how fast a page is in the browser, against the budgets of the page.
//   TL_PAGE_MODULES=build/page node bench/page.mjs page.html [page.html...]
// Opens every page five times in Chromium (1,280 x 800, no GPU) and prints medians; the frames of panning are
// those of all runs together. Needs what `./test page` installs below build/page. Run it on a machine at rest:
// the times are the wall's. Beside them stands the processor's time of the page's main thread, which others do
// not lengthen much.
import {statSync} from 'node:fs';
import {basename} from 'node:path';
import {openFile, startBrowser} from '../tests/page/browser/browser.mjs';

const kRuns = Number(process.env.TL_RUNS ?? 5), kMoves = 120;
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const percentile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

/** Keeps when a view was drawn, and how long each frame's work takes. */
function watch() {
  const all = /** @type {any} */ (window);
  all.drawnAt = {};
  all.frames = [];
  new MutationObserver(() => {
    if (!all.drawnAt.verdict && document.querySelector('.verdict')) requestAnimationFrame(() => { all.drawnAt.verdict ??= performance.now(); });
    const view = document.getElementById('main')?.dataset.drawn;
    if (view && !(view in all.drawnAt)) requestAnimationFrame(() => { all.drawnAt[view] ??= performance.now(); });
  }).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ['data-drawn']});
  const ask = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (work) => ask((now) => {
    const began = performance.now();
    work(now);
    all.frames.push(performance.now() - began);
  });
}

/** Asks for the processor's time of the main thread, in ms. */
async function clockOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', {timeDomain: 'threadTicks'});
  return async () => {
    const {metrics} = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find(({name}) => name === 'TaskDuration')?.value ?? 0);
  };
}

/** The processor's time of loading the page anew until a view is drawn. */
async function loadTime(opened, view) {
  const clock = await clockOf(opened.page), began = await clock();
  await opened.page.reload();
  await opened.drawn(view);
  return (await clock()) - began;
}

async function measure(browser, file) {
  const seen = {verdict: [], overview: [], timeline: [], frames: [], sort: [], filter: [], heap: [], work: {overview: [], timeline: [], sort: [], filter: []}};
  for (let run = 0; run < kRuns; ++run) {
    let opened = await openFile(browser, file, {prepare: watch});
    await opened.page.waitForFunction(() => /** @type {any} */ (window).drawnAt.overview);
    seen.verdict.push(await opened.page.evaluate(() => /** @type {any} */ (window).drawnAt.verdict));
    seen.overview.push(await opened.page.evaluate(() => /** @type {any} */ (window).drawnAt.overview));
    seen.work.overview.push(await loadTime(opened, 'overview'));
    await opened.close();
    opened = await openFile(browser, file, {prepare: watch, hash: '#timeline'});
    const {page} = opened;
    if ((await opened.views()).includes('timeline')) {
      await page.waitForFunction(() => /** @type {any} */ (window).drawnAt.timeline);
      await page.keyboard.press('w');  // answered
      seen.timeline.push(await page.evaluate(() => /** @type {any} */ (window).drawnAt.timeline));
      seen.work.timeline.push(await loadTime(opened, 'timeline'));
      // Panning at three depths, from the whole run on.
      for (let depth = 0; depth < 3; ++depth) {
        for (let press = 0; press < 2; ++press) await page.keyboard.press('w');
        const box = await (await page.$('.tl-layer')).boundingBox(), y = box.y + 60;
        await page.mouse.move(box.x + box.width / 2, y);
        await page.mouse.down();
        await page.evaluate(() => { /** @type {any} */ (window).frames = []; });
        for (let move = 0; move < kMoves / 3; ++move) await page.mouse.move(box.x + box.width / 2 + 200 * Math.sin(move / 6), y);
        seen.frames.push(...await page.evaluate(() => /** @type {any} */ (window).frames));
        await page.mouse.up();
      }
    }
    // The longest table: the first sort and the first filter, with the layout they cause.
    const table = await page.evaluate(() => JSON.parse(document.getElementById('tl-manifest').textContent).tables.sort((a, b) => b.kept - a.kept)[0]);
    await opened.goto('#table/' + table.name);
    seen.rows = table.kept;
    const clock = await clockOf(page);
    let began = await clock();
    const worked = async (of) => {
      const now = await clock();
      of.push(now - began);
      began = now;
    };
    seen.sort.push(await page.evaluate(() => {
      const header = /** @type {HTMLElement} */ (document.querySelector('main th.number button') ?? document.querySelector('main th button')), began = performance.now();
      header.click();
      void document.body.offsetHeight;
      return performance.now() - began;
    }));
    await worked(seen.work.sort);
    seen.filter.push(await page.evaluate(() => {
      const input = /** @type {HTMLInputElement} */ (document.querySelector('main input.filter')), began = performance.now();
      input.value = 'a';
      input.dispatchEvent(new Event('input'));
      void document.body.offsetHeight;
      return performance.now() - began;
    }));
    await worked(seen.work.filter);
    for (const view of await opened.views()) await opened.goto('#' + view);
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    const heap = await session.send('Runtime.getHeapUsage');  // objects, and the bytes of arrays beside them
    seen.heap.push((heap.usedSize + (heap.backingStorageSize ?? 0) + (heap.embedderHeapUsedSize ?? 0)) / 1e6);
    await opened.close();
  }
  return seen;
}

const files = process.argv.slice(2);
if (!files.length) {
  console.error('usage: node bench/page.mjs page.html...');
  process.exit(2);
}
const browser = await startBrowser();
for (const file of files) {
  const seen = await measure(browser, file), {work} = seen;
  const rows = [['size', [statSync(file).size / 1e6], 3, 'MB'], ['overview drawn: verdict, figures, bar', seen.verdict, 400, 'ms'], ['overview complete, with tables for paper', seen.overview, 1000, 'ms', work.overview]];
  if (seen.timeline.length) rows.push(['timeline drawn, keys answered', seen.timeline, 1000, 'ms', work.timeline], ['frame while panning', seen.frames, 16, 'ms']);
  rows.push([`first sort, ${seen.rows} rows`, seen.sort, 50, 'ms', work.sort], [`first filter, ${seen.rows} rows`, seen.filter, 50, 'ms', work.filter], ['heap after all views', seen.heap, 120, 'MB']);
  console.log(`\n${basename(file)}: ${kRuns} runs, ${seen.frames.length} frames\n`);
  console.log('| what | median | 95th percentile | processor, median | budget |  |\n|---|---:|---:|---:|---:|---|');
  const digits = (value) => value.toFixed(value < 10 ? 2 : 0);
  for (const [what, values, budget, unit, processor] of rows)
    console.log(`| ${what} | ${digits(median(values))} ${unit} | ${digits(percentile(values, 0.95))} ${unit} | ${processor?.length ? `${digits(median(processor))} ms` : ''} | ${budget} ${unit} | ${median(values) <= budget ? 'kept' : processor?.length && median(processor) <= budget ? 'kept by the processor' : 'MISSED'} |`);
}
await browser.close();
