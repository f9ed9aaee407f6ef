#!/usr/bin/env node
// make_page_pictures.mjs: makes the pictures of docs/guide/page.md from our own traces.
//   node tools/make_page_pictures.mjs [NAME...]
// Needs the program of build/check (or TRACELENS=) and what `./test page` installs below build/page. A picture
// has 1,280 x 800 pixels and at most 256 colours, so that the repository stays small.
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {deflateSync, inflateSync} from 'node:zlib';
import {kRoot, openFile, startBrowser} from '../tests/page/browser/browser.mjs';
import {pageFile} from '../tests/page/browser/pages.mjs';

const kPlace = join(kRoot, 'docs/images/page');

/** name: [page, address, what to do there, colour scheme] @type {Record<string, [string, string, ((opened: any) => Promise<void>) | null, ('light' | 'dark')?]>} */
const kPictures = {
  overview: ['gpt', '#overview', null],
  'overview-dark': ['gpt', '#overview', null, 'dark'],
  timeline: ['gpt', '#timeline', async ({page}) => {
    // The forward pass, with the details of one kernel.
    const lane = await page.evaluate(() => JSON.parse(document.getElementById('tl-manifest').textContent).lanes.find(({kind}) => kind === 'gpu').id);
    await page.evaluate((id) => { location.hash = `#timeline?t=8000000-20000000&sel=${id}:14956`; }, lane);
    await page.waitForSelector('#drawer:not([hidden])');
  }],
  selection: ['gpt', '#timeline?range=15000000-45000000', async ({page}) => { await page.evaluate(() => scrollTo(0, 420)); }],
  modules: ['gpt', '#tree', null],
  ops: ['gpt', '#ops', async ({page}) => {
    await page.click('tr[data-row="0"] td >> nth=0');
    await page.click('tr[data-row="1"] td >> nth=0');
  }],
  kernels: ['gpt', '#kernels', null],
  roofline: ['gpt', '#roofline', null],
  ranks: ['ranks', '#ranks', null],
  'diff-overview': ['diff', '#overview', null],
  diff: ['diff', '#diff', null],
  memory: ['memory', '#memory', null],
  tables: ['gpt', '#table/gpu_idle_host', null],
};

/** Width, height and the pixels (RGB) of a PNG file of 8 bits. @param {Buffer} png */
function pixelsOf(png) {
  const parts = [];
  let width = 0, height = 0, bytes = 0;
  for (let at = 8; at < png.length;) {
    const size = png.readUInt32BE(at), type = png.toString('latin1', at + 4, at + 8), body = png.subarray(at + 8, at + 8 + size);
    if (type === 'IHDR') [width, height, bytes] = [body.readUInt32BE(0), body.readUInt32BE(4), body[9] === 6 ? 4 : 3];
    if (type === 'IDAT') parts.push(body);
    at += size + 12;
  }
  const packed = inflateSync(Buffer.concat(parts)), line = width * bytes, raw = new Uint8Array(height * line);
  for (let y = 0, from = 0; y < height; ++y) {
    const filter = packed[from++];
    for (let x = 0; x < line; ++x, ++from) {
      const left = x >= bytes ? raw[y * line + x - bytes] : 0, up = y ? raw[(y - 1) * line + x] : 0, corner = y && x >= bytes ? raw[(y - 1) * line + x - bytes] : 0;
      const guess = left + up - corner, [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
      raw[y * line + x] = packed[from] + [0, left, up, (left + up) >> 1, a <= b && a <= c ? left : b <= c ? up : corner][filter];
    }
  }
  const pixels = new Uint32Array(width * height);
  for (let i = 0; i < pixels.length; ++i) pixels[i] = raw[i * bytes] << 16 | raw[i * bytes + 1] << 8 | raw[i * bytes + 2];
  return {width, height, pixels};
}

/** At most 256 colours: boxes of colours, each halved along its longest side while there is room. @param {Uint32Array} pixels */
function paletteOf(pixels) {
  const times = new Map();
  for (const pixel of pixels) times.set(pixel, (times.get(pixel) ?? 0) + 1);
  const part = (colour, shift) => colour >> shift & 255;
  const boxOf = (colours) => {
    const ranges = [16, 8, 0].map((shift) => {
      let least = 255, most = 0;
      for (const colour of colours) { least = Math.min(least, part(colour, shift)); most = Math.max(most, part(colour, shift)); }
      return most - least;
    });
    const side = ranges.indexOf(Math.max(...ranges));
    return {colours, shift: [16, 8, 0][side], weight: ranges[side] * Math.sqrt(colours.reduce((sum, colour) => sum + times.get(colour), 0))};
  };
  const boxes = [boxOf([...times.keys()])];
  while (boxes.length < 256) {
    const widest = boxes.reduce((best, box, i) => (box.weight > boxes[best].weight ? i : best), 0), {colours, shift, weight} = boxes[widest];
    if (!weight) break;
    colours.sort((a, b) => part(a, shift) - part(b, shift) || a - b);
    const half = colours.reduce((sum, colour) => sum + Math.sqrt(times.get(colour)), 0) / 2;
    let cut = 0;
    for (let sum = 0; cut < colours.length - 1 && sum < half; ++cut) sum += Math.sqrt(times.get(colours[cut]));
    boxes.splice(widest, 1, boxOf(colours.slice(0, cut)), boxOf(colours.slice(cut)));
  }
  const places = new Map();
  const palette = boxes.map(({colours}, i) => {
    // The colour of the box is the one that most of its pixels have: paper and text stay exact.
    for (const colour of colours) places.set(colour, i);
    return colours.reduce((best, colour) => (times.get(colour) > times.get(best) ? colour : best));
  });
  return {palette, places};
}

/** @param {Buffer} png @returns {Buffer} the same with a palette */
function small(png) {
  const {width, height, pixels} = pixelsOf(png), {palette, places} = paletteOf(pixels);
  const lines = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; ++y) for (let x = 0; x < width; ++x) lines[y * (width + 1) + 1 + x] = places.get(pixels[y * width + x]);
  const chunk = (type, body) => {
    const all = Buffer.concat([Buffer.from(type, 'latin1'), body]), out = Buffer.alloc(all.length + 8);
    out.writeUInt32BE(body.length, 0);
    all.copy(out, 4);
    out.writeUInt32BE(crcOf(all), all.length + 4);
    return out;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([png.subarray(0, 8), chunk('IHDR', header), chunk('PLTE', Buffer.from(palette.flatMap((colour) => [colour >> 16, colour >> 8 & 255, colour & 255]))), chunk('IDAT', deflateSync(lines, {level: 9})), chunk('IEND', Buffer.alloc(0))]);
}

/** Node 18 has no zlib.crc32. @param {Buffer} bytes */
function crcOf(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >>> 1 ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

mkdirSync(kPlace, {recursive: true});
const browser = await startBrowser(), wanted = process.argv.slice(2);
for (const [name, [page, hash, then, scheme]] of Object.entries(kPictures)) {
  if (wanted.length && !wanted.includes(name)) continue;
  const opened = await openFile(browser, pageFile(page), {scheme});
  await opened.goto(hash);
  await then?.(opened);
  await opened.page.mouse.move(0, 799);
  await opened.page.waitForTimeout(500);
  await opened.silent();
  const png = small(await opened.page.screenshot());
  writeFileSync(join(kPlace, `${name}.png`), png);
  console.log(`${name}.png: ${Math.round(png.length / 1000)} kB`);
  await opened.close();
}
await browser.close();
