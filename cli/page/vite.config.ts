// cli/page/vite.config.ts: everything in one file, page.html, with a place for the data in front of the script.
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig({
  root: ".",
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    target: "es2021",
    outDir: "built",
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: { input: "page.html" },
  },
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
});
