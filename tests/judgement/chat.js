// tests/judgement/chat.js: what is wrong with it, or not, stands in truth.tsv.
'use strict';
// chat - room server simulation: messages go to every member, clients read at their own pace.

function randomSource(seed) {
  let s = seed >>> 0;
  return (limit) => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return Math.floor((s / 4294967296) * limit);
  };
}

class Connection {
  constructor(id, readRate) {
    this.id = id;
    this.readRate = readRate;
    this.credit = 0;
    this.outgoing = [];
    this.sentBytes = 0;
  }

  send(frame) {
    this.outgoing.push(frame);
  }

  // the socket takes what the client has read since the last tick
  flush() {
    this.credit = Math.min(this.credit + this.readRate, 65536);
    let n = 0;
    while (n < this.outgoing.length && this.outgoing[n].length <= this.credit) {
      this.credit -= this.outgoing[n].length;
      this.sentBytes += this.outgoing[n].length;
      n++;
    }
    if (n > 0) this.outgoing.splice(0, n);
  }
}

class Room {
  constructor(name) {
    this.name = name;
    this.members = [];
    this.history = [];
  }

  join(connection) {
    this.members.push(connection);
  }

  publish(author, text) {
    const message = { room: this.name, author, text, at: this.history.length };
    this.history.push(text.length);
    if (this.history.length > 200) this.history.shift();
    for (const member of this.members) {
      member.send(encodeFrame(message, member));
    }
  }
}

function encodeFrame(message, member) {
  const body = JSON.stringify({ ...message, to: member.id });
  const frame = Buffer.alloc(8 + Buffer.byteLength(body));
  frame.writeUInt32BE(0x43484154, 0);
  frame.writeUInt32BE(body.length, 4);
  frame.write(body, 8);
  return frame;
}

function makeText(random) {
  const words = ['release', 'tomorrow', 'please', 'review', 'the', 'build', 'failed', 'again', 'lunch', 'thanks'];
  let text = '';
  const count = 60 + random(160);
  for (let i = 0; i < count; i++) text += words[random(words.length)] + ' ';
  return text;
}

class Server {
  constructor(random) {
    this.random = random;
    this.rooms = [];
    this.connections = [];
  }

  open(roomCount, clientCount) {
    for (let i = 0; i < roomCount; i++) this.rooms.push(new Room('room' + i));
    for (let id = 0; id < clientCount; id++) {
      const rate = id % 4 === 0 ? 150 : 32000;
      const connection = new Connection(id, rate);
      this.connections.push(connection);
      this.rooms[id % roomCount].join(connection);
    }
  }

  tick() {
    for (let i = 0; i < 6; i++) {
      const room = this.rooms[this.random(this.rooms.length)];
      room.publish('user' + this.random(this.connections.length), makeText(this.random));
    }
    for (const connection of this.connections) connection.flush();
  }
}

function main() {
  const server = new Server(randomSource(17));
  server.open(7, 301);
  for (let t = 0; t < 650; t++) server.tick();
  let sent = 0;
  let waiting = 0;
  for (const c of server.connections) {
    sent += c.sentBytes;
    waiting += c.outgoing.length;
  }
  console.log(`${sent} bytes sent, ${waiting} frames not read yet`);
}

main();
