// cli/page/vite.config.ts: everything in one file, page.html, with a place for the data in front of the script.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// The page's policy lets its own script run, known by its hash, and no other.
const policy: Plugin = {
  name: "policy",
  closeBundle() {
    const page = readFileSync("built/page.html", "utf8");
    const script = /<script type="module"[^>]*>([\s\S]*?)<\/script>/.exec(page)?.[1];
    if (script === undefined || !page.includes("'PAGE-SCRIPT'")) throw new Error("the built page has no script, or no policy");
    const hash = createHash("sha256").update(script).digest("base64");
    writeFileSync("built/page.html", page.replace("'PAGE-SCRIPT'", () => `'sha256-${hash}'`));
  },
};

export default defineConfig({
  root: ".",
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    target: ["chrome94", "firefox113", "safari16.4"],
    outDir: "built",
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: { input: "page.html" },
  },
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), policy],
});
