// cli/page/src/main.tsx: the numbers of the first screen are in the page as plain JSON. The rest is unpacked while the
// user looks at them.
import { render } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { readProfile, type Profile } from "./data/profile";
import { readSummary, type Summary } from "./data/summary";
import { fromHash, toHash, type State } from "./state";
import { readDiff, type Diff } from "./data/diff";
import { App } from "./view/app";
import { DiffApp } from "./view/diff_app";

function Page({ summary, profiles, diff }: { summary: Summary; profiles: Profile[]; diff: Diff | null }) {
  const devices = diff ? diff.devices.length : profiles[0].devices.length;
  const last = profiles[profiles.length - 1];
  const device = diff ? Math.max(0, diff.devices.findIndex((device) => device.current === last.summary.largest_device)) : last.summary.largest_device;
  const usual = useMemo(() => ({ device, allFrames: last.summary.all_frames }), []);
  const [state, setState] = useState<State>(() => fromHash(location.hash, devices, usual));
  const change = useCallback((part: Partial<State>) => setState((before) => ({ ...before, ...part })), []);
  const known = useRef(location.hash);
  useEffect(() => {
    const hash = toHash(state, usual);
    if (hash === location.hash.replace(/^#/, "")) return;
    // The address was changed and its event has not arrived yet. The address decides what to show, and the state
    // follows it.
    if (location.hash !== known.current) return;
    try {
      history.replaceState(null, "", hash === "" ? location.pathname + location.search : `#${hash}`);
      known.current = location.hash;
    } catch {
      // The frame may not change its address, or there were too many changes at once. The view is as chosen all the
      // same.
    }
  }, [state]);
  useEffect(() => {
    const onHash = (): void => {
      known.current = location.hash;
      setState(fromHash(location.hash, devices, usual));
    };
    window.addEventListener("hashchange", onHash);
    return () => window.removeEventListener("hashchange", onHash);
  }, []);
  if (state.theme === "") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = state.theme;
  if (diff) return <DiffApp diff={diff} profiles={[profiles[0], profiles[1]]} state={state} change={change} version={summary.version} />;
  return <App profile={profiles[0]} state={state} change={change} version={summary.version} />;
}

function say(root: HTMLElement, text: string): void {
  root.textContent = text;
}

async function start(root: HTMLElement): Promise<void> {
  if (typeof DecompressionStream === "undefined")
    return say(root, "This browser is too old for the page: it needs DecompressionStream (Chrome 94, Firefox 113, Safari 16.4, and newer). heapprof report shows the same as text.");
  const summary = readSummary();
  const first = summary.sides[summary.sides.length - 1];
  document.title = `${first.command || first.file} · heapprof`;
  say(root, summary.diff?.sentences?.[0] ?? first.sentence);
  const profiles: Profile[] = [];
  for (let i = 0; i < summary.sides.length; i++) profiles.push(await readProfile(i, summary.sides[i]));
  const diff = await readDiff(summary);
  // For use from the browser's console, and for tests: a canvas has no elements for its numbers.
  Object.assign(window, { heapprof: { summary, profiles, diff } });
  root.textContent = "";
  render(<Page summary={summary} profiles={profiles} diff={diff} />, root);
  document.documentElement.dataset.ready = "1";
}

const root = document.getElementById("app");
if (root) {
  start(root).catch((error: unknown) => {
    say(root, `The page could not be read: ${error instanceof Error ? error.message : String(error)}. heapprof report --html writes it anew.`);
    throw error;
  });
}
