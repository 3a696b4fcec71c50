"use strict";

/**
 * Writes a made-up but repeatable set of shipments for demonstrations.
 * Usage: node tools/seed_demo.js 200 > demo.json
 */

const CITIES = ["Leeds", "Bremen", "Osaka", "Porto", "Tartu"];

/** Small repeatable random source, so that two runs give equal output. */
function createRandom(seed) {
  let state = seed >>> 0;
  return function next() {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

function pick(random, list) {
  return list[Math.floor(random() * list.length)];
}

function fakeParcel(random, index) {
  return {
    id: `DEMO${String(index).padStart(8, "0")}`,
    from: pick(random, CITIES),
    to: pick(random, CITIES),
    grams: 200 + Math.floor(random() * 9800),
  };
}

/** Lazily produce the requested number of invented shipments. */
function* generateParcels(count, seed = 7) {
  const random = createRandom(seed);
  for (let index = 0; index < count; index += 1) {
    yield fakeParcel(random, index);
  }
}

function main(argv) {
  const count = Number.parseInt(argv[2] ?? "50", 10);
  process.stdout.write(JSON.stringify([...generateParcels(count)], null, 2) + "\n");
}

if (require.main === module) {
  main(process.argv);
}

module.exports = { createRandom, generateParcels };
