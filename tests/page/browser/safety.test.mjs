// A trace is hostile: its names run nothing and load nothing. A page made for others has no names in it, and a
// damaged one says so.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, describe, it} from 'node:test';
import {kRoot, openFile, packages, startBrowser} from './browser.mjs';
import {eventsOf, kHostileNames, pageFile} from './pages.mjs';

let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

describe('the program of a page', () => {
  it('is that of web/, though lines of comments and indentation are gone', () => {
    const {parse} = packages('prettier/plugins/acorn').parsers.acorn;
    // What it does, without where it stands.
    const meaning = (text) =>
      JSON.stringify(parse(text, {}).body, (key, value) =>
        ['start', 'end', 'range', 'loc', 'comments'].includes(key)
          ? undefined
          : typeof value === 'bigint' || value instanceof RegExp
            ? String(value)
            : value,
      );
    const joined = readFileSync(join(kRoot, 'web/join.cmake'), 'utf8')
      .match(/set\(page_modules\s([^)]*)\)/)[1]
      .trim()
      .split(/\s+/)
      .map((name) => readFileSync(join(kRoot, 'web', name), 'utf8'))
      .join('')
      .replace(/^import [^;]*;/gm, '')
      .replace(/^export /gm, '');
    const page = readFileSync(pageFile('gpt'), 'utf8'),
      program = page.slice(page.lastIndexOf('<script>') + 8, page.lastIndexOf('</script>'));
    assert.ok(program.length < 0.85 * joined.length, 'nothing was left out');
    assert.equal(meaning(program), meaning("'use strict';\n" + joined));
  });
});

describe('a hostile trace', () => {
  it('is shown as text, and runs nothing', async () => {
    const file = pageFile('hostile', ['--title', '</title><script>window.ran=6</script>']),
      opened = await openFile(browser, file),
      {page} = opened;
    assert.ok(readFileSync(file).length < 8e6, 'no page is above 8 MB');
    for (const view of await opened.views()) {
      await opened.goto('#' + view);
      const text = await opened.text('main');
      assert.ok(!/[\u202a-\u202e\u2066-\u2069\u200b\u0000]/.test(text), `${view} has characters that cannot be seen`);
      // Elements that no view makes.
      assert.equal(
        await page.$$eval(
          '#app img, #app script, #app iframe, #app object, #app [onerror], #app [onload]',
          (all) => all.length,
        ),
        0,
        view,
      );
      assert.deepEqual(
        await page.$$eval('#app a', (all) =>
          all.map((link) => link.getAttribute('href')).filter((to) => !/^(#|blob:)/.test(to)),
        ),
        [],
        view,
      );
    }
    await opened.goto('#table/kernel_summary');
    const cells = await page.$$eval('.grid td', (all) => all.map((cell) => cell.textContent));
    for (const part of [
      '<script>',
      '<img src=x',
      '\\u{202E}',
      '\\u{0}',
      '\\u{200B}',
      '__proto__',
      'constructor',
      'javascript:',
    ])
      assert.ok(
        cells.some((cell) => cell.includes(part)),
        `${part} is not shown`,
      );
    assert.ok(
      cells.every((cell) => cell.length < 1000),
      'a name of 1 MB stands in a cell',
    );
    // Details of each row: the whole name, still as text.
    for (let row = 0; row < Math.min(5, kHostileNames.length); ++row) {
      await page.click(`tr[data-row="${row}"] td >> nth=0`);
      await page.waitForSelector('#drawer:not([hidden])');
    }
    // Search and links with such names.
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('<script>');
    await page.waitForSelector('#hits .hit');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.includes('f='));
    assert.equal(await page.evaluate(() => /** @type {any} */ (window).ran), undefined, 'a name ran');
    assert.equal(await page.title().then((title) => title.includes('</title>')), true);
    await opened.silent();
    await opened.close();
  });

  it('is copied with its formulas disarmed', async () => {
    const opened = await openFile(browser, pageFile('hostile'), {hash: '#table/kernel_summary'}),
      {page} = opened;
    await opened.drawn('table');
    await page.keyboard.press('c');
    const csv = await opened.copied();
    assert.ok(csv.includes("'=HYPERLINK") && csv.includes("'@SUM") && csv.includes("'+1+1"));
    assert.ok(!/(^|[,\n])"?[=@]/.test(csv), 'a cell begins like a formula');
    await opened.close();
  });

  it('cannot leave the page by its policy', async () => {
    const opened = await openFile(browser, pageFile('hostile')),
      {page} = opened;
    await opened.drawn('overview');
    const policy = await page.$eval('meta[http-equiv=Content-Security-Policy]', (node) => node.getAttribute('content'));
    assert.match(policy, /default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'/);
    assert.match(policy, /require-trusted-types-for 'script'; trusted-types 'none'/);
    // Playwright's own evaluate stands above the policy; what the page's code would do does not.
    const ran = await page.evaluate(
      () =>
        new Promise((done) => {
          const script = document.createElement('script');
          try {
            script.textContent = 'window.ran = 7';
            document.body.append(script);
          } catch {
            /* Trusted Types */
          }
          try {
            document.body.insertAdjacentHTML('beforeend', '<img src=x>');
          } catch {
            /* Trusted Types */
          }
          setTimeout(() => done([/** @type {any} */ (window).ran, document.images.length]), 50);
        }),
    );
    assert.deepEqual(ran, [undefined, 0]);
    await opened.close();
  });
});

describe('a page made with --redact', () => {
  it('has no name of a module, thread, file or function of the trace', async () => {
    const file = pageFile('redacted'),
      events = eventsOf('h200_gpt_train_amp.json.gz'),
      names = new Set();
    for (const {cat, ph, name, args} of events) {
      if (cat === 'python_function') {
        names.add(name.replace(/^nn\.Module: /, ''));
        for (const path of name.match(/[\w./-]+\.py/g) ?? []) names.add(path);
      }
      if (ph === 'M' && name === 'thread_name') names.add(String(args.name));
      if (cat === 'user_annotation' && !/^ProfilerStep/.test(name)) names.add(name);
    }
    assert.ok(names.size > 50 && names.has('torch_record.py') && names.has('GPT_0'), 'the trace has names');
    const html = readFileSync(file, 'utf8'),
      application = html.slice(html.lastIndexOf("<script>'use strict'")),
      manifest = html.slice(0, html.lastIndexOf("<script>'use strict'"));
    const opened = await openFile(browser, file),
      {page} = opened;
    // All texts of the page: those of the manifest and those packed in its blobs.
    const texts = await page.evaluate(async () => {
      const manifest = document.getElementById('tl-manifest').textContent,
        blob = document.getElementById('tl-b0').textContent;
      const packed = Uint8Array.from(atob(blob), (c) => c.charCodeAt(0)),
        stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
      return manifest + '\n' + (await new Response(stream).text());
    });
    // PyTorch's own names stay, and words that the program and its own texts use too say nothing.
    const isPublic = (name) => /^(<?built-in|torch\/|Optimizer\.)/.test(name);
    const others = application + readFileSync(new URL('../../../docs/tables.md', import.meta.url), 'utf8');
    const leaked = [...names].filter(
      (name) =>
        name.length > 3 &&
        !isPublic(name) &&
        (texts.includes(name) || manifest.includes(name)) &&
        !others.includes(name),
    );
    assert.deepEqual(leaked.slice(0, 20), [], `${leaked.length} names are in the page`);
    for (const view of await opened.views()) await opened.goto('#' + view);
    await opened.silent();
    await opened.close();
  });
});

describe('a page of ranks made with --redact', () => {
  it('names no file', () => {
    const html = readFileSync(pageFile('ranks', ['--redact']), 'utf8');
    assert.ok(readFileSync(pageFile('ranks'), 'utf8').includes('rank0'), 'without the flag it does');
    assert.ok(!/rank\d+[\w.-]*json|build\/page|traces\//.test(html.slice(0, html.lastIndexOf('<script>'))));
  });
});

describe('a damaged page', () => {
  const damage = {
    'a blob that is cut': (html) => html.replace(/(id="tl-b0">[^<]{200})[^<]*/, '$1'),
    'a blob that is gone': (html) => html.replace(/<script type="text\/plain" id="tl-b1">[^<]*<\/script>/, ''),
    'another size of a blob': (html) => html.replace(/"raw_bytes": ?\d+/, '"raw_bytes": 3'),
    'another count of rows': (html) => html.replace(/"kept": ?(\d+)/g, '"kept": 1$1'),
    'a manifest that is cut': (html) => html.replace(/(id="tl-manifest">[^<]{500})[^<]*/, '$1'),
    'a manifest of another schema': (html) => html.replace('tracelens.page/1', 'tracelens.page/9'),
    'another count of slices': (html) => html.replace(/"slices": ?(\d+)/g, '"slices": 9$1'),
  };
  for (const [what, change] of Object.entries(damage)) {
    it(`${what} gives one sentence`, async () => {
      const file = pageFile('streams'),
        html = readFileSync(file, 'utf8'),
        changed = change(html);
      assert.notEqual(changed, html);
      const place = file.replace('.html', `-damaged-${Object.keys(damage).indexOf(what)}.html`);
      writeFileSync(place, changed);
      const opened = await openFile(browser, place),
        {page} = opened;
      let notices = 0;
      if (await page.$('#main')) {
        for (const view of await opened.views()) {
          await opened.goto('#' + view);
          const shown = await page.$$eval('.notice[role=alert]', (all) => all.map((node) => node.textContent));
          assert.ok(shown.length <= 1, `${view}: ${shown}`);
          if (shown.length) assert.match(shown[0], /damaged/);
          notices += shown.length;
        }
      } else notices = await page.$$eval('.notice[role=alert]', (all) => all.length);
      assert.ok(notices > 0, 'nothing was said');
      await opened.silent();
      await opened.close();
    });
  }
});
