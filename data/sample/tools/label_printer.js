"use strict";

/** Talks to the thermal printers in the depots, one job at a time. */

const LINE_WIDTH = 32;

/** Break text at spaces so that no line is wider than the paper. */
function wrapText(text, width = LINE_WIDTH) {
  const lines = [];
  let current = "";
  for (const word of text.split(/\s+/)) {
    if (current && current.length + word.length + 1 > width) {
      lines.push(current);
      current = word;
    } else {
      current = current ? `${current} ${word}` : word;
    }
  }
  if (current) lines.push(current);
  return lines;
}

const centre = (text) => text.padStart(Math.floor((LINE_WIDTH + text.length) / 2));

function renderLabel(parcel) {
  const rule = "-".repeat(LINE_WIDTH);
  return [centre("PARCELWORKS"), rule, ...wrapText(parcel.address), rule, parcel.id].join("\n");
}

class PrintQueue {
  #jobs = [];
  #busy = false;

  constructor(send) {
    this.send = send;
  }

  /** Add a label and start working unless a job is already running. */
  enqueue(parcel) {
    this.#jobs.push(parcel);
    if (!this.#busy) {
      return this.#work();
    }
    return Promise.resolve();
  }

  async #work() {
    this.#busy = true;
    try {
      while (this.#jobs.length > 0) {
        await this.send(renderLabel(this.#jobs[0]));
        this.#jobs.shift();
      }
    } finally {
      this.#busy = false;
    }
  }
}

module.exports = { PrintQueue, renderLabel, wrapText };
