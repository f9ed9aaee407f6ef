// view_overview.js: the run in a sentence, where its time goes, and what to do about it.
import {timeTicks} from './axes.js';
import {el, svgEl, button, traceText} from './dom.js';
import {time, percent, count, fixed, humanNumber, plainText, shapesText, visible, workName} from './text.js';
import {cellsOf, classOf} from './picture.js';
import {tableOf} from './data.js';
import {dataTable, copyText, pictureWithTable} from './table.js';
import {openDrawer, detailList} from './drawer.js';
import {comparisonParts, labelWidth} from './overview_runs.js';
import {go, hashOf, state} from './route.js';

/** @typedef {import('./data.js').Page} Page */

const kKinds = [
  ['communication', 'comm'],
  ['copy', 'copy'],
  ['idle', 'idle'],
  ['micro', 'idle'],
  ['comput', 'compute'],
];
const kMostRows = 6;
// Tables for paper, and those of their columns that fit on it.
const kPrinted = [
  ['ops_summary', 'name', 'Count', 'total_direct_kernel_time_ms', 'Percentage (%)'],
  ['hlo_ops', 'HLO op', 'kind', 'runs', 'GPU time (µs)_sum', 'Percentage (%)', 'Pct Roofline'],
  [
    'kernel_summary',
    'Kernel name',
    'name',
    'Parent cpu_op',
    'Kernel duration (µs)_count',
    'Kernel duration (µs)_sum',
    'Percent of kernels time (%)',
    'Total Kernel Time (ms)',
    'Percentage (%)',
  ],
  ['ops_diff', 'name', 'time_trace1', 'time_trace2', 'diff', 'diff_pct', 'verdict'],
  ['comm_verdict'],
];

/** @param {string} name */
function kindOf(name) {
  return kKinds.find(([word]) => name.includes(word))?.[1] ?? 'other';
}

// What the overview has, or what the tables say when there is none.
/** @param {Page} page */
async function overviewOf(page) {
  const {overview} = page.manifest;
  if (overview) return overview;
  const table = await page.table('gpu_timeline'),
    types = table?.column('type')?.values,
    ms = table?.column('time ms')?.values,
    shares = table?.column('percent')?.values;
  if (!types || !ms || !shares) return null;
  if (!ms.some((value) => value > 0))
    return {
      run: page.manifest.subtitle,
      verdict: 'There is nothing to report: the trace holds no events of a GPU.',
      split: [],
      causes: [],
      costs: [],
    };
  const part = (type, name) => {
    const row = types.indexOf(type);
    return row < 0 ? [] : [{name, ns: ms[row] * 1e6, percent: shares[row]}];
  };
  const split = [
    ...part('computation_time', 'compute'),
    ...part('exposed_comm_time', 'exposed communication'),
    ...part('exposed_memcpy_time', 'exposed copy'),
    ...part('idle_time', 'idle'),
  ];
  const [busy] = part('busy_time', 'busy');
  return {
    run: page.manifest.subtitle,
    verdict: busy ? `The GPU is busy ${percent(busy.percent)} of the time.` : '',
    split,
    idle_causes: [],
    causes: [],
    costs: [],
    advice: [],
    commands: [],
  };
}

/** What the shares of the findings are shares of: not of what the figures on top are. @param {any} finding @param {any} overview */
function shareOf(finding, overview) {
  const whole = (overview.split ?? []).reduce((sum, part) => sum + part.ns, 0),
    own = finding.percent > 0 ? ` of about ${time((100 * finding.ns) / finding.percent)}` : '';
  return (
    `Savings are those of the recorded steps together, once the findings before are mended. Shares are${own}: the steps on host and GPU, without what the profiler adds.` +
    (whole ? ` The figures on top are of the ${time(whole)} from the first GPU event to the last.` : '')
  );
}

/** @param {Page} page @param {any} overview */
function keyFigures(page, overview) {
  const {manifest} = page,
    events = manifest.lanes.filter((lane) => lane.kind === 'gpu').reduce((n, lane) => n + lane.events, 0);
  const timeline = manifest.lanes.length ? '#timeline' : '#table/gpu_timeline';
  const shares = (overview?.split ?? []).map((part) => [
    fixed(part.percent, 1),
    '%',
    part.name === 'compute' ? 'computing' : part.name,
    part.name === 'idle' && page.hasTable('gpu_idle_host') ? '#table/gpu_idle_host' : timeline,
  ]);
  const whole = (overview?.split ?? []).reduce((sum, part) => sum + part.ns, 0),
    length = whole || manifest.span_ns,
    [span, unit] = time(length, 9).split(' ');
  const figures = [
    ...shares,
    length > 0 &&
      (whole || manifest.groups.length === 0) && [
        fixed(Number(span.replace(/,/g, '')), 2),
        unit,
        !whole
          ? 'recorded'
          : page.hasTable('serving_phases')
            ? 'steps and what they wait for'
            : 'first to last GPU event',
        timeline,
      ],
    events && manifest.groups.length === 0 && [count(events), '', 'GPU events', '#kernels'],
    manifest.roofline && [fixed(manifest.roofline.placed_percent, 1), '%', 'of GPU time modelled', '#roofline'],
  ].filter(Boolean);
  return el(
    'div',
    {class: 'figures'},
    figures.map(([value, of, label, href]) =>
      el(
        'a',
        {class: value === '0.0' ? 'figure zero' : 'figure', href},
        el('span', {class: 'figure-value'}, value, of && el('span', {class: 'figure-unit'}, ' ' + of)),
        el('span', {class: 'figure-label'}, label),
      ),
    ),
  );
}

/** @param {any[]} parts @param {(part: any) => string} kind */
function partLegend(parts, kind) {
  return el(
    'ul',
    {class: 'legend'},
    parts.map((part) =>
      el(
        'li',
        {},
        el('i', {class: 'swatch fill-' + kind(part), 'aria-hidden': 'true'}),
        part.name,
        el('span', {class: 'muted'}, ` ${time(part.ns)} · ${percent(part.percent)}`),
      ),
    ),
  );
}

// The time as one bar, and below its idle part what the GPU waited for.
/** @param {any} overview */
function timeBar({split, idle_causes: causes = []}) {
  const bar = (parts, kind, more) =>
    el(
      'div',
      {class: 'bar', ...more},
      parts.map((part, i) =>
        el('span', {
          class: 'fill-' + kind(part, i),
          title: `${part.name}: ${time(part.ns)}, ${percent(part.percent)}`,
          style: {flexGrow: part.percent},
        }),
      ),
    );
  const there = split.filter((part) => part.percent > 0),
    idle = split.findIndex((part) => part.name === 'idle');
  const before = split.slice(0, Math.max(0, idle)).reduce((sum, part) => sum + part.percent, 0);
  return el(
    'section',
    {'aria-label': 'Time of the GPU'},
    el('h2', {}, 'Where the time goes'),
    bar(there, (part) => kindOf(part.name), {
      role: 'img',
      'aria-label': there.map((part) => `${part.name} ${percent(part.percent)}`).join(', '),
    }),
    causes.length > 0 &&
      idle >= 0 &&
      bar(causes, (_, i) => 'cause' + Math.min(i, 4), {
        class: 'bar thin',
        role: 'img',
        'aria-label': `idle because of ${causes.map((part) => `${part.name} ${percent(part.percent)}`).join(', ')}`,
        style: {marginLeft: before + '%', width: split[idle].percent + '%'},
      }),
    partLegend(there, (part) => kindOf(part.name)),
    causes.length > 0 &&
      el(
        'div',
        {class: 'legend-line'},
        el('span', {class: 'muted'}, 'idle for '),
        partLegend(causes, (part) => 'cause' + Math.min(causes.indexOf(part), 4)),
      ),
  );
}

// The part in which anything runs, when that is a small part of the whole: profilers start long before.
/** @param {any[]} strips @param {string[]} layers @returns {[number, number]} buckets */
function busyBuckets(strips, layers) {
  const n = strips[0].computing.length,
    isBusy = Array.from({length: n}, (_, i) => strips.some((strip) => layers.some((layer) => strip[layer]?.[i] > 0)));
  const first = Math.max(0, isBusy.indexOf(true) - 2),
    last = Math.min(n, isBusy.lastIndexOf(true) + 3);
  return last - first > 0 && last - first < 0.6 * n ? [first, last] : [0, n];
}

// How busy each GPU, rank or run is over the time. Dragging opens the timeline there.
/** @param {Page} page */
function stripPicture(page) {
  const {strips, span_ns: span, lanes} = page.manifest,
    layers = ['computing', 'communicating', 'copying'];
  if (!strips.length || !strips[0].computing?.length) return null;
  const [first, last] = busyBuckets(strips, layers),
    buckets = strips[0].computing.length,
    from_ns = (span * first) / buckets,
    length_ns = (span * (last - first)) / buckets;
  const height = strips.length > 2 ? 28 : 56,
    used = layers.filter((layer) => strips.some((strip) => strip[layer]?.some((share) => share > 0)));
  const picture = (strip) => {
    const n = strip.computing.length,
      floor = new Array(n).fill(0);
    const areas = layers.map((layer) => {
      const below = [...floor],
        points = [`M0 ${100 - below[0]}`];
      for (let i = 0; i < n; ++i) {
        floor[i] = Math.min(100, below[i] + (strip[layer]?.[i] ?? 0));
        points.push(`L${i} ${100 - floor[i]}H${i + 1}`);
      }
      for (let i = n - 1; i >= 0; --i) points.push(`L${i + 1} ${100 - below[i]}H${i}`);
      return (
        floor.some((top, i) => top > below[i]) && svgEl('path', {class: 'area-' + layer, d: points.join('') + 'Z'})
      );
    });
    const mean = floor.reduce((sum, top) => sum + top, 0) / n;
    return el(
      'div',
      {class: 'strip'},
      el('span', {class: 'strip-label'}, traceText(strip.label, 24)),
      svgEl(
        'svg',
        {
          viewBox: `${first} 0 ${last - first} 100`,
          preserveAspectRatio: 'none',
          role: 'img',
          'aria-label': `${visible(strip.label)}: busy ${percent(mean)} of the time`,
          style: {height: height + 'px'},
        },
        areas,
      ),
    );
  };
  const brush = el('div', {class: 'strip-brush', hidden: true});
  const field = el(
    'div',
    {class: 'strips', style: {'--label': labelWidth(strips.map(({label}) => label))}},
    strips.map(picture),
    el(
      'div',
      {class: 'strip axis', 'aria-hidden': 'true'},
      el('span', {class: 'strip-label'}),
      el(
        'div',
        {},
        timeTicks(from_ns, from_ns + length_ns, 6).map(({value, label}) => {
          const share = (value - from_ns) / length_ns;
          return el(
            'span',
            {class: share > 0.94 ? 'last' : share < 0.03 ? 'first' : null, style: {left: `${100 * share}%`}},
            label,
          );
        }),
      ),
    ),
    brush,
  );
  if (lanes.length && span) {
    let from = -1;
    const place = (event) => {
      const box = field.querySelector('svg').getBoundingClientRect();
      return {box, share: Math.max(0, Math.min(1, (event.clientX - box.left) / box.width))};
    };
    field.classList.add('can-drag');
    field.addEventListener('pointerdown', (event) => {
      if (event.button) return;
      from = place(event).share;
      field.setPointerCapture(event.pointerId);
    });
    field.addEventListener('pointermove', (event) => {
      if (from < 0) return;
      const {box, share} = place(event),
        left = box.left - field.getBoundingClientRect().left;
      brush.hidden = false;
      Object.assign(brush.style, {
        left: left + Math.min(from, share) * box.width + 'px',
        width: Math.abs(share - from) * box.width + 'px',
      });
    });
    field.addEventListener('pointercancel', () => {
      from = -1;
      brush.hidden = true;
    });
    field.addEventListener('pointerup', (event) => {
      const {share} = place(event),
        [least, most] =
          Math.abs(share - from) < 0.004
            ? [share - 0.02, share + 0.02]
            : [Math.min(from, share), Math.max(from, share)];
      from = -1;
      go(
        hashOf('timeline', '', [
          [
            't',
            [least, most].map((share) => Math.round(from_ns + Math.max(0, Math.min(1, share)) * length_ns)).join('-'),
          ],
        ]),
      );
    });
  }
  const asTable = () => {
    const rows = strips.flatMap((strip) =>
      strip.computing.map((_, i) => [
        strip.label,
        (span * i) / strip.computing.length / 1e6,
        ...layers.map((layer) => strip[layer]?.[i] ?? 0),
      ]),
    );
    return tableOf({
      name: 'busy over time',
      columns: ['GPU', 'from', ...layers].map((name, i) => ({
        name,
        unit: i === 0 ? '' : i === 1 ? 'ms' : '%',
        description: '',
        kind: i === 0 ? 0 : i === 1 ? 2 : 1,
        values: rows.map((row) => row[i]),
      })),
    });
  };
  return el(
    'section',
    {'aria-label': 'Busy over time'},
    el('h2', {}, 'Busy over time'),
    lanes.length > 0 &&
      el(
        'p',
        {class: 'hint'},
        'Drag to open a part in the ',
        el('a', {href: '#timeline'}, 'timeline'),
        '.',
        length_ns < span &&
          ` Of ${time(span)} recorded, ${time(length_ns)} are shown: before and after, the GPU has no work.`,
      ),
    pictureWithTable(field, asTable),
    used.length > 1 &&
      el(
        'ul',
        {class: 'legend'},
        used.map((layer) => el('li', {}, el('i', {class: `swatch area-${layer}`, 'aria-hidden': 'true'}), layer)),
      ),
  );
}

// A finding of the diagnosis, or where there is none a cause of the overview, in one form.
function findingOf(raw) {
  return {
    id: raw.id,
    title: raw.title,
    severity: raw.severity ?? '',
    verdict: raw.verdict ?? '',
    confidence: raw.confidence ?? '',
    ns: raw.saving_ns ?? (raw.saving_ms ?? 0) * 1e6,
    percent: raw.percent ?? raw.saving_pct ?? 0,
    tries: [raw.try ?? raw.remedy ?? []].flat().filter(Boolean),
    where: (raw.where ?? []).map((place) => ({...place, ns: (place.time_ms ?? 0) * 1e6})),
    evidence: (raw.evidence ?? []).map((proof) => ({...proof, key: Object.entries(proof.key ?? {})})),
  };
}

// The rows that a finding rests on.
/** @param {Page} page @param {any} finding @returns {Promise<Map<string, string[]>>} keys by table */
async function evidenceRows(page, finding) {
  const keys = new Map();
  for (const {table: name, key} of finding.evidence) {
    const table = await page.table(name);
    if (!table || !key.length) continue;
    const columns = key.map(([column]) => table.column(column));
    for (let row = 0; row < table.rows; ++row) {
      if (
        !columns.every(
          (column, i) =>
            column &&
            (plainText(column.kind, column.values[row]) === key[i][1] || String(column.values[row]) === key[i][1]),
        )
      )
        continue;
      keys.set(name, [...new Set([...(keys.get(name) ?? []), table.key(row)])]);
    }
  }
  return keys;
}

/** Where on the timeline a finding is; empty: nowhere. @param {Page} page @param {any} finding */
function placeOf({manifest}, {where}) {
  const place = where.find(({name, kind}) => name && ['op', 'kernel', 'range'].includes(kind));
  return place && manifest.lanes.length ? hashOf('timeline', '', [['q', place.name]]) : '';
}

/** A link to rows of a table, with the columns that say it. @param {any} finding @param {string} table @param {string[]} keys */
function evidenceLink(finding, table, keys) {
  const columns = finding.evidence.filter((proof) => proof.table === table && proof.column).map(({column}) => column);
  return hashOf('table', table, [
    ['mark', keys.slice(0, 50).join(',')],
    ['cols', [...new Set(columns)].join('|')],
  ]);
}

/** @param {Page} page @param {any} finding */
async function openFinding(page, finding) {
  const keys = await evidenceRows(page, finding),
    {where, evidence, tries} = finding;
  const views = {op: 'ops', kernel: 'kernels'};
  openDrawer(
    finding.title,
    finding.verdict && el('p', {}, traceText(finding.verdict)),
    detailList([
      ['saves', `${time(finding.ns)} · ${percent(finding.percent)}`],
      ['severity', finding.severity],
      ['confidence', finding.confidence],
      ['number', finding.id],
    ]),
    page.manifest.lanes.length > 0 &&
      el(
        'p',
        {class: 'buttons'},
        el('a', {class: 'button', href: placeOf(page, finding) || '#timeline'}, 'On the timeline'),
      ),
    tries.length > 0 && [
      el('h3', {}, 'Try'),
      el(
        'ol',
        {},
        tries.map((text) => el('li', {}, traceText(text))),
      ),
    ],
    where.length > 0 && [
      el('h3', {}, 'Where'),
      el(
        'ul',
        {class: 'plain'},
        where.slice(0, 20).map((place) =>
          el(
            'li',
            {},
            views[place.kind]
              ? el('a', {href: hashOf(views[place.kind], '', [['f', place.name]])}, traceText(place.name, 80))
              : traceText(place.name ?? '', 80),
            placeOf(page, {where: [place]}) && [
              ' · ',
              el('a', {href: placeOf(page, {where: [place]}), 'aria-label': 'On the timeline'}, 'timeline'),
            ],
            el(
              'div',
              {class: 'muted'},
              [
                place.shape && (shapesText(place.shape) || place.shape),
                place.ns ? time(place.ns) : '',
                place.count ? `${count(place.count)} times` : '',
                place.module,
                place.python,
              ]
                .filter(Boolean)
                .map((text, i) => [i ? ' · ' : '', traceText(text, 90)]),
            ),
          ),
        ),
      ),
    ],
    evidence.length > 0 && [
      el('h3', {}, 'Evidence'),
      el(
        'ul',
        {class: 'plain'},
        evidence.map((proof) =>
          el(
            'li',
            {},
            el('b', {}, humanNumber(proof.value, proof.unit)),
            ' ',
            traceText(proof.column ?? ''),
            el(
              'div',
              {class: 'muted'},
              keys.has(proof.table)
                ? el('a', {href: evidenceLink(finding, proof.table, keys.get(proof.table) ?? [])}, proof.table)
                : traceText(proof.table ?? ''),
              proof.key.map(([, text]) => [' · ', traceText(text, 60)]),
            ),
          ),
        ),
      ),
    ],
  );
}

/** @param {Page} page @param {any} finding */
async function showEvidence(page, finding) {
  const [most] = [...(await evidenceRows(page, finding))].sort((a, b) => b[1].length - a[1].length);
  if (most) go(evidenceLink(finding, ...most));
  else openFinding(page, finding);
}

/** @param {Page} page @param {any} overview */
function findingsOf({manifest}, overview) {
  return (manifest.findings?.length ? manifest.findings : (overview?.causes ?? [])).map(findingOf);
}

/** @param {Page} page @param {any} overview @param {string[]} notes how far the recording can be trusted */
function findingList(page, overview, notes) {
  const findings = findingsOf(page, overview);
  if (!findings.length && !overview.nothing_found && !overview.advice?.length && !notes.length) return null;
  const item = (finding) =>
    el(
      'li',
      {class: `finding severity-${/^\w+$/.exec(finding.severity) ?? 'none'}`},
      el(
        'div',
        {class: 'finding-head'},
        button(finding.title, () => openFinding(page, finding), {class: 'finding-title', title: 'Details'}),
        el(
          'span',
          {class: 'finding-saving'},
          finding.severity,
          finding.confidence && finding.confidence !== 'high' ? `, ${finding.confidence} confidence ` : ' ',
          finding.ns > 0 && [el('b', {}, time(finding.ns)), ' ', percent(finding.percent)],
        ),
      ),
      finding.verdict && el('p', {}, traceText(finding.verdict, 400)),
      el(
        'div',
        {class: 'finding-foot'},
        el('span', {class: 'muted'}, finding.tries.length > 0 && traceText(finding.tries[0], 200)),
        placeOf(page, finding) && el('a', {class: 'button quiet', href: placeOf(page, finding)}, 'Timeline'),
        finding.evidence.length > 0 &&
          button('Show evidence', () => showEvidence(page, finding), {
            class: 'button quiet',
            'aria-label': `Show evidence: ${finding.title}`,
          }),
      ),
    );
  const first = findings.filter(({ns}) => ns > 0).slice(0, kMostRows),
    rest = findings.filter((finding) => !first.includes(finding));
  return el(
    'section',
    {'aria-label': 'Findings'},
    el('h2', {}, 'What to mend first'),
    !findings.length && overview.nothing_found && el('p', {}, traceText(overview.nothing_found)),
    first.length > 0 &&
      el(
        'p',
        {class: 'hint'},
        page.manifest.findings?.length
          ? shareOf(first[0], overview)
          : 'What it saves of a step, once those before it are mended.',
      ),
    el('ol', {class: 'findings'}, first.map(item)),
    rest.length > 0 &&
      el(
        'details',
        {class: 'more'},
        el('summary', {}, `${rest.length} more`),
        el('ol', {class: 'findings', style: {counterReset: `finding ${first.length}`}}, rest.map(item)),
      ),
    overview.advice?.length > 0 &&
      el(
        'ul',
        {class: 'advice'},
        overview.advice.map((text) => el('li', {}, traceText(text))),
      ),
    notes.length > 0 && [
      el('h3', {}, 'How far this recording can be trusted'),
      el(
        'ul',
        {class: 'advice'},
        notes.slice(0, kMostRows).map((text) => el('li', {}, traceText(text))),
      ),
    ],
  );
}

// Names with a bar, a time and a share.
/** @param {string} title @param {{name: string, more?: string, ns: number, percent: number, roof?: number | null, colour?: string, href: string}[]} rows */
function costTable(title, rows) {
  if (!rows.length) return null;
  const most = Math.max(...rows.map((row) => row.percent), 1e-9),
    hasRoof = rows.some(({roof}) => typeof roof === 'number');
  return el(
    'section',
    {'aria-label': title},
    el(
      'table',
      {class: 'costs'},
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', {scope: 'col'}, el('h2', {}, title)),
          ['time', 'share', hasRoof && 'of roof']
            .filter(Boolean)
            .map((name) => el('th', {scope: 'col', class: 'number'}, name)),
        ),
      ),
      el(
        'tbody',
        {},
        rows.map((row) =>
          el(
            'tr',
            {},
            el(
              'td',
              {},
              el('a', {href: row.href}, traceText(row.name, 44)),
              row.more ? el('div', {class: 'muted small'}, traceText(row.more, 60)) : null,
              el('div', {
                class: 'cost-bar',
                style: {width: (row.percent / most) * 100 + '%', backgroundColor: row.colour},
              }),
            ),
            el('td', {class: 'number'}, time(row.ns)),
            el('td', {class: 'number'}, percent(row.percent)),
            hasRoof && el('td', {class: 'number'}, typeof row.roof === 'number' ? `${fixed(row.roof, 0)} %` : '–'),
          ),
        ),
      ),
    ),
  );
}

/** @param {Page} page @param {any} overview */
async function costSections(page, overview) {
  const view =
    page.hasTable('ops_unique_args') || page.hasTable('hlo_ops') || page.hasTable('unified_perf_summary')
      ? 'ops'
      : 'kernels';
  const colourOf = (kind) => page.manifest.classes[classOf(page.manifest.classes, kind ?? '')]?.colour; // as on the timeline
  const costs = (overview?.costs ?? []).map((cost) => ({
    name: workName(cost.name),
    more: cost.costliest,
    ns: cost.ns,
    percent: cost.percent,
    roof: cost.roof_percent,
    colour: colourOf(cost.name),
    href: page.manifest.verb === 'collectives' ? '#ranks' : hashOf(view, '', [['f', cost.name]]),
  }));
  const sections = [
    costTable(
      (overview?.costs_title || 'costliest kinds').replace(/^./, (c) => c.toUpperCase()),
      costs,
    ),
  ];
  for (const [table, name, ms, share, title, more, roof] of [
    [
      'unified_perf_summary',
      'name',
      'Kernel Time (µs)_sum',
      'Percentage (%)',
      'Costliest calls, by shape',
      'Input Dims',
      'Pct Roofline_mean',
    ],
    ['hlo_ops', 'HLO op', 'GPU time (µs)_sum', 'Percentage (%)', 'Costliest HLO ops', 'scope', 'Pct Roofline'],
    ['ops_summary', 'name', 'total_direct_kernel_time_sum', 'Percentage (%)', 'Costliest ops', '', ''],
    ['kernel_summary', 'name', 'Total Kernel Time (ms)', 'Percentage (%)', 'Costliest kernels', 'Category', ''],
    [
      'kernel_summary',
      'Kernel name',
      'Kernel duration (µs)_sum',
      'Percent of kernels time (%)',
      'Costliest kernels',
      'Parent cpu_op',
      '',
    ],
  ]) {
    const data = await page.table(table),
      cell = (column, row) => data?.column(column)?.values[row];
    if (!data?.column(name) || !data.column(ms) || !data.column(share)) continue;
    const target = table === 'kernel_summary' ? 'kernels' : 'ops',
      unit = data.column(ms)?.unit === 'ms' ? 1e6 : 1e3;
    sections.push(
      costTable(
        title,
        Array.from({length: Math.min(kMostRows, data.rows)}, (_, row) => ({
          name: cell(name, row),
          more:
            more === 'Input Dims'
              ? shapesText(cell(more, row) ?? '')
              : more === 'Category'
                ? workName(cell(more, row) ?? '')
                : cell(more, row),
          ns: (cell(ms, row) ?? 0) * unit,
          percent: cell(share, row) ?? 0,
          roof: cell(roof, row),
          colour: colourOf(cell('op category', row) ?? cell('kind', row) ?? cell('Category', row)),
          href: hashOf(target, '', [['f', cell(name, row)]]),
        })),
      ),
    );
    break;
  }
  return sections.filter(Boolean);
}

// For paper: the first rows of the main tables.
/** @param {Page} page */
async function printTables(page) {
  const tables = [];
  for (const [name, ...wanted] of kPrinted) {
    const data = await page.table(name);
    if (!data?.rows) continue;
    const chosen = data.columns.filter(({name: column}) => wanted.includes(column)),
      columns =
        chosen.length > 2 ? chosen : data.columns.filter(({name: column}) => data.first.includes(column)).slice(0, 6);
    tables.push(
      el('h2', {}, name),
      el(
        'table',
        {},
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            columns.map((column) =>
              el('th', {class: column.kind === 1 || column.kind === 2 ? 'number' : null}, visible(column.name)),
            ),
          ),
        ),
        el(
          'tbody',
          {},
          Array.from({length: Math.min(30, data.rows)}, (_, row) =>
            el(
              'tr',
              {},
              columns.map(({values, unit, kind}) =>
                el(
                  'td',
                  {class: kind === 1 || kind === 2 ? 'number' : null},
                  kind === 2 ? humanNumber(values[row], unit) : traceText(plainText(kind, values[row]), 60),
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }
  return el('div', {class: 'print-only'}, tables);
}

export const overviewView = {
  id: 'overview',
  title: 'Overview',
  isThere: () => true,
  /** @param {Page} page @param {HTMLElement} into */
  async draw(page, into) {
    const {manifest} = page,
      isComparison = manifest.verb === 'diff' || manifest.verb === 'compare',
      overview = isComparison ? manifest.overview : await overviewOf(page);
    const [, lead = '', sentence = ''] = /^([^:]{3,24}: )?(.*)$/s.exec(overview?.verdict ?? '') ?? [];
    const missing = manifest.gaps
      .map((gap) => (gap.view === 'tree' ? 'modules' : gap.view))
      .filter((view) => view !== 'diff')
      .join(', ');
    into.append(
      el('p', {class: 'run'}, traceText(overview?.run || manifest.subtitle || '')),
      overview?.verdict
        ? el('p', {class: 'verdict'}, lead && el('em', {}, lead), traceText(lead ? sentence : overview.verdict))
        : el(
            'p',
            {class: 'verdict'},
            traceText(
              manifest.tables.length
                ? manifest.title || 'A report of TraceLens'
                : 'There is nothing to report: the trace holds no events of a GPU.',
            ),
          ),
      ...(isComparison ? [] : [keyFigures(page, overview)]),
    );
    if (isComparison) {
      into.append(...(await comparisonParts(page, overview, stripPicture(page))), await printTables(page));
      return;
    }
    into.append(
      ...[overview?.split?.some((part) => part.percent > 0) && timeBar(overview), stripPicture(page)].filter(Boolean),
    );
    const notes = cellsOf(await page.table('trace_quality'), 'text'),
      left = el('div', {}, overview && findingList(page, overview, notes)),
      right = el('div');
    into.append(el('div', {class: 'two-columns'}, left, right));
    if (overview?.commands?.length)
      left.append(
        el(
          'section',
          {'aria-label': 'Go on'},
          el('h2', {}, 'Go on in the terminal'),
          el(
            'ul',
            {class: 'commands'},
            overview.commands.map((command) =>
              el(
                'li',
                {},
                el('code', {}, traceText(command)),
                button('Copy', () => copyText(command, 'Command copied.'), {
                  class: 'button quiet',
                  'aria-label': `Copy ${visible(command)}`,
                }),
              ),
            ),
          ),
        ),
      );
    if (missing)
      (left.childElementCount ? left : into).append(
        el('p', {class: 'muted'}, 'Not in this trace: ', missing, '. ', el('a', {href: '#about'}, 'Why?')),
      );
    const finding = findingsOf(page, overview).find(({id}) => id === state.get('finding'));
    if (finding) await openFinding(page, finding);
    right.append(...(await costSections(page, overview)));
    if (!overview && manifest.tables.length) {
      const first = (await page.table('ops_diff')) ?? (await page.table(manifest.tables[0].name));
      left.append(
        el('h2', {}, 'Tables'),
        el(
          'ul',
          {class: 'plain'},
          manifest.tables
            .filter(({rows}) => rows)
            .slice(0, 12)
            .map((table) =>
              el(
                'li',
                {},
                el('a', {href: hashOf('table', table.name)}, traceText(table.name)),
                el('span', {class: 'muted'}, ` ${count(table.rows)} rows · ${table.description}`),
              ),
            ),
        ),
        el('p', {}, el('a', {href: '#table'}, 'All tables')),
      );
      if (first && !right.childElementCount)
        right.append(el('h2', {}, traceText(first.name)), dataTable({table: first}));
    }
    if (!right.childElementCount || !left.childElementCount) into.querySelector('.two-columns')?.classList.add('one');
    into.append(await printTables(page));
  },
};
