// Ticks, scales and colours of the pictures.
import assert from 'node:assert/strict';
import test from 'node:test';
import {extentOf, linearTicks, logTicks, niceStep, scaleOf, timeTicks} from '../../../web/axes.js';
import {colourNumber, contrastOf, inkOn, legible, mixColour} from '../../../web/picture.js';

test('steps are 1, 2 or 5 times a power of ten', () => {
  assert.equal(niceStep(0, 100, 10), 10);
  assert.equal(niceStep(0, 109.3, 10), 20);
  assert.equal(niceStep(0, 1e-3, 4), 5e-4);
  assert.equal(niceStep(5, 5, 10), 1);
  assert.deepEqual(linearTicks(-2, 10, 6), [-2, 0, 2, 4, 6, 8, 10]);
});

test('a ruler says as many digits as its step needs, in one unit', () => {
  assert.deepEqual(
    timeTicks(12.4e6, 13.1e6, 7).map((tick) => tick.label),
    ['12.4 ms', '12.5 ms', '12.6 ms', '12.7 ms', '12.8 ms', '12.9 ms', '13.0 ms', '13.1 ms'],
  );
  assert.deepEqual(
    timeTicks(0, 400, 4).map((tick) => tick.label),
    ['0 ns', '100 ns', '200 ns', '300 ns', '400 ns'],
  );
  assert.equal(timeTicks(12_400_000, 12_400_500, 5)[1].label, '12.4001 ms');
});

test('logarithmic ticks lie inside the axis', () => {
  const ticks = logTicks(0.5, 2000);
  assert.deepEqual(
    ticks.filter((tick) => tick.major).map((tick) => tick.value),
    [1, 10, 100, 1000],
  );
  assert.ok(ticks.every((tick) => tick.value >= 0.5 && tick.value <= 2000));
  assert.equal(
    logTicks(1e-12, 1e12).every((tick) => tick.major),
    true,
  );
});

test('scales and extents', () => {
  assert.equal(scaleOf(1, 100, 0, 200, true)(10), 100);
  assert.equal(scaleOf(0, 10, 100, 0)(10), 0);
  assert.deepEqual(extentOf([]), [0, 1]);
  assert.deepEqual(extentOf([0, 5], true), [5 / 1.6, 8]);
});

test('colours can be seen on both papers', () => {
  assert.equal(colourNumber('#102030'), 0xff302010);
  assert.equal(mixColour('#000000', '#ffffff', 0.5), 'rgb(128, 128, 128)');
  for (const paper of ['#ffffff', '#0d1117'])
    for (const colour of ['#ffff00', '#101060', '#2f7ed8']) assert.ok(contrastOf(legible(colour, paper), paper) >= 3);
  assert.equal(inkOn('#ffff00'), '#000000');
  assert.equal(inkOn('rgb(0, 0, 90)'), '#ffffff');
});
