// cli/page/src/view/canvas.ts: a canvas as sharp as the screen, and texts cut to a width.

/** Sets the canvas's size in CSS pixels; the context draws in these. Null: the browser gives no context. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  const pixels = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) {
    canvas.width = pixels[0];
    canvas.height = pixels[1];
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  if (!context) return null;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** The longest beginning of the text that has room, with "…" for the rest; "": there is no room even for that. `wide`
 * is taken as the width of every character. */
export function cut(text: string, width: number, wide: number): string {
  const room = Math.floor(width / wide);
  if (text.length <= room) return text;
  return room < 3 ? "" : text.slice(0, room - 1) + "…";
}

export const kFont = "11px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
export const kCharacter = 6.65; // of kFont, in pixels
