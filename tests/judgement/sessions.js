// tests/judgement/sessions.js: what is wrong with it, or not, stands in truth.tsv.
'use strict';
// sessions - session store with expiry: each visit creates or renews a session, a sweep drops old ones.

const TTL = 400;
const SWEEP_EVERY = 200;
const PAGE = 6000;

function randomSource(seed) {
  let s = seed >>> 0;
  return (limit) => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return Math.floor((s / 4294967296) * limit);
  };
}

class Session {
  constructor(visitor, now) {
    this.visitor = visitor;
    this.expires = now + TTL;
    this.cart = [];
    this.lastPage = Buffer.alloc(PAGE);
  }

  touch(now, page) {
    this.expires = now + TTL;
    page.copy(this.lastPage);
    if (this.cart.length < 20) this.cart.push({ article: page.readUInt32LE(0), at: now });
  }
}

class SessionStore {
  constructor() {
    this.sessions = new Map();
    this.expired = 0;
    this.most = 0;
  }

  get(visitor, now) {
    let s = this.sessions.get(visitor);
    if (s && s.expires <= now) {
      this.sessions.delete(visitor);
      this.expired++;
      s = undefined;
    }
    if (!s) {
      s = new Session(visitor, now);
      this.sessions.set(visitor, s);
      this.most = Math.max(this.most, this.sessions.size);
    }
    return s;
  }

  sweep(now) {
    for (const [visitor, s] of this.sessions) {
      if (s.expires <= now) {
        this.sessions.delete(visitor);
        this.expired++;
      }
    }
  }
}

class Shop {
  constructor(random) {
    this.random = random;
    this.store = new SessionStore();
    this.page = Buffer.alloc(PAGE);
    this.views = 0;
  }

  render(visitor) {
    this.page.fill(visitor & 255);
    for (let i = 0; i + 4 <= PAGE; i += 16) this.page.writeUInt32LE((visitor * 31 + i) >>> 0, i);
    return this.page;
  }

  visit(now) {
    const visitor = this.random(4) === 0 ? this.random(300) : this.random(2000000);
    const session = this.store.get(visitor, now);
    session.touch(now, this.render(visitor));
    this.views++;
  }

  run(ticks) {
    for (let now = 0; now < ticks; now++) {
      const visitors = 18 + Math.round(8 * Math.sin(now / 250));
      for (let k = 0; k < visitors; k++) this.visit(now);
      if (now % SWEEP_EVERY === 0) this.store.sweep(now);
    }
  }
}

function main() {
  const shop = new Shop(randomSource(29));
  shop.run(5200);
  const { sessions, expired, most } = shop.store;
  console.log(`${shop.views} views, ${sessions.size} open sessions, ${expired} expired, at most ${most}`);
}

main();
