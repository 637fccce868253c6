// cli/page/src/data/columns.ts: reads the columns that cli/write/html/page_blocks.h writes.

export class Columns {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  /** The next number: LEB128, below 2^53. */
  number(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error("a block of the page ends too early");
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  }
  signed(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
  /** Numbers below 2^32. */
  indexes(count: number): Uint32Array {
    const column = new Uint32Array(count);
    for (let i = 0; i < count; i++) column[i] = this.number();
    return column;
  }
  numbers(count: number): Float64Array {
    const column = new Float64Array(count);
    for (let i = 0; i < count; i++) column[i] = this.number();
    return column;
  }
  /** Each number was written as its difference from the one before it. */
  deltas(count: number): Float64Array {
    const column = new Float64Array(count);
    let value = 0;
    for (let i = 0; i < count; i++) column[i] = value += this.signed();
    return column;
  }
  signeds(count: number): Float64Array {
    const column = new Float64Array(count);
    for (let i = 0; i < count; i++) column[i] = this.signed();
    return column;
  }
}
