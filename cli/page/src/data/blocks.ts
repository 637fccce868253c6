// cli/page/src/data/blocks.ts: elements of the page to bytes.
//
// Decoding base64 costs more than everything else here: atob and a plain loop take 40 ms for 8 MiB, and Uint8Array.from
// with a function takes ten times that.

function fromBase64(text: string): Uint8Array {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The block of that name, unpacked. Its element is removed from the page, and the text with it. */
export async function readBlock(name: string): Promise<Uint8Array> {
  const element = document.getElementById(name);
  if (!element) throw new Error(`the page has no block ${name}: it was cut short`);
  const packed = fromBase64(element.textContent ?? "");
  element.remove();
  const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function readTexts(name: string): Promise<string[]> {
  return JSON.parse(new TextDecoder().decode(await readBlock(name))) as string[];
}
