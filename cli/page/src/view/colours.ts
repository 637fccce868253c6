// cli/page/src/view/colours.ts: colours with a meaning. A place or a category has one of a few; the hue of a module is
// made from its name. Red and green mean growth and shrinking, and nothing else.

/** The page's own colours, as its style has them now. */
export function themeColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function isDark(): boolean {
  return themeColour("is-dark") === "1";
}

// People who do not see red and green apart can tell these apart, too (after Okabe and Ito). None of them is red or
// green.
const kPlaces = ["#4477aa", "#66ccee", "#ccbb44", "#aa3377", "#ee8866", "#9988dd", "#77aadd", "#bbaa66"];

export function placeColour(rank: number): string {
  return kPlaces[rank % kPlaces.length];
}

function hashOf(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return hash >>> 0;
}

/** A box of a flame graph: its hue by module, its lightness by function. */
export function boxColour(module: string, functionName: string): string {
  const hues = [32, 45, 205, 225, 260, 285, 190, 20];
  const hue = hues[hashOf(module) % hues.length];
  const shade = hashOf(functionName) % 10;
  return isDark() ? `hsl(${hue} 42% ${30 + shade}%)` : `hsl(${hue} 68% ${78 - shade}%)`;
}

/** A box of a difference: its share of growth or shrinking, from -1 to 1. */
export function changeColour(share: number): string {
  const strength = Math.sqrt(Math.min(Math.abs(share), 1));
  if (share === 0) return themeColour("box");
  const hue = share > 0 ? 4 : 145;
  return isDark() ? `hsl(${hue} ${20 + 50 * strength}% ${26 + 10 * strength}%)` : `hsl(${hue} ${30 + 50 * strength}% ${92 - 22 * strength}%)`;
}

export function categoryColour(category: string, isOperator: boolean): string {
  return category === "" ? (isOperator ? "#9988dd" : "#4477aa") : kPlaces[hashOf(category) % kPlaces.length];
}

/** Black or white, whichever can be read on a colour such as "#66ccee". */
export function inkOn(colour: string | CanvasGradient | CanvasPattern): string {
  const parts = /^#(..)(..)(..)$/.exec(String(colour))?.slice(1).map((part) => (parseInt(part, 16) / 255) ** 2.2) ?? [0, 0, 0];
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] > 0.2 ? "#16181d" : "#ffffff";
}
