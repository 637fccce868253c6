// tests/judgement/uploads.js: what is wrong with it, or not, stands in truth.tsv.
// uploads: takes in files in parts, computes a check sum of each file and answers with it.
'use strict';
const crypto = require('crypto');

const scale = Number(process.argv[2] || process.env.SCALE || 1);

class Uploads {
  constructor() {
    this.parts = new Map();                                  // by upload: what came in so far
    this.finished = 0;
  }

  accept(upload, part) {
    if (!this.parts.has(upload)) this.parts.set(upload, []);
    this.parts.get(upload).push(part);
  }

  finish(upload) {
    const hash = crypto.createHash('sha1');
    for (const part of this.parts.get(upload)) hash.update(part);
    this.finished += 1;
    return hash.digest('hex');
  }
}

// Stands for what the network delivers.
function readPart(upload, number) {
  const part = Buffer.alloc(96 * 1024);
  for (let i = 0; i < part.length; i += 64) part[i] = (upload * 31 + number * 7 + i) & 255;
  return part;
}

function pause(milliseconds) {
  return new Promise(resolve => setTimeout(resolve, milliseconds));
}

async function receive(uploads, upload) {
  for (let number = 0; number < 8; number++) uploads.accept(upload, readPart(upload, number));
  await pause(10);
  return uploads.finish(upload);
}

async function main() {
  const uploads = new Uploads();
  let check = 0;
  for (let upload = 0; upload < 150 * scale; upload++) {
    const sum = await receive(uploads, upload);
    check ^= parseInt(sum.slice(0, 6), 16);
  }
  console.log(`${uploads.finished} uploads, check ${check}`);
}

main();
