// tests/judgement/bundler.js: what is wrong with it, or not, stands in truth.tsv.
'use strict';
// bundler - follows imports from an entry module, transforms the sources and writes one bundle.
const crypto = require('crypto');
const fs = require('fs');
const os = require('os');
const path = require('path');

const MODULES = 2600;

function moduleSource(id) {
  const imports = [];
  for (const step of [1, 2, 5, 11]) {
    const target = id * 2 + step;
    if (target < MODULES) imports.push(target);
  }
  const lines = imports.map((t) => `import { run as run${t} } from './m${t}.js';`);
  lines.push(`// generated module number ${id}`);
  const size = 60 + ((id * 7919) % 180);
  for (let i = 0; i < size; i++) {
    lines.push(`const value${i} = (input) => input * ${i + id} + ${(id * i) % 97}; // step ${i} of ${size}`);
  }
  lines.push(`export function run(input) {`);
  lines.push(`  return value0(input)${imports.map((t) => ` + run${t}(input)`).join('')};`);
  lines.push('}');
  return lines.join('\n');
}

class ModuleGraph {
  constructor(folder) {
    this.folder = folder;
    this.modules = new Map();
  }

  load(name) {
    let module = this.modules.get(name);
    if (module) return module;
    const source = fs.readFileSync(path.join(this.folder, name));
    module = { name, source, imports: findImports(source.toString()), code: null, hash: null };
    this.modules.set(name, module);
    return module;
  }

  loadAll(entry) {
    const queue = [entry];
    while (queue.length) {
      const module = this.load(queue.pop());
      for (const next of module.imports) if (!this.modules.has(next)) queue.push(next);
    }
  }
}

function findImports(text) {
  const found = [];
  for (const match of text.matchAll(/^import .* from '\.\/(m\d+\.js)';$/gm)) found.push(match[1]);
  return found;
}

function transform(module) {
  const out = [];
  for (const line of module.source.toString().split('\n')) {
    if (line.startsWith('import ')) {
      const m = /run as (run\d+) } from '\.\/(m\d+)\.js'/.exec(line);
      out.push(`const ${m[1]} = (x) => require_${m[2]}().run(x);`);
    } else {
      const comment = line.indexOf('//');
      const code = (comment >= 0 ? line.slice(0, comment) : line).trimEnd();
      if (code) out.push(code.replace(/^export /, ''));
    }
  }
  module.code = Buffer.from(out.join('\n'));
  module.hash = crypto.createHash('sha1').update(module.code).digest('hex');
}

function emit(graph, target) {
  const fd = fs.openSync(target, 'w');
  const names = [...graph.modules.keys()].sort();
  fs.writeSync(fd, `// ${names.map((n) => graph.modules.get(n).hash.slice(0, 6)).join(' ')}\n`);
  let bytes = 0;
  for (const name of names) {
    const { code } = graph.modules.get(name);
    fs.writeSync(fd, `function require_${name.slice(0, -3)}() {\n`);
    bytes += fs.writeSync(fd, code);
    fs.writeSync(fd, '\nreturn { run };\n}\n');
  }
  fs.closeSync(fd);
  return bytes;
}

function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bundle-'));
  try {
    for (let id = 0; id < MODULES; id++) fs.writeFileSync(path.join(folder, `m${id}.js`), moduleSource(id));
    const graph = new ModuleGraph(folder);
    graph.loadAll('m0.js');
    for (const module of graph.modules.values()) transform(module);
    const bytes = emit(graph, path.join(folder, 'bundle.js'));
    console.log(`${graph.modules.size} modules, ${bytes} bytes`);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

main();
