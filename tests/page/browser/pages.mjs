// pages.mjs: the pages that are tested, made by the program when they are missing or older than it.
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gunzipSync} from 'node:zlib';
import {kRoot} from './browser.mjs';

export const kProgram = process.env.TRACELENS ?? join(kRoot, 'build/check/apps/tracelens/tracelens');
const kPlace = join(kRoot, 'build/page/pages'),
  kTraces = join(kRoot, 'build/page/traces'),
  kShared = join(kRoot, '../shared/traces');

const data = (name) => join(kRoot, 'tests/data', name);
const shared = (name) => join(kShared, name);

/** @type {Record<string, {verb?: string, traces: string[], more?: string[]}>} */
export const kPages = {
  gpt: {traces: [data('h200_gpt_train_amp.json.gz')]},
  zoo: {traces: [data('h200_ops_zoo.json.gz')]},
  streams: {traces: [data('h200_streams_overlap.json.gz')]},
  jax: {traces: [data('jax_transformer_xla.xplane.pb.gz')]},
  rocprof: {traces: [data('rocprof_results.json.gz')]},
  memory: {traces: [data('diagnosis/conv_layout.bad.json.gz')]},
  ranks: {verb: 'collectives', traces: [join(kTraces, 'ranks')]},
  diff: {verb: 'diff', traces: [data('h200_pair_base.json.gz'), data('h200_pair_math.json.gz')]},
  compare: {
    verb: 'compare',
    traces: [data('h200_pair_base.json.gz'), data('h200_pair_again.json.gz'), data('h200_pair_math.json.gz')],
  },
  empty: {traces: [join(kTraces, 'empty.json')]},
  gpu_only: {traces: [join(kTraces, 'gpu_only.json')]},
  hostile: {traces: [join(kTraces, 'hostile.json')]},
  redacted: {traces: [data('h200_gpt_train_amp.json.gz')], more: ['--redact']},
  // Those beside the checkout, where they are.
  mi210_gpu_only: {traces: [shared('pytorch/mi210_gpu_only.json.gz')]},
  h100_owlv2: {traces: [shared('pytorch/h100_owlv2.json.gz')]},
  mi300_resnet_recompute: {traces: [shared('pytorch/mi300_resnet_recompute.json.gz')]},
  multirank8: {verb: 'collectives', traces: [shared('multirank8/full')]},
  qwen: {verb: 'diff', traces: [shared('pytorch/h100_qwen.json.gz'), shared('pytorch/mi300_qwen.json.gz')]},
};
/** Those whose traces are here; TL_PAGES=gpt,diff names some alone. */
export const kTestedPages = (process.env.TL_PAGES?.split(',') ?? Object.keys(kPages)).filter((name) =>
  kPages[name].traces.every((trace) => !trace.startsWith(kShared) || existsSync(trace)),
);

/** Events of a recording. @param {string} name in tests/data @returns {any[]} */
export function eventsOf(name) {
  return JSON.parse(gunzipSync(readFileSync(data(name))).toString()).traceEvents;
}

const kLong = 'long_' + 'kernel_name_'.repeat(87381); // 1 MB
const kAfter = '"><img src=x onerror="window.ran=1"><script>window.ran=2</script>';
/** Names that a page must show as text and nothing else. */
export const kHostileNames = [
  '</script><script>window.ran=3;alert(1)</script>',
  kAfter,
  '<!-- <script> -->',
  ']]>\u2028\u2029',
  '=HYPERLINK("http://example.com","x")',
  '+1+1',
  '@SUM(A1)',
  '-2+3',
  '\u202egnp.exe\u202c',
  'zero\u200bwidth',
  'nul\u0000byte',
  'javascript:window.ran=4',
  '${window.ran=5}',
  'tab\tand\r\nline',
  'lone \ud800 surrogate',
  'https://example.com/"onload=',
  '__proto__',
  'constructor',
  kLong,
];

const kMade = {
  'empty.json': () => ({traceEvents: []}),
  // Kernels whose launches were not recorded.
  'gpu_only.json': () => ({
    traceEvents: eventsOf('h200_gpt_train_amp.json.gz').filter(
      ({cat, ph}) => ph === 'M' || ['kernel', 'gpu_memcpy', 'gpu_memset'].includes(cat),
    ),
  }),
  'hostile.json': () => {
    const events = [
      {ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: {name: kAfter}},
      {ph: 'M', name: 'process_name', pid: 1, tid: 1, args: {name: kAfter}},
    ];
    const add = (event) => events.push({ph: 'X', pid: 1, tid: 1, ...event});
    add({cat: 'user_annotation', name: kHostileNames[0], ts: 0, dur: 100 * kHostileNames.length});
    kHostileNames.forEach((name, i) => {
      const ts = 100 * i,
        id = i + 1;
      add({
        cat: 'python_function',
        name: `nn.Module: ${name.slice(0, 300)}_0`,
        ts,
        dur: 90,
        args: {'Python id': id, 'Python module id': i},
      });
      add({
        cat: 'cpu_op',
        name,
        ts: ts + 1,
        dur: 80,
        args: {
          'External id': id,
          'Input Dims': [
            [4, 4],
            [4, 4],
          ],
          'Input type': [kAfter, 'float'],
          'Concrete Inputs': ['', ''],
        },
      });
      add({
        cat: 'cuda_runtime',
        name: 'cudaLaunchKernel',
        ts: ts + 5,
        dur: 3,
        args: {correlation: id, 'External id': id},
      });
      events.push(
        {ph: 's', id, pid: 1, tid: 1, ts: ts + 5, cat: 'ac2g', name: 'ac2g'},
        {ph: 'f', id, pid: 0, tid: 7, ts: ts + 20, cat: 'ac2g', name: 'ac2g', bp: 'e'},
      );
      events.push({
        ph: 'X',
        cat: 'kernel',
        name,
        pid: 0,
        tid: 7,
        ts: ts + 20,
        dur: 40,
        args: {correlation: id, 'External id': id, stream: 7, device: 0},
      });
    });
    return {deviceProperties: [{id: 0, name: kAfter}], traceName: kAfter, traceEvents: events};
  },
};

/** @param {string} path @param {(place: string) => void} make a file or folder in one step: tests run beside each other */
function madeOnce(path, make) {
  const isFresh = () =>
    existsSync(path) &&
    statSync(path).mtimeMs >= Math.max(statSync(kProgram).mtimeMs, statSync(fileURLToPath(import.meta.url)).mtimeMs);
  if (isFresh()) return path;
  mkdirSync(dirname(path), {recursive: true});
  const dot = path.lastIndexOf('.'),
    draft =
      dot > path.lastIndexOf('/') ? `${path.slice(0, dot)}.${process.pid}${path.slice(dot)}` : `${path}.${process.pid}`;
  make(draft);
  for (;;) {
    try {
      renameSync(draft, path); // takes the place of a file, but of no folder
      return path;
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    }
    // Another test has made it meanwhile, or it is an old one.
    if (isFresh()) {
      rmSync(draft, {recursive: true});
      return path;
    }
    rmSync(path, {recursive: true, force: true});
  }
}

function needTrace(trace) {
  if (!trace.startsWith(kTraces)) return;
  const name = trace.slice(kTraces.length + 1);
  madeOnce(trace, (draft) => {
    if (name === 'ranks')
      execFileSync('python3', [
        data('make_ranks.py'),
        '--out',
        draft,
        '--ranks',
        '8',
        '--steps',
        '6',
        '--late-rank',
        '5',
        '--late-us',
        '900',
      ]);
    else writeFileSync(draft, JSON.stringify(kMade[name]()));
  });
}

/** The file of a page, made when needed. @param {string} name of kPages @param {string[]} flags more of them @param {string} end of the file's name */
export function pageFile(name, flags = [], end = 'html') {
  const {verb = 'report', traces, more = []} = kPages[name],
    all = [...more, ...flags];
  traces.forEach(needTrace);
  const mark = flags.length ? '-' + createHash('sha256').update(flags.join('\n')).digest('hex').slice(0, 8) : '';
  return madeOnce(join(kPlace, `${name}${mark}.${end}`), (draft) =>
    execFileSync(kProgram, [verb, ...traces.map((trace) => relative(kRoot, trace)), ...all, '-o', draft, '--quiet'], {
      cwd: kRoot,
      stdio: ['ignore', 'ignore', 'inherit'],
      maxBuffer: 1 << 28,
    }),
  );
}

/** The same report as JSON. @param {string} name of kPages @returns {any} */
export function reportOf(name) {
  return JSON.parse(readFileSync(pageFile(name, [], 'json'), 'utf8'));
}
