// cli/page/src/view/use_width.ts: an element's current width, also after the window was resized.
import { useLayoutEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const of = element.current;
    if (!of) return;
    const measure = (): void => setWidth(Math.floor(of.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(of);
    return () => observer.disconnect();
  }, []);
  return width;
}
