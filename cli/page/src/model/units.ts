// cli/page/src/model/units.ts: how numbers are written for people: cli/base/units.cc once more, with no-break spaces.
//
// tests/golden/units.txt holds both implementations to the same texts. Both use only integers, so that a value at the
// edge of being rounded gives the same text in both.

type Count = number | bigint;

const kSpace = "\u00a0";

/** part / whole in units of 10^-decimals, rounded half up. */
function scaled(part: Count, whole: Count, decimals: number): bigint {
  const wide = BigInt(part) * 10n ** BigInt(decimals);
  return (wide * 2n + BigInt(whole)) / (BigInt(whole) * 2n);
}

function decimal(digits: bigint, decimals: number): string {
  if (decimals === 0) return digits.toString();
  const text = digits.toString().padStart(decimals + 1, "0");
  return `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
}

/** Three significant digits of part / whole; "": it rounds to `limit` or more. */
function threeDigits(part: Count, whole: Count, limit: bigint): string {
  for (const decimals of [2, 1]) {
    const value = scaled(part, whole, decimals);
    if (value < 1000n) return decimal(value, decimals);
  }
  const value = scaled(part, whole, 0);
  return value < limit ? decimal(value, 0) : "";
}

/** The first of the units in which the value stays below `limit`. */
function inUnits(value: number, step: bigint, first: bigint, limit: bigint, names: string[]): string {
  let unit = first;
  for (const name of names) {
    const text = threeDigits(value, unit, limit);
    if (text !== "") return text + kSpace + name;
    unit *= step;
  }
  return countExact(value);
}

/** 1.92 GiB, 40.2 MiB, 402 MiB, 1010 KiB, 17 B */
export function bytes(value: number): string {
  if (value < 1024) return `${value}${kSpace}B`;
  return inUnits(value, 1024n, 1024n, 1024n, ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
}

export function bytesExact(value: number): string {
  return `${countExact(value)}${kSpace}B`;
}

/** 18,400,123 */
export function countExact(value: Count): string {
  return value.toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Exact below a million, then 18.4 M. */
export function count(value: number): string {
  return value < 1e6 ? countExact(value) : inUnits(value, 1000n, 1_000_000n, 1000n, ["M", "G", "T", "P", "E"]);
}

/** 1 block, 2 blocks */
export function counted(value: number, noun: string): string {
  return value === 1 ? `1${kSpace}${noun}` : `${count(value)}${kSpace}${noun}s`;
}

/** 63.0 %, <0.1 %, 100 % */
export function percent(part: number, whole: number): string {
  if (part === 0 || whole === 0) return `0${kSpace}%`;
  if (part === whole) return `100${kSpace}%`;
  const tenths = scaled(BigInt(part) * 100n, whole, 1);
  if (tenths === 0n) return `<0.1${kSpace}%`;
  if (tenths === 1000n) return `${part < whole ? ">99.9" : "100"}${kSpace}%`;
  return `${decimal(tenths, 1)}${kSpace}%`;
}

/** 61 %, <1 % */
export function percentRounded(part: number, whole: number): string {
  if (part === 0 || whole === 0) return `0${kSpace}%`;
  if (part === whole) return `100${kSpace}%`;
  const percent = scaled(BigInt(part) * 100n, whole, 0);
  if (percent === 0n) return `<1${kSpace}%`;
  return `${percent === 100n && part < whole ? ">99" : percent}${kSpace}%`;
}

/** A moment: 18.204 s, 812 ms, 17 µs; of instructions 1,204 instrs. */
export function moment(value: number, unit: string): string {
  if (unit !== "ns") return `${count(value)}${kSpace}${unit}`;
  if (value < 1000) return `${value}${kSpace}ns`;
  const us = scaled(value, 1000, 0);
  if (us < 1000n) return `${us}${kSpace}µs`;
  const ms = scaled(value, 1_000_000, 0);
  if (ms < 1000n) return `${ms}${kSpace}ms`;
  return `${countExact(ms / 1000n)}.${(ms % 1000n).toString().padStart(3, "0")}${kSpace}s`;
}

/** A length: 41.8 s, 12 min 4 s. */
export function length(value: number, unit: string): string {
  if (unit !== "ns" || scaled(value, 1_000_000, 0) < 1000n) return moment(value, unit);
  const seconds = scaled(value, 1_000_000_000, 0);
  if (seconds < 600n) return `${threeDigits(value, 1_000_000_000, 1000n)}${kSpace}s`;
  if (seconds < 3600n) return `${seconds / 60n}${kSpace}min ${seconds % 60n}${kSpace}s`;
  return `${countExact(seconds / 3600n)}${kSpace}h ${(seconds % 3600n) / 60n}${kSpace}min`;
}

/** With a sign always: +215 MiB, −1.20 MiB, ±0 */
export function change(value: number, format: (value: number) => string = bytes): string {
  return value === 0 ? "±0" : (value > 0 ? "+" : "−") + format(Math.abs(value));
}

/** Of the base: +12.3 %, −4.0 %, <0.1 %, 0 %, new, gone, ×13,000 */
export function changePercent(base: number, current: number): string {
  if (base === current) return `0${kSpace}%`;
  if (base === 0) return "new";
  if (current === 0) return "gone";
  if (Math.floor(current / 1000) >= base) return `×${count(Number(scaled(BigInt(current), base, 0)))}`;
  const sign = current > base ? "+" : "−";
  const percent = BigInt(Math.abs(current - base)) * 100n;
  const tenths = scaled(percent, base, 1);
  if (tenths === 0n) return `<0.1${kSpace}%`;
  return `${sign}${tenths < 10_000n ? decimal(tenths, 1) : count(Number(scaled(percent, base, 0)))}${kSpace}%`;
}
