// cli/page/src/view/tooltip.tsx: a description of what the pointer is at, next to it. Names are text, never markup.
import { useLayoutEffect, useRef } from "preact/hooks";

export interface Tip {
  x: number;
  y: number;
  title: string;
  lines: string[];
}

export function Tooltip({ tip }: { tip: Tip | null }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !tip) return;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(4, Math.min(tip.x + 14, window.innerWidth - width - 8))}px`;
    element.style.top = `${tip.y + height + 22 > window.innerHeight ? Math.max(4, tip.y - height - 10) : tip.y + 16}px`;
  });
  if (!tip) return null;
  return (
    <div class="tip" ref={box} role="tooltip">
      <b>{tip.title}</b>
      {tip.lines.map((line) => <div key={line}>{line}</div>)}
    </div>
  );
}
