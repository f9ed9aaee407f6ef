// What the page says is what the tables say: figures, search, links, copies, sorting, the timeline and its sums.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {after, before, describe, it} from 'node:test';
import {openFile, parseCsv, startBrowser} from './browser.mjs';
import {kPages, kTestedPages, pageFile, reportOf} from './pages.mjs';

let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

const tests = (name, what) => describe(what, {skip: !kTestedPages.includes(name)}, () => kTests[name]());
/** @param {any} report @param {string} table @param {string} column */
function cellsOf(report, table, column) {
  const {columns, rows} = report.tables.find(({name}) => name === table),
    at = columns.findIndex(({name}) => name === column);
  assert.ok(at >= 0, `${table} has no ${column}`);
  return rows.map((row) => row[at]);
}
const sum = (values) => values.reduce((total, value) => total + (value ?? 0), 0);

const kTests = {
  gpt() {
    it('the overview has the figures of the run', async () => {
      const opened = await openFile(browser, pageFile('gpt'));
      await opened.drawn('overview');
      const text = await opened.text('main');
      for (const figure of ['109.30', '21.2', '78.8', '2,126', 'H200'])
        assert.ok(text.includes(figure), `${figure} is not in the overview`);
      await opened.silent();
      await opened.close();
    });

    it('evidence of a finding marks rows, and Back returns', async () => {
      const opened = await openFile(browser, pageFile('gpt')),
        {page} = opened;
      await opened.drawn('overview');
      await page.click('.finding button:has-text("Show evidence") >> nth=0');
      await opened.drawn('table');
      await page.waitForSelector('tr.marked');
      assert.match(await page.evaluate(() => location.hash), /^#table\/\w+\?mark=[0-9a-f]{8}.*&cols=/);
      assert.ok((await page.$$('th.cited')).length > 0, 'the column it is about is not shown');
      await page.goBack();
      await opened.drawn('overview');
      await opened.silent();
      await opened.close();
    });

    it('search counts what the table has', async () => {
      const opened = await openFile(browser, pageFile('gpt')),
        {page} = opened;
      await opened.drawn('overview');
      const report = reportOf('gpt'),
        names = cellsOf(report, 'kernel_summary', 'Kernel name'),
        found = names.map((name, i) => [name, i]).filter(([name]) => name.toLowerCase().includes('nvjet'));
      const times = cellsOf(report, 'kernel_summary', 'Kernel duration (µs)_sum');
      await page.keyboard.press('/');
      await page.keyboard.type('NVJET');
      await page.waitForSelector('#hits .hit');
      const heading = await page.$eval(
        '#hits [aria-label=Kernels] .hit-group',
        (node) => node.lastElementChild.textContent,
      );
      assert.equal(Number(heading.split(' ')[0].replace(/,/g, '')), new Set(found.map(([name]) => name)).size, heading);
      assert.equal(
        parseFloat(heading.split('· ')[1]).toPrecision(2),
        (sum(found.map(([, i]) => times[i])) / 1000).toPrecision(2),
        heading,
      );
      // The same words in the filter of the table.
      await opened.goto('#table/kernel_summary?f=nvjet');
      const shown = await opened.text('.tally');
      assert.equal(shown, `${found.length} of ${names.length} rows`);
      // Words in any order, all must occur.
      await page.keyboard.press('/');
      await page.fill('.search-input', 'softmax log aten');
      await page.waitForFunction(() =>
        document.querySelector('#hits [aria-label=Ops] .hit')?.textContent.includes('_log_softmax'),
      );
      await opened.silent();
      await opened.close();
    });

    it('a copy is the table', async () => {
      const opened = await openFile(browser, pageFile('gpt')),
        {page} = opened,
        report = reportOf('gpt');
      for (const name of ['kernel_summary', 'ops_summary', 'unified_perf_summary']) {
        await opened.goto('#table/' + name);
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.click('button:has-text("Download")'),
        ]);
        const [header, ...rows] = parseCsv(readFileSync(await download.path(), 'utf8')),
          table = report.tables.find((one) => one.name === name);
        assert.deepEqual(
          header,
          table.columns.map((column) => column.name),
        );
        assert.equal(rows.length, table.rows.length);
        rows.forEach((row, r) =>
          row.forEach((cell, c) => {
            const value = table.rows[r][c];
            if (value === null) assert.equal(cell, '');
            else if (typeof value === 'number') assert.equal(Number(cell), value, `${name} row ${r}, ${header[c]}`);
            else if (typeof value === 'string') assert.equal(cell.replace(/^'(?=[=+\-@])/, ''), value);
          }),
        );
      }
      // What is shown, as it is filtered and sorted; by key as by button.
      await opened.goto('#table/kernel_summary?f=nvjet&sort=-Kernel duration (µs)_count'.replace(/ /g, '%20'));
      await page.click('button:has-text("Copy CSV")');
      const [header, ...rows] = parseCsv(await opened.copied()),
        counts = rows.map((row) => Number(row[header.indexOf('Kernel duration (µs)_count')]));
      assert.ok(rows.length > 1 && rows.every((row) => row.some((cell) => cell.includes('nvjet'))));
      assert.deepEqual(
        counts,
        [...counts].sort((a, b) => b - a),
      );
      await page.keyboard.press('c');
      assert.deepEqual(parseCsv(await opened.copied()), [header, ...rows]);
      await page.keyboard.press('C');
      assert.match(await opened.copied(), /^\| .* \|\n\|[ :|-]+\|\n/);
      await opened.silent();
      await opened.close();
    });

    it('a sort is stable, missing cells stand last, and the third click gives the first order back', async () => {
      const opened = await openFile(browser, pageFile('gpt'), {hash: '#table/unified_perf_summary'}),
        {page} = opened;
      await opened.drawn('table');
      const all = async () => {
        await page.keyboard.press('c');
        return parseCsv(await opened.copied());
      };
      const [header, ...first] = await all(),
        at = header.indexOf('op category');
      assert.ok(at >= 0, header.join());
      const places = new Map(first.map((row, i) => [row.join('\t'), i]));
      await page.click('th button:text-is("op category")');
      assert.equal(await page.$eval('th[aria-sort=ascending]', (cell) => cell.textContent), 'op category');
      const [, ...sorted] = await all();
      for (let i = 1; i < sorted.length; ++i) {
        assert.ok(sorted[i - 1][at] <= sorted[i][at]);
        if (sorted[i - 1][at] === sorted[i][at])
          assert.ok(
            places.get(sorted[i - 1].join('\t')) <= places.get(sorted[i].join('\t')),
            'equal rows changed places',
          );
      }
      await page.click('th button:text-is("op category")');
      await page.click('th button:text-is("op category")');
      assert.deepEqual(await all(), [header, ...first]);
      const rate = header.findIndex((name) => /TFLOPS|Roofline/.test(name));
      if (rate >= 0) {
        await page.click(`th button:has-text("${header[rate]}") >> nth=0`);
        const [, ...byRate] = await all(),
          cells = byRate.map((row) => row[rate]),
          missing = cells.indexOf('');
        if (missing >= 0)
          assert.ok(
            cells.slice(missing).every((cell) => cell === ''),
            'missing cells do not stand last',
          );
      }
      await opened.silent();
      await opened.close();
    });

    it('an event of a link is shown, and Enter opens its details', async () => {
      const opened = await openFile(browser, pageFile('gpt')),
        {page} = opened;
      const lane = await page.evaluate(
        () => JSON.parse(document.getElementById('tl-manifest').textContent).lanes.find(({kind}) => kind === 'gpu').id,
      );
      await opened.goto(`#timeline?sel=${lane}:14956`);
      await page.waitForSelector('#drawer:not([hidden])');
      await page.keyboard.press('Escape');
      await page.waitForSelector('#drawer', {state: 'hidden'});
      await page.keyboard.press('f');
      await page.keyboard.press('Enter');
      await page.waitForSelector('#drawer:not([hidden])');
      const text = await opened.text('#drawer');
      for (const part of ['221.727 µs', 'aten::_log_softmax', 'GPT_0', '14956'])
        assert.ok(text.includes(part), `${part} is not in: ${text}`);
      // The address holds the window and the selection.
      const hash = await opened.restingHash(/t=\d+-\d+/);
      assert.match(hash, new RegExp(`sel=${lane}:14956`));
      assert.match(hash, /t=\d+-\d+/);
      const readout = await opened.text('.tl-readout');
      await page.reload();
      await opened.drawn('timeline');
      await page.waitForFunction((text) => document.querySelector('.tl-readout').textContent === text, readout);
      // The next slice is another one, and the one before it the same again.
      await page.click('#drawer button[aria-label="Close details"]');
      await page.keyboard.press('.');
      await page.keyboard.press(',');
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => document.getElementById('drawer').innerText.includes('221.727'));
      await opened.silent();
      await opened.close();
    });

    it('sums over everything are those of the tables', async () => {
      const opened = await openFile(browser, pageFile('gpt'), {hash: '#timeline'}),
        {page} = opened,
        report = reportOf('gpt');
      await opened.drawn('timeline');
      await page.keyboard.press('r');
      await page.waitForSelector('.tl-panel:not([hidden])');
      const busy = cellsOf(report, 'gpu_timeline', 'time ms')[
          cellsOf(report, 'gpu_timeline', 'type').indexOf('busy_time')
        ],
        text = await opened.text('.tl-panel');
      assert.equal(busy, 23.219182);
      assert.ok(text.includes('23.219182 ms'), text);
      assert.ok(text.includes('1,996'), text);
      assert.ok(text.includes('130 copies and fills'), text);
      await page.hover('.tl-panel .tools .buttons');
      await page.click('.tl-panel button:has-text("Copy CSV")');
      const [header, ...rows] = parseCsv(await opened.copied()),
        column = (name) => rows.map((row) => Number(row[header.indexOf(name)]));
      assert.equal(sum(column('count')), 2126);
      const least = column('least'),
        mean = column('mean'),
        most = column('most');
      rows.forEach((_, i) => assert.ok(least[i] <= mean[i] + 1e-9 && mean[i] <= most[i] + 1e-9));
      // The same by hand: Shift and a drag over all of it.
      await page.keyboard.press('Escape');
      await page.waitForSelector('.tl-panel', {state: 'hidden'});
      const box = await (await page.$('.tl-layer')).boundingBox();
      await page.keyboard.down('Shift');
      await page.mouse.move(box.x + 1, box.y + 40);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 2, box.y + 50);
      await page.mouse.move(box.x + box.width + 40, box.y + 50);
      await page.mouse.up();
      await page.keyboard.up('Shift');
      await page.waitForSelector('.tl-panel:not([hidden])');
      assert.match(await opened.text('.tl-panel'), /1,9[89]\d/);
      await opened.silent();
      await opened.close();
    });

    it('words on the timeline are found, and n walks them', async () => {
      const opened = await openFile(browser, pageFile('gpt'), {hash: '#timeline?q=ProfilerStep'}),
        {page} = opened;
      await opened.drawn('timeline');
      const text = await opened.text('.tl-matches');
      assert.match(text, /^\d+ matches/);
      await page.keyboard.press('n');
      await page.waitForFunction(() => /^match 1 of/.test(document.querySelector('.tl-matches').textContent));
      assert.match(await opened.status(), /ProfilerStep/);
      await page.keyboard.press('N');
      await opened.silent();
      await opened.close();
    });

    it('every picture has its table, with the same sums', async () => {
      const opened = await openFile(browser, pageFile('gpt')),
        {page} = opened,
        report = reportOf('gpt');
      for (const view of ['overview', 'timeline', 'tree', 'kernels', 'roofline']) {
        await opened.goto('#' + view);
        await page.keyboard.press('t');
        await page.waitForSelector('.picture-place table.grid');
        await page.hover('.picture-place .tools .buttons');
        await page.click('.picture-place button:has-text("Copy CSV") >> nth=0');
        const [header, ...rows] = parseCsv(await opened.copied()),
          column = (name) => rows.map((row) => Number(row[header.indexOf(name)]));
        assert.ok(rows.length > 0, view);
        if (view === 'timeline') {
          const gpu = rows.filter((row) => /^GPU/.test(row[0]));
          assert.equal(gpu.length, 2126);
        } else if (view === 'kernels') assert.equal(sum(column('count')), 1996);
        else if (view === 'roofline')
          assert.equal(rows.length, report.tables.find(({name}) => name === 'roofline')?.rows.length ?? rows.length);
        await page.keyboard.press('t');
        await page.waitForSelector('.picture-place table.grid', {state: 'detached'});
      }
      await opened.silent();
      await opened.close();
    });

    it('links that are stale or odd are ignored', async () => {
      const opened = await openFile(browser, pageFile('gpt')),
        {page} = opened;
      for (const [hash, view] of [
        ['#nowhere', 'overview'],
        ['#timeline?t=9-3&sel=gpu:9:9:1', 'timeline'],
        ['#timeline?t=%ZZ', 'timeline'],
        ['#table/none?row=0', 'table'],
        ['#ops?row=ffffffff&sort=-nothing', 'ops'],
        ['#tree?node=99999999', 'tree'],
        ['#table/kernel_summary?mark=,,x', 'table'],
        ['#constructor?__proto__=1', 'overview'],
      ]) {
        await opened.goto(hash, view);
        assert.deepEqual(
          await page.$$eval('main .notice[role=alert]', (all) => all.map((node) => node.textContent)),
          [],
          hash,
        );
      }
      await opened.silent();
      await opened.close();
    });

    it('keys rest in text fields, ? lists them, the theme is remembered', async () => {
      const opened = await openFile(browser, pageFile('gpt'), {hash: '#kernels'}),
        {page} = opened;
      await opened.drawn('kernels');
      await page.focus('input.filter');
      await page.keyboard.type('12c?t');
      assert.equal(await page.inputValue('input.filter'), '12c?t');
      assert.equal(await page.$eval('nav.tabs a[aria-current=page]', (link) => link.textContent), 'Kernels');
      assert.match(await opened.restingHash(/f=12c/), /^#kernels\?f=12c/);
      await page.keyboard.press('Tab');
      await page.keyboard.press('?');
      await page.waitForSelector('dialog[open]');
      assert.deepEqual(await opened.axe(), []);
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', {state: 'hidden'});
      await page.click('#theme');
      assert.equal(await page.$eval('html', (root) => root.dataset.theme), 'dark');
      await page.reload();
      await opened.drawn('kernels');
      assert.equal(await page.$eval('html', (root) => root.dataset.theme), 'dark');
      await opened.silent();
      await opened.close();
    });
  },

  ranks() {
    it('the late rank is named', async () => {
      const opened = await openFile(browser, pageFile('ranks'), {hash: '#ranks'}),
        {page} = opened;
      await opened.drawn('ranks');
      assert.match(await opened.text('main'), /rank 5/i);
      await page.keyboard.press('t');
      await page.waitForSelector('.picture-place table.grid');
      await opened.silent();
      await opened.close();
    });
  },

  diff() {
    it('totals and ops of both runs are those of the tables', async () => {
      const opened = await openFile(browser, pageFile('diff'), {hash: '#diff'}),
        report = reportOf('diff');
      await opened.drawn('diff');
      const text = await opened.text('main'),
        table = report.tables.find(({name}) => name === 'ops_diff');
      const at = table.columns.findIndex(({name}) => /^(name|op)/i.test(name));
      for (const row of table.rows.slice(0, 3))
        assert.ok(text.includes(row[at].slice(0, 14)), `${row[at]} is not in the view`);
      await opened.goto('#overview');
      const overview = await opened.text('main');
      for (const part of ['Slower', 'Faster', 'h200_pair_base', 'h200_pair_math', 'What took the place of what'])
        assert.ok(overview.includes(part), `${part} is not in the overview`);
      assert.ok(!/\b(base|new), ms/.test(overview), 'runs are called by their files');
      await opened.silent();
      await opened.close();
    });
  },

  compare() {
    it('all runs stand on one scale, with their lanes', async () => {
      const opened = await openFile(browser, pageFile('compare'));
      await opened.drawn('overview');
      assert.match(await opened.text('.verdict'), /h200_pair_math is 91\.4% slower than h200_pair_base/);
      assert.equal((await opened.page.$$('.run-bar')).length, 3);
      await opened.goto('#timeline');
      assert.equal((await opened.page.$$('.lane-gpu')).length, 3);
      await opened.silent();
      await opened.close();
    });
  },

  jax() {
    it('the timeline opens where the GPU works, and slices have their model', async () => {
      const opened = await openFile(browser, pageFile('jax'), {hash: '#timeline'}),
        {page} = opened;
      await opened.drawn('timeline');
      assert.ok(!(await opened.views()).includes('tree'), 'one module around everything is no tree');
      const [from, to] = (await opened.text('.tl-readout')).match(/[\d.]+(?= ms)/g).map(Number);
      assert.ok(from > 0 && to - from < 30, `${from} to ${to} ms`);
      assert.match(await opened.text('.legend'), /fusion/);
      const box = await (await page.$('.lane-gpu canvas')).boundingBox();
      for (let x = 0.1; x < 1 && !(await page.$('#drawer:not([hidden])')); x += 0.037)
        await page.mouse.click(box.x + x * box.width, box.y + 25);
      await page.waitForFunction(() => /Of roof/.test(document.getElementById('drawer').textContent));
      assert.match(await opened.text('#drawer'), /Work per call/);
      await opened.silent();
      await opened.close();
    });
  },

  multirank8() {
    it('the verdict names rank 5, where most of the waiting is', async () => {
      const opened = await openFile(browser, pageFile('multirank8'), {hash: '#ranks'}),
        report = reportOf('multirank8');
      await opened.drawn('ranks');
      const waiting = cellsOf(report, 'comm_verdict', 'waiting (ms)'),
        most = waiting.indexOf(Math.max(...waiting));
      assert.match(cellsOf(report, 'comm_verdict', 'late ranks')[most], /^5 /);
      assert.match(await opened.text('main'), /rank 5 comes last to \d+% of the collectives that hold \d+% of the/i);
      await opened.close();
    });
  },

  qwen() {
    it('the change of each op is told', async () => {
      const opened = await openFile(browser, pageFile('qwen'));
      await opened.drawn('overview');
      assert.match(await opened.text('.verdict'), /33\.13 ms .* 34\.89 ms/);
      await opened.goto('#diff');
      const text = await opened.text('main');
      for (const part of ['aten::mul', 'aten::mm']) assert.ok(text.includes(part), `${part} is not in the view`);
      assert.match(text, /[-−]2\.212/);
      assert.match(text, /\+1\.995/);
      await opened.close();
    });
  },

  mi210_gpu_only() {
    it('without a host there are no ops, and the page says why', async () => {
      const opened = await openFile(browser, pageFile('mi210_gpu_only'), {hash: '#about'});
      await opened.drawn('about');
      assert.ok(!(await opened.views()).includes('ops'));
      assert.match(await opened.text('main'), /Not in this trace/);
      await opened.close();
    });
  },
};

for (const name of Object.keys(kTests)) if (kPages[name]) tests(name, `figures of ${name}`);
